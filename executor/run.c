/*
 * executor/run.c - the life of a run as a table.  Linked by the supervisor.
 */
#include "executor/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/run_steps.h"

/* Waiting ones and those whose front is slow included. */
#define RUNS_MAX 256

/*
 * Whatever is not listed here is refused.  'then' holds after an act that
 * succeeds and has not itself moved the run on (a failure found on the way,
 * or a step whose other half has come already).
 */
/* clang-format off */
static const struct rule {
	enum run_role from;
	enum run_stage during;
	uint16_t verb;
	int (*act)(struct run *r, const struct run_message *m,
	    struct error *e);
	enum run_stage then;
} rules[] = {
	/* from          during          verb                act                 then */
	{ ROLE_OPENER,    RUN_OPENING,    OPENER_OPENED,      run_opened,         RUN_OPENING },
	{ ROLE_OPENER,    RUN_OPENING,    OPENER_DENIED,      run_not_opened,     RUN_DENYING },
	{ ROLE_SIGNER,    RUN_DENYING,    EVENT_STORED,       run_denied,         RUN_OVER },
	{ ROLE_SIGNER,    RUN_STARTING,   EVENT_STORED,       run_intent_stored,  RUN_STARTING },
	{ ROLE_SIGNER,    RUN_ENDING,     EVENT_STORED,       run_intent_stored,  RUN_ENDING },
	{ ROLE_LAUNCHER,  RUN_STARTING,   LAUNCH_STARTED,     run_started,        RUN_STARTING },
	{ ROLE_LAUNCHER,  RUN_ENDING,     LAUNCH_STARTED,     run_started,        RUN_ENDING },
	{ ROLE_LAUNCHER,  RUN_STARTING,   LAUNCH_FAILED,      run_launch_failed,  RUN_ENDING },
	{ ROLE_LAUNCHER,  RUN_ENDING,     LAUNCH_FAILED,      run_launch_failed,  RUN_ENDING },
	{ ROLE_STATUS,    RUN_STARTING,   LAUNCH_STOPPED,     run_stopped,        RUN_STARTING },
	{ ROLE_STATUS,    RUN_STARTING,   LAUNCH_STEP_FAILED, run_step_failed,    RUN_ENDING },
	{ ROLE_STATUS,    RUN_RUNNING,    LAUNCH_ENDED,       run_ended,          RUN_ENDING },
	{ ROLE_COLLECTOR, RUN_COLLECTING, COLLECT_FOUND,      run_found,          RUN_COLLECTING },
	{ ROLE_COLLECTOR, RUN_COLLECTING, COLLECT_COPIED,     run_copied,         RUN_COLLECTING },
	{ ROLE_COLLECTOR, RUN_COLLECTING, COLLECT_SKIPPED,    run_skipped,        RUN_COLLECTING },
	{ ROLE_COLLECTOR, RUN_COLLECTING, COLLECT_DONE,       run_collected,      RUN_STORING },
	{ ROLE_SIGNER,    RUN_RECORDING,  EVENT_STORED,       run_outcome_stored, RUN_SENDING },
};
/* clang-format on */

int run_handle(struct run *r, const struct run_message *m, struct error *e)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *rule = &rules[i];

		if (rule->from != m->from || rule->during != r->stage ||
		    rule->verb != m->verb)
			continue;
		if (rule->act(r, m, e) < 0)
			return -1;
		if (r->stage == rule->during)
			r->stage = rule->then;
		return 0;
	}
	/* What pid 1 still says of a run that is being killed is of no use. */
	if (m->from == ROLE_STATUS && r->stage >= RUN_ENDING)
		return 0;
	return FAIL(e, ERROR_STATE, "message %u of role %d in stage %d",
	    m->verb, (int)m->from, (int)r->stage);
}

struct run *run_of_number(const struct supervisor *s, uint64_t number)
{
	for (struct run *r = s->runs; r != NULL; r = r->next)
		if (r->number == number)
			return r;
	return NULL;
}

static int draw_id(struct run *r, struct error *e)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t *id = r->intent.run;

	if (getrandom(id, EVENT_RUN_BYTES, 0) != EVENT_RUN_BYTES)
		return FAIL_SYS(e, "draw a run id");
	r->id[0] = 'r';
	r->id[1] = '_';
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++) {
		r->id[2 + 2 * i] = digits[id[i] >> 4];
		r->id[3 + 2 * i] = digits[id[i] & 15];
	}
	return 0;
}

static struct run *make(struct session *c, uint64_t request)
{
	struct run *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->s = c->s;
	r->session = c;
	r->request = request;
	r->number = ++c->s->last_number;
	r->clock[CLOCK_RECEIVED] = loop_now_us();
	r->code_fd = -1;
	r->stdin_fd = -1;
	r->out_fd = -1;
	r->err_fd = -1;
	r->helper_fd = -1;
	r->folder_fd = -1;
	r->code_copy_fd = -1;
	r->taken_fd = -1;
	r->out.file_fd = -1;
	r->err.file_fd = -1;
	r->out_watch.fd = -1;
	r->err_watch.fd = -1;
	r->status_watch.fd = -1;
	r->events_watch.fd = -1;
	r->helper_watch.fd = -1;
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++)
		r->handles.fd[i] = -1;
	return r;
}

static void destroy(struct run *r)
{
	run_close_helper(r);
	run_close_handles(r);
	own_close(&r->code_fd);
	own_close(&r->stdin_fd);
	own_close(&r->folder_fd);
	own_close(&r->code_copy_fd);
	own_close(&r->taken_fd);
	for (size_t i = 0; i < r->n_opened; i++)
		own_close(&r->inputs[i].fd);
	output_done(&r->out);
	output_done(&r->err);
	free(r->args);
	free(r->inputs);
	free(r->files);
	free(r->outcome);
	free(r);
}

static const char *refusal(const struct session *c)
{
	const struct supervisor *s = c->s;
	size_t waiting = 0;

	for (const struct run *r = s->runs; r != NULL; r = r->next)
		waiting += r->stage <= RUN_QUEUED;
	if (s->stopping)
		return "the service is stopping; try again";
	if (s->stale)
		return "the policy has changed; connect again";
	if (s->launch_fd < 0)
		return "the service has lost its launcher; try again";
	if (c->n_runs >= SESSION_RUNS_MAX || s->n_runs >= RUNS_MAX ||
	    waiting + s->slots >= s->slots_max + s->policy->queue)
		return "busy: too many runs at once; try again later "
		       "(policy: concurrency)";
	return NULL;
}

/* In the order of arrival: the first to come is the first to get a slot. */
static void append(struct supervisor *s, struct run *r)
{
	struct run **at = &s->runs;

	while (*at != NULL)
		at = &(*at)->next;
	*at = r;
	s->n_runs++;
	r->session->n_runs++;
}

void run_refuse(struct run *r, const char *what, const struct error *why)
{
	char text[ERROR_TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%s: %.400s", what, why->text);
	if (r->session != NULL)
		session_failed(r->session, r->request, why->kind, text);
	r->stage = RUN_OVER;
}

void run_unrecorded(struct run *r, const struct error *why)
{
	struct error e = *why;

	run_fail(r, PHASE_SETUP, "audit", &e);
	if (r->session != NULL)
		session_failed(r->session, r->request, e.kind, e.text);
	r->is_unrecorded = true;
	run_end(r);
}

static void advance_digests(struct run *r)
{
	if (!run_digest_step(r))
		return;
	if (!r->decision.allow) {
		run_deny(r);
		return;
	}
	r->clock[CLOCK_DECIDED] = loop_now_us();
	r->stage = RUN_QUEUED;
}

static void admit(struct run *r)
{
	r->holds_slot = true;
	r->s->slots++;
	r->stage = RUN_OPENING;
	if (r->n_inputs > 0)
		run_open_next(r);
	else
		run_start(r);
}

void run_begin(
    struct session *c, const struct protocol_run *m, struct fd_list *take_fds)
{
	const char *why_not = refusal(c);
	struct run *r;
	struct error e;

	if (why_not != NULL) {
		session_failed(c, m->request, ERROR_LIMIT, why_not);
		return;
	}
	if (take_fds->n != PROTOCOL_RUN_FDS) {
		session_failed(c, m->request, ERROR_MALFORMED,
		    "a run needs two descriptors: code and stdin");
		return;
	}
	r = make(c, m->request);
	if (r == NULL) {
		session_failed(c, m->request, ERROR_SYSTEM, "out of memory");
		return;
	}
	r->code_fd = take_fds->fd[0];
	r->stdin_fd = take_fds->fd[1];
	take_fds->n = 0;
	append(c->s, r);
	if (draw_id(r, &e) < 0 || run_decode(r, m, &e) < 0) {
		run_refuse(r, "request", &e);
		return;
	}
	advance_digests(r);
	if (r->stage == RUN_QUEUED && c->s->slots < c->s->slots_max)
		admit(r);
}

void run_cancel(struct run *r, enum killer killer)
{
	const struct error why = { ERROR_STATE, 0, "cancelled" };

	switch (r->stage) {
	case RUN_DIGESTING:
	case RUN_QUEUED:
	case RUN_OPENING:
		run_close_helper(r);
		run_refuse(r, "request", &why);
		return;
	case RUN_STARTING:
	case RUN_RUNNING:
		run_kill(r, killer);
		return;
	case RUN_DENYING:
	case RUN_ENDING:
	case RUN_COLLECTING:
	case RUN_STORING:
	case RUN_RECORDING:
	case RUN_SENDING:
	case RUN_OVER:
	case RUN_STAGE_N:
		return; /* over already, or about to be */
	}
}

void run_leave(struct run *r)
{
	run_cancel(r, KILLER_CLIENT);
	r->session->n_runs--;
	r->session = NULL;
	if (r->stage == RUN_SENDING)
		r->stage = RUN_OVER;
}

/* One chunk of a head, if the socket takes it. */
static void send_chunk(struct run *r, enum protocol_stream stream)
{
	struct protocol_output *o = &r->s->out->output;
	struct output *from = stream == PROTOCOL_STDOUT ? &r->out : &r->err;
	uint64_t *sent =
	    stream == PROTOCOL_STDOUT ? &r->out_sent : &r->err_sent;
	struct channel_send what = { &protocol_reply, PROTOCOL_OUTPUT, o,
		NULL };
	uint64_t left = from->head_size - *sent;
	struct error e;
	ssize_t got;

	if (left == 0)
		return;
	got = pread(from->file_fd, o->data.data,
	    left < PROTOCOL_OUTPUT_MAX ? (size_t)left : PROTOCOL_OUTPUT_MAX,
	    (off_t)*sent);
	if (got <= 0) {
		*sent = from->head_size; /* unreadable: FINISHED still comes */
		return;
	}
	o->request = r->request;
	o->stream = stream;
	o->data.len = (uint64_t)got;
	if (supervisor_send(r->s, r->session->fd, &what, &e) < 0) {
		if (e.kind != ERROR_SYSTEM)
			session_end(r->session);
		return;
	}
	*sent += (uint64_t)got;
}

bool run_stream(struct run *r)
{
	if (r->stage < RUN_RUNNING || r->stage > RUN_SENDING)
		return false;
	send_chunk(r, PROTOCOL_STDOUT);
	if (r->session != NULL)
		send_chunk(r, PROTOCOL_STDERR);
	if (r->session == NULL)
		return false;
	if (r->out_sent < r->out.head_size || r->err_sent < r->err.head_size)
		return true;
	if (r->stage == RUN_SENDING)
		run_finish(r);
	return false;
}

void run_released(struct run *r)
{
	r->at_launcher = false;
	if (r->holds_slot)
		r->s->slots--;
	r->holds_slot = false;
}

/* One run's share of a turn; returns when it wants the next one. */
static uint64_t tend_one(struct run *r, uint64_t now_us)
{
	switch (r->stage) {
	case RUN_DIGESTING:
		advance_digests(r);
		return now_us;
	case RUN_QUEUED:
		if (r->s->slots < r->s->slots_max)
			admit(r);
		return UINT64_MAX;
	case RUN_OPENING:
		if (r->n_opened < r->n_inputs)
			return UINT64_MAX; /* the opener is at work */
		if (!run_digest_step(r))
			return now_us;
		run_start(r);
		return UINT64_MAX;
	case RUN_RUNNING:
	case RUN_ENDING:
		if (now_us >= r->next_sample_us)
			run_sample(r, now_us);
		return r->next_sample_us;
	case RUN_COLLECTING:
		if (now_us >= r->give_up_us)
			run_collect_late(r);
		return r->give_up_us;
	case RUN_STORING:
		run_store_step(r);
		return now_us;
	case RUN_STARTING:
	case RUN_DENYING:
	case RUN_RECORDING:
	case RUN_SENDING:
	case RUN_OVER:
	case RUN_STAGE_N:
		break;
	}
	return UINT64_MAX;
}

static void free_over(struct supervisor *s)
{
	struct run **at = &s->runs;

	while (*at != NULL) {
		struct run *r = *at;

		if (r->stage != RUN_OVER ||
		    (r->at_launcher && s->launch_fd >= 0)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		s->n_runs--;
		if (r->session != NULL)
			r->session->n_runs--;
		if (r->holds_slot)
			s->slots--;
		destroy(r);
	}
}

uint64_t run_tend(struct supervisor *s)
{
	uint64_t next = UINT64_MAX;
	uint64_t now_us = loop_now_us();

	for (struct run *r = s->runs; r != NULL; r = r->next) {
		uint64_t at = tend_one(r, now_us);

		next = at < next ? at : next;
	}
	free_over(s);
	return next;
}
