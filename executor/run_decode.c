/*
 * executor/run_decode.c - a request is decoded and decided.  Linked by the
 * supervisor.  The front is hostile: every text is proven before it is kept,
 * and what comes as a descriptor is sealed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfd.h"
#include "executor/run_steps.h"

static int keep_claim(
    const char *what, const char *text, char *to, struct error *e)
{
	char raw[EVENT_CLAIM_MAX];
	size_t len;

	if (text_percent_decode(text, raw, sizeof(raw), &len, e) < 0)
		return FAIL_IN(e, "claim '%s'", what);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int keep_claims(
    struct run *r, const struct protocol_run *m, struct error *e)
{
	struct event_claims *c = &r->intent.claims;

	if (keep_claim("client", m->client, c->client, e) < 0 ||
	    keep_claim("version", m->client_version, c->version, e) < 0 ||
	    keep_claim("request", m->client_request, c->request, e) < 0 ||
	    keep_claim("traceparent", m->traceparent, c->traceparent, e) < 0)
		return -1;
	return keep_claim("label", m->label, c->label, e);
}

void run_keep_refused_claims(struct run *r, const struct protocol_refuse *m)
{
	struct event_claims *c = &r->intent.claims;
	struct error e;

	if (keep_claim("client", m->client, c->client, &e) < 0 ||
	    keep_claim("version", m->client_version, c->version, &e) < 0 ||
	    keep_claim("request", m->client_request, c->request, &e) < 0 ||
	    keep_claim("traceparent", m->traceparent, c->traceparent, &e) < 0)
		memset(c, 0, sizeof(*c));
}

static int keep_args(
    struct run *r, const struct protocol_run *m, struct error *e)
{
	size_t len = (size_t)m->args.len;

	if (len > 0 && m->args.data[len - 1] != '\0')
		return FAIL(e, ERROR_MALFORMED, "arguments without an end");
	r->args = malloc(len + 1);
	if (r->args == NULL)
		return FAIL_SYS(e, "keep the arguments");
	memcpy(r->args, m->args.data, len);
	r->args_len = len;
	for (size_t i = 0; i < len; i++)
		r->intent.args_count += r->args[i] == '\0';
	sha256_of(r->args, len, r->intent.args_sha256);
	return 0;
}

static bool is_known(const struct protocol_input *input)
{
	switch (input->kind) {
	case PROTOCOL_INPUT_FILE:
	case PROTOCOL_INPUT_DIRECTORY:
		return true;
	case PROTOCOL_INPUT_INLINE:
		return input->host[0] == '\0';
	default:
		return false;
	}
}

static int keep_inputs(
    struct run *r, const struct protocol_run *m, struct error *e)
{
	size_t n = (size_t)m->inputs.n;

	r->inputs = calloc(n + 1, sizeof(r->inputs[0]));
	if (r->inputs == NULL)
		return FAIL_SYS(e, "keep the inputs");
	for (size_t i = 0; i < n; i++) {
		struct run_input *to = &r->inputs[i];
		const struct protocol_input *from = &m->inputs.items[i];

		if (!is_known(from))
			return FAIL(
			    e, ERROR_MALFORMED, "an input of no known kind");
		to->fd = -1;
		to->is.kind = from->kind;
		memcpy(to->is.name, from->name, sizeof(to->is.name));
		memcpy(to->host, from->host, sizeof(to->host));
		r->n_inputs = i + 1;
	}
	r->intent.inputs_count = n;
	return 0;
}

/* Whose each descriptor is; all of them, or none is taken. */
static int keep_descriptors(
    struct run *r, struct fd_list *take_fds, struct error *e)
{
	size_t wanted = PROTOCOL_RUN_FDS;
	size_t at = PROTOCOL_RUN_FDS;

	for (size_t i = 0; i < r->n_inputs; i++)
		wanted += r->inputs[i].is.kind == PROTOCOL_INPUT_INLINE;
	if (take_fds->n != wanted)
		return FAIL(e, ERROR_MALFORMED, "%zu descriptors, not %zu",
		    take_fds->n, wanted);
	r->code_fd = take_fds->fd[0];
	r->stdin_fd = take_fds->fd[1];
	for (size_t i = 0; i < r->n_inputs; i++)
		if (r->inputs[i].is.kind == PROTOCOL_INPUT_INLINE)
			r->inputs[i].fd = take_fds->fd[at++];
	take_fds->n = 0;
	return 0;
}

/* Code, stdin and inline inputs: sealed, or nothing about them holds. */
static int measure(struct run *r, uint64_t *ret_inline_size, struct error *e)
{
	uint64_t total = 0;

	if (memfd_check(r->code_fd, UINT64_MAX, &r->intent.code_size, e) < 0)
		return FAIL_IN(e, "code");
	if (memfd_check(r->stdin_fd, UINT64_MAX, &r->intent.stdin_size, e) < 0)
		return FAIL_IN(e, "stdin");
	for (size_t i = 0; i < r->n_inputs; i++) {
		struct run_input *input = &r->inputs[i];

		if (input->is.kind != PROTOCOL_INPUT_INLINE)
			continue;
		/* No file is larger than INT64_MAX, so eight cannot wrap far:
		 * the sum stops at the top. */
		if (memfd_check(input->fd, INT64_MAX, &input->is.size, e) < 0)
			return FAIL_IN(e, "inline input");
		total = input->is.size > UINT64_MAX - total
		            ? UINT64_MAX
		            : total + input->is.size;
	}
	*ret_inline_size = total;
	return 0;
}

static int ask_limits(const struct protocol_run *m,
    struct policy_request *request, struct error *e)
{
	for (uint64_t i = 0; i < m->limits.n; i++) {
		const struct protocol_limit *l = &m->limits.items[i];
		enum limit_id id = limit_find(l->name);

		if (id == LIMIT_N || request->asks[id])
			return FAIL(e, ERROR_USAGE,
			    "limit '%.40s' is unknown or asked for twice",
			    l->name);
		request->asks[id] = true;
		request->limits[id] = l->value;
	}
	return 0;
}

static void keep_words(
    const struct policy_words *from, struct event_word *to, uint64_t *ret_n)
{
	for (size_t i = 0; i < from->n; i++)
		memcpy(to[i].text, from->items[i], sizeof(to[i].text));
	*ret_n = from->n;
}

/* The name in the record; an unknown one is what the front wrote, encoded. */
static void keep_language(struct run *r, const char *asked)
{
	struct error too_long;
	char *to = r->intent.lang;
	size_t cap = sizeof(r->intent.lang);

	if (r->decision.language != NULL)
		(void)snprintf(
		    to, cap, "%s", r->decision.language->language.name);
	else if (asked[0] == '\0' || text_percent_encode(asked, strlen(asked),
	                                 to, cap, &too_long) < 0)
		(void)snprintf(to, cap, "unknown");
}

static void keep_decision(struct run *r, const char *asked)
{
	const struct policy_decision *d = &r->decision;
	const struct policy *p = r->s->policy;

	keep_language(r, asked);
	keep_words(&d->rules, r->intent.rules.items, &r->intent.rules.n);
	if (d->language == NULL)
		return;
	r->toolchain = &r->s->toolchains[d->language - p->languages];
	for (size_t i = 0; i < LIMIT_N; i++) {
		struct event_limit *l = &r->intent.limits.items[i];

		(void)snprintf(
		    l->name, sizeof(l->name), "%s", limit_table[i].name);
		l->value = d->limits[i];
	}
	r->intent.limits.n = LIMIT_N;
}

static uint32_t omits(const struct policy_audit *a)
{
	return (a->args == CONTENT_OMIT ? INTENT_OMITS_ARGS : 0) |
	       (a->env == CONTENT_OMIT ? INTENT_OMITS_ENV : 0) |
	       (a->standard_input == CONTENT_OMIT ? INTENT_OMITS_STDIN : 0);
}

void run_keep_context(struct run *r)
{
	struct event_intent *i = &r->intent;

	supervisor_policy(r->s, &i->policy);
	i->omits = omits(&r->s->policy->audit);
	(void)snprintf(
	    i->principal.auth, sizeof(i->principal.auth), "peercred");
	i->principal.uid = r->session->peer.uid;
	i->principal.gid = r->session->peer.gid;
	memcpy(i->sandbox_build, r->s->launch_sha256, sizeof(i->sandbox_build));
	memcpy(i->sandbox_view, r->s->view.sha256, sizeof(i->sandbox_view));
}

static void put_inputs(const struct run *r, struct policy_request *request)
{
	static const enum policy_input_kind kinds[] = {
		[PROTOCOL_INPUT_FILE] = POLICY_INPUT_FILE,
		[PROTOCOL_INPUT_INLINE] = POLICY_INPUT_INLINE,
		[PROTOCOL_INPUT_DIRECTORY] = POLICY_INPUT_DIRECTORY,
	};

	request->n_inputs = r->n_inputs;
	request->n_inputs_asked = r->n_inputs;
	for (size_t i = 0; i < r->n_inputs; i++) {
		const struct run_input *input = &r->inputs[i];

		request->inputs[i] = (struct policy_input){ .host = input->host,
			.name = input->is.name,
			.kind = kinds[input->is.kind] };
	}
}

/* Texts of the message, which the decision makes names of. */
static void put_libraries(
    const struct protocol_run *m, struct policy_request *request)
{
	request->n_libraries = (size_t)m->libraries.n;
	request->n_libraries_asked = request->n_libraries;
	for (size_t i = 0; i < request->n_libraries; i++)
		request->libraries[i] = m->libraries.items[i].text;
}

int run_decode(struct run *r, const struct protocol_run *m,
    struct fd_list *take_fds, struct error *e)
{
	struct policy_request request = { .language = m->language };

	if (keep_inputs(r, m, e) < 0 || keep_descriptors(r, take_fds, e) < 0 ||
	    measure(r, &request.inline_size, e) < 0)
		return -1;
	if (keep_claims(r, m, e) < 0 || keep_args(r, m, e) < 0 ||
	    ask_limits(m, &request, e) < 0)
		return -1;
	request.code_size = r->intent.code_size;
	request.stdin_size = r->intent.stdin_size;
	request.args_size = r->args_len;
	put_inputs(r, &request);
	put_libraries(m, &request);
	policy_decide(r->s->policy, &request, &r->decision);
	keep_decision(r, m->language);
	return 0;
}

/* Files that libraries can be installed from count where any was asked for. */
static const struct sources *sources_of(const struct run *r)
{
	return r->decision.n_libraries > 0 && r->toolchain != NULL
	           ? &r->toolchain->sources
	           : NULL;
}

struct result_input *run_sorted_inputs(const struct run *r, size_t *ret_n)
{
	const struct sources *sources = sources_of(r);
	size_t more = sources != NULL ? sources->n : 0;
	struct result_input *to = calloc(r->n_inputs + more + 1, sizeof(to[0]));

	if (to == NULL)
		return NULL;
	for (size_t i = 0; i < r->n_inputs; i++)
		to[i] = r->inputs[i].is;
	result_inputs_sort(to, r->n_inputs);
	for (size_t i = 0; i < more; i++)
		to[r->n_inputs + i] = sources->files[i];
	*ret_n = r->n_inputs + more;
	return to;
}
