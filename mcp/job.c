/*
 * mcp/job.c - runs that this front asked for.  Linked by bailiff-mcp.  The
 * service decides; code and files cross as sealed memory.
 */
#include "mcp/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/memfd.h"
#include "base/own.h"
#include "base/sha256.h"
#include "mcp/calls.h"
#include "mcp/link.h"
#include "mcp/server.h"

#define MS             1000
#define GOING_MAX      120 /* beneath the service's own bound of a front */
#define REFUSED_MAX    5   /* a second; the service cuts a front off at 10 */
#define SECOND_MS      1000
#define ERR_SHOWN_SURE 10000 /* of stderr, however much stdout there is */

static struct job *job_new(struct server *s)
{
	struct job *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->out = malloc(JOB_SHOWN_MAX);
	r->err = malloc(JOB_SHOWN_MAX);
	r->request = link_number(s);
	if (r->out != NULL && r->err != NULL)
		return r;
	free(r->out);
	free(r->err);
	free(r);
	return NULL;
}

static void job_free(struct job *r)
{
	free(r->out);
	free(r->err);
	free(r);
}

static void forget_output(struct job *r)
{
	free(r->out);
	free(r->err);
	r->out = NULL;
	r->err = NULL;
	r->out_len = 0;
	r->err_len = 0;
}

static void copy(char *to, size_t cap, const char *from)
{
	size_t len = strnlen(from, cap - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

static void fill_limits(struct server *s, struct job *r, const struct args *a)
{
	const char *name =
	    a->language.data != NULL ? a->language.data : "python";
	const struct protocol_language *l = about_find(&s->about, name);
	const struct protocol_bound *wall =
	    l != NULL ? about_limit(&s->about, l, "wall_ms") : NULL;
	const struct protocol_bound *memory =
	    l != NULL ? about_limit(&s->about, l, "memory") : NULL;

	r->timeout_ms = a->timeout_s * MS;
	if (a->timeout_s == 0 && wall != NULL)
		r->timeout_ms = wall->value;
	r->facts.wall_ms_limit = r->timeout_ms;
	r->facts.memory_limit = memory != NULL ? memory->value : 0;
	r->facts.n_libraries = a->libraries.n;
	if (a->timeout_s != 0) {
		struct protocol_limit *ask =
		    &s->request.limits.items[s->request.limits.n++];

		copy(ask->name, sizeof(ask->name), "wall_ms");
		ask->value = r->timeout_ms;
	}
}

/* Names are lower case in every policy; the peer's are in any. */
static void fill_language(struct server *s, const struct args *a)
{
	char *to = s->request.language;

	copy(to, sizeof(s->request.language),
	    a->language.data != NULL ? a->language.data : "python");
	for (; *to != '\0'; to++)
		if (*to >= 'A' && *to <= 'Z')
			*to = (char)(*to - 'A' + 'a');
}

static void fill_request(struct server *s, struct job *r, const struct args *a,
    const struct job_claims *claims)
{
	struct protocol_run *m = &s->request;

	memset(m, 0, sizeof(*m));
	m->request = r->request;
	fill_language(s, a);
	fill_limits(s, r, a);
	for (size_t i = 0; i < a->files.n; i++) {
		struct protocol_input *input = &m->inputs.items[i];

		input->kind = PROTOCOL_INPUT_INLINE;
		copy(input->name, sizeof(input->name),
		    a->files.items[i].path.data);
	}
	m->inputs.n = a->files.n;
	copy(m->client, sizeof(m->client), s->client);
	copy(m->client_version, sizeof(m->client_version), s->client_version);
	copy(m->client_request, sizeof(m->client_request), claims->request);
	copy(m->traceparent, sizeof(m->traceparent), claims->traceparent);
}

static int seal(const struct args_text *text, const char *name,
    struct fd_list *fds, struct error *e)
{
	const char *data = text->data != NULL ? text->data : "";

	if (memfd_of(name, data, text->len, &fds->fd[fds->n], e) < 0)
		return -1;
	fds->n++;
	return 0;
}

static int seal_all(const struct args *a, struct fd_list *fds, struct error *e)
{
	if (seal(&a->code, "code", fds, e) < 0 ||
	    seal(&a->input, "stdin", fds, e) < 0)
		return -1;
	for (size_t i = 0; i < a->files.n; i++)
		if (seal(&a->files.items[i].content, "input", fds, e) < 0)
			return -1;
	return 0;
}

static void keep(struct server *s, struct job *r)
{
	copy(r->facts.status, sizeof(r->facts.status), "running");
	r->next = s->jobs;
	s->jobs = r;
}

struct job *job_ask(struct server *s, const struct args *a,
    const struct job_claims *claims, struct error *e)
{
	struct job *r = job_new(s);
	struct fd_list fds = { .n = 0 };
	int failed;

	if (r == NULL) {
		error_fill(e, ERROR_LIMIT, 0, "no memory for a run");
		return NULL;
	}
	fill_request(s, r, a, claims);
	r->background = a->background;
	failed = seal_all(a, &fds, e);
	if (failed == 0)
		failed = link_send(s, PROTOCOL_RUN, &s->request, &fds, e);
	fd_list_close(&fds);
	if (failed == 0) {
		keep(s, r);
		return r;
	}
	job_free(r);
	return NULL;
}

struct job *job_refuse(struct server *s, const struct rpc_span *raw,
    const struct job_claims *claims, struct error *e)
{
	struct protocol_refuse m = { .raw_size = raw->len,
		.unsaid = s->n_unsaid };
	struct job *r = job_new(s);

	if (r == NULL) {
		error_fill(e, ERROR_LIMIT, 0, "no memory for a run");
		return NULL;
	}
	m.request = r->request;
	sha256_of(raw->at, raw->len, m.raw_sha256);
	copy(m.client, sizeof(m.client), s->client);
	copy(m.client_version, sizeof(m.client_version), s->client_version);
	copy(m.client_request, sizeof(m.client_request), claims->request);
	copy(m.traceparent, sizeof(m.traceparent), claims->traceparent);
	if (link_send(s, PROTOCOL_REFUSE, &m, NULL, e) == 0) {
		s->n_unsaid = 0;
		keep(s, r);
		return r;
	}
	job_free(r);
	return NULL;
}

bool job_may_refuse(struct server *s)
{
	uint64_t now_ms = server_now_ms();

	if (now_ms - s->refused_ms >= SECOND_MS) {
		s->refused_ms = now_ms;
		s->n_refused = 0;
	}
	s->n_unsaid += s->n_refused >= REFUSED_MAX;
	return s->n_refused++ < REFUSED_MAX;
}

size_t job_count_going(const struct server *s)
{
	size_t n = 0;

	for (const struct job *r = s->jobs; r != NULL; r = r->next)
		n += !r->over;
	return n;
}

/* One too many is the service's to turn away and record, now and then. */
bool job_may_ask(struct server *s)
{
	size_t going = job_count_going(s);

	if (going >= GOING_MAX)
		return false;
	return going < s->about.runs + s->about.queue || job_may_refuse(s);
}

struct job *job_find(const struct server *s, const char *run_id)
{
	for (struct job *r = s->jobs; r != NULL; r = r->next)
		if (r->decided && strcmp(r->facts.run_id, run_id) == 0)
			return r;
	return NULL;
}

static struct job *job_of(const struct server *s, uint64_t request)
{
	for (struct job *r = s->jobs; r != NULL; r = r->next)
		if (r->request == request)
			return r;
	return NULL;
}

void job_cancel(struct server *s, struct job *r)
{
	struct protocol_cancel m = { .request = r->request };
	struct error e;

	r->wants_cancel =
	    !r->over && link_send(s, PROTOCOL_CANCEL, &m, NULL, &e) < 0;
}

static void on_output(struct job *r, const struct protocol_output *o)
{
	bool is_out = o->stream == PROTOCOL_STDOUT;
	char *to = is_out ? r->out : r->err;
	size_t *len = is_out ? &r->out_len : &r->err_len;
	size_t n = (size_t)o->data.len;

	r->n_bytes += o->data.len;
	if (to == NULL)
		return;
	if (n > JOB_SHOWN_MAX - *len)
		n = JOB_SHOWN_MAX - *len;
	memcpy(to + *len, o->data.data, n);
	*len += n;
}

/* FAILED: nothing was decided, or the service cannot go on with it. */
static void on_failed(struct job *r, const struct protocol_failed *m)
{
	copy(r->facts.status, sizeof(r->facts.status), "error");
	copy(r->facts.step, sizeof(r->facts.step), "service");
	copy(r->facts.remedy, sizeof(r->facts.remedy), m->text);
	r->decided = true;
	r->over = true;
}

bool job_on_message(struct server *s, uint16_t verb)
{
	/* The number is the first member of every answer. */
	struct job *r = job_of(s, s->reply.decided.request);

	if (r == NULL)
		return false;
	switch (verb) {
	case PROTOCOL_DECIDED:
		facts_decide(&r->facts, &s->reply.decided, &s->about);
		if (r->complaint[0] != '\0')
			copy(r->facts.advice, sizeof(r->facts.advice),
			    r->complaint);
		r->decided = true;
		r->over = !r->facts.allow;
		break;
	case PROTOCOL_OUTPUT:
		on_output(r, &s->reply.output);
		return true;
	case PROTOCOL_FINISHED:
		facts_finish(&r->facts, &s->reply.finished);
		r->over = true;
		break;
	case PROTOCOL_FAILED:
		on_failed(r, &s->reply.failed);
		break;
	default:
		return false;
	}
	calls_job_changed(s, r);
	return true;
}

void job_tend(struct server *s)
{
	struct job **at = &s->jobs;
	size_t n_over = 0;

	/* The newest stand in front. */
	while (*at != NULL) {
		struct job *r = *at;

		if (r->wants_cancel)
			job_cancel(s, r);
		if (!r->over || calls_wait_for(s, r)) {
			at = &r->next;
			continue;
		}
		forget_output(r);
		if (++n_over <= JOB_MEMORY_MAX) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		job_free(r);
	}
}

void job_abandon_all(struct server *s)
{
	for (struct job *r = s->jobs; r != NULL; r = r->next) {
		if (r->over)
			continue;
		copy(r->facts.status, sizeof(r->facts.status), "aborted");
		r->decided = true;
		r->over = true;
		calls_job_changed(s, r);
	}
}

void job_free_all(struct server *s)
{
	while (s->jobs != NULL) {
		struct job *r = s->jobs;

		s->jobs = r->next;
		job_free(r);
	}
}

/* An UTF-8 sequence that was cut is left to the next part. */
static size_t whole(const char *data, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char c = (unsigned char)data[len - back];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		return need > back ? len - back : len;
	}
	return len;
}

static size_t part(const struct facts_stream *all, size_t max)
{
	return all->len <= max ? all->len : whole(all->data, max);
}

void job_share(struct facts_stream *out, struct facts_stream *err, size_t max)
{
	size_t sure = err->len < ERR_SHOWN_SURE ? err->len : ERR_SHOWN_SURE;

	out->len = part(out, max - sure);
	err->len = part(err, max - out->len);
}

void job_shown(const struct job *r, struct facts_body *ret)
{
	ret->out =
	    (struct facts_stream){ r->out != NULL ? r->out : "", r->out_len };
	ret->err =
	    (struct facts_stream){ r->err != NULL ? r->err : "", r->err_len };
}
