/*
 * executor/run_request.c - a request is decoded, decided, digested and its
 * host files are fetched.  Linked by the supervisor.  The front is hostile:
 * every text is proven before it is kept, and code, stdin and inputs are
 * sealed, so what is hashed here is what runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/run_steps.h"

/* Larger code is denied by any policy and not worth hashing. */
#define CODE_DIGEST_MAX (UINT64_C(64) << 20)

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

		to->fd = -1;
		memcpy(to->name, from->name, sizeof(to->name));
		memcpy(to->host, from->host, sizeof(to->host));
	}
	r->n_inputs = n;
	r->intent.inputs_count = n;
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

void run_keep_context(struct run *r)
{
	const struct policy *p = r->s->policy;
	struct event_intent *i = &r->intent;

	(void)snprintf(i->policy.name, sizeof(i->policy.name), "%s", p->name);
	memcpy(i->policy.sha256, p->sha256, sizeof(i->policy.sha256));
	memcpy(i->policy.file, p->file_sha256, sizeof(i->policy.file));
	(void)snprintf(
	    i->principal.auth, sizeof(i->principal.auth), "peercred");
	i->principal.uid = r->session->peer.uid;
	i->principal.gid = r->session->peer.gid;
	memcpy(i->sandbox_build, r->s->launch_sha256, sizeof(i->sandbox_build));
	memcpy(i->sandbox_view, r->s->view.sha256, sizeof(i->sandbox_view));
}

int run_decode(struct run *r, const struct protocol_run *m, struct error *e)
{
	struct policy_request request = { .language = m->language };

	if (memfd_check(r->code_fd, UINT64_MAX, &r->intent.code_size, e) < 0)
		return FAIL_IN(e, "code");
	if (memfd_check(r->stdin_fd, UINT64_MAX, &r->intent.stdin_size, e) < 0)
		return FAIL_IN(e, "stdin");
	if (keep_claims(r, m, e) < 0 || keep_args(r, m, e) < 0 ||
	    keep_inputs(r, m, e) < 0 || ask_limits(m, &request, e) < 0)
		return -1;
	request.code_size = r->intent.code_size;
	request.stdin_size = r->intent.stdin_size;
	request.args_size = r->args_len;
	request.n_inputs = r->n_inputs;
	request.n_inputs_asked = r->n_inputs;
	for (size_t i = 0; i < r->n_inputs; i++) {
		request.inputs[i].host = r->inputs[i].host;
		request.inputs[i].name = r->inputs[i].name;
	}
	policy_decide(r->s->policy, &request, &r->decision);
	keep_decision(r, m->language);
	return 0;
}

/* What is digested, in order: code, stdin, inputs. */
enum {
	PART_CODE,
	PART_STDIN,
	PART_INPUTS
};

static bool part_of(
    struct run *r, int *ret_fd, uint64_t *ret_size, uint8_t **ret_digest)
{
	struct run_input *input;
	size_t i;

	if (r->hash_part == PART_CODE) {
		*ret_fd = r->code_fd;
		*ret_size = r->intent.code_size;
		*ret_digest = r->intent.code_sha256;
		return r->intent.code_size <= CODE_DIGEST_MAX;
	}
	if (r->hash_part == PART_STDIN) {
		*ret_fd = r->stdin_fd;
		*ret_size = r->intent.stdin_size;
		*ret_digest = r->intent.stdin_sha256;
		return r->decision.allow;
	}
	i = (size_t)(r->hash_part - PART_INPUTS);
	if (i >= r->n_opened)
		return false;
	input = &r->inputs[i];
	*ret_fd = input->fd;
	*ret_size = input->size;
	*ret_digest = input->sha256;
	return true;
}

/* True when this part is done; 'budget' bytes at most. */
static bool digest_part(
    struct run *r, int fd, uint64_t size, uint64_t *budget, uint8_t *digest)
{
	if (r->hash_at == 0)
		sha256_init(&r->hash);
	while (r->hash_at<size && * budget> 0) {
		ssize_t got =
		    pread(fd, r->s->block, SUPERVISOR_BLOCK, (off_t)r->hash_at);

		/* Sealed memory: it can be neither short nor unreadable. */
		if (got <= 0)
			abort();
		sha256_add(&r->hash, r->s->block, (size_t)got);
		r->hash_at += (uint64_t)got;
		*budget -= (uint64_t)got < *budget ? (uint64_t)got : *budget;
	}
	if (r->hash_at < size)
		return false;
	sha256_done(&r->hash, digest);
	r->hash_at = 0;
	return true;
}

bool run_digest_step(struct run *r)
{
	uint64_t budget = SUPERVISOR_STEP;
	int last = r->stage == RUN_DIGESTING
	               ? PART_STDIN
	               : PART_INPUTS + (int)r->n_inputs - 1;

	while (r->hash_part <= last) {
		int fd = -1;
		uint64_t size = 0;
		uint8_t *digest = NULL;

		if (part_of(r, &fd, &size, &digest)) {
			if (!digest_part(r, fd, size, &budget, digest))
				return false;
			if (r->hash_part == PART_CODE)
				r->has_code_digest = true;
		}
		r->hash_part++;
	}
	return true;
}

/* The opener failed us: what cannot be judged is denied. */
static void deny_unopened(struct run *r)
{
	run_close_helper(r);
	policy_decision_deny(&r->decision, "path.failed");
	run_deny(r);
}

static void helper_ready(void *owner, uint32_t events)
{
	struct run *r = owner;
	struct supervisor_heard heard;
	struct run_message m = { ROLE_OPENER, 0, r->s->in, &heard.fds };
	struct error e;

	(void)events;
	if (supervisor_receive(
	        r->s, r->helper_fd, &opener_reply_protocol, &heard, &e) < 0) {
		if (e.kind == ERROR_SYSTEM && e.saved_errno == EAGAIN)
			return;
		deny_unopened(r);
		return;
	}
	m.verb = heard.verb;
	if (run_handle(r, &m, &e) < 0)
		deny_unopened(r);
	fd_list_close(&heard.fds);
}

static void put_request(struct run *r, struct opener_open *o)
{
	const struct channel_peer *peer = &r->session->peer;
	const struct policy_decision *d = &r->decision;
	size_t i = r->n_opened;
	uint64_t left = d->limits[LIMIT_INPUT_BYTES];

	memset(o, 0, sizeof(*o));
	o->uid = peer->uid;
	o->gid = peer->gid;
	for (size_t j = 0; j < peer->n_groups; j++)
		o->groups.items[j].gid = peer->groups[j];
	o->groups.n = peer->n_groups;
	(void)snprintf(o->root, sizeof(o->root), "%s",
	    r->s->policy->read_roots[d->input_root[i]].path);
	(void)snprintf(
	    o->beneath, sizeof(o->beneath), "%s", d->input_beneath[i]);
	for (size_t j = 0; j < i; j++)
		left -= r->inputs[j].size < left ? r->inputs[j].size : left;
	o->max_bytes = left;
}

void run_open_late(struct run *r)
{
	run_close_helper(r);
	policy_decision_deny(&r->decision, "opener.timeout");
	run_deny(r);
}

void run_open_next(struct run *r)
{
	struct opener_open *o = &r->s->out->open;
	struct fd_list root = { .n = 1 };
	struct channel_send what = { &opener_protocol, OPENER_OPEN, o, &root };
	struct error e;

	if (r->n_opened == r->n_inputs)
		return; /* run_tend digests them, then starts */
	root.fd[0] = r->s->root_fds[r->decision.input_root[r->n_opened]];
	r->helper_watch.ready = helper_ready;
	if (run_start_helper(r, HELPER_OPENER, &e) < 0) {
		deny_unopened(r);
		return;
	}
	put_request(r, o);
	if (supervisor_send(r->s, r->helper_fd, &what, &e) < 0)
		deny_unopened(r);
}

int run_opened(struct run *r, const struct run_message *m, struct error *e)
{
	struct run_input *input = &r->inputs[r->n_opened];
	uint64_t size;

	run_close_helper(r);
	if (m->fds->n != 1)
		return FAIL(e, ERROR_MALFORMED, "opener sent no file");
	if (memfd_check(m->fds->fd[0], r->decision.limits[LIMIT_INPUT_BYTES],
	        &size, e) < 0)
		return FAIL_IN(e, "opener's copy");
	input->fd = m->fds->fd[0];
	m->fds->n = 0;
	input->size = size;
	r->n_opened++;
	run_open_next(r);
	return 0;
}

int run_not_opened(struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	run_close_helper(r);
	policy_decision_deny(&r->decision, m->in->denied.reason);
	run_deny(r);
	return 0;
}
