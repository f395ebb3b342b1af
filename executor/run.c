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
#include "executor/run_refusal.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"

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
	{ ROLE_SCREEN,    RUN_SCREENING,  SCREEN_HITS,        run_screened,       RUN_SCREENING },
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
	{ ROLE_TRACER,    RUN_STARTING,   TRACER_WATCHING,    run_watched,        RUN_STARTING },
	{ ROLE_TRACER,    RUN_STARTING,   TRACER_FAILED,      run_unwatched,      RUN_STARTING },
	{ ROLE_TRACER,    RUN_ENDING,     TRACER_WATCHING,    run_watched,        RUN_ENDING },
	{ ROLE_TRACER,    RUN_ENDING,     TRACER_FAILED,      run_unwatched,      RUN_ENDING },
	{ ROLE_TRACER,    RUN_TRACING,    TRACER_FINISHED,    run_traced,         RUN_COLLECTING },
	{ ROLE_TRACER,    RUN_TRACING,    TRACER_FAILED,      run_unwatched,      RUN_COLLECTING },
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

int run_draw_id(struct run *r, struct error *e)
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

struct run *run_make(struct session *c, uint64_t request)
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
	r->helper_pid_fd = -1;
	r->folder_fd = -1;
	r->code_copy_fd = -1;
	r->stdin_copy_fd = -1;
	r->taken_fd = -1;
	r->program_stat_fd = -1;
	r->product_fd = -1;
	for (size_t i = 0; i < RUN_LAYER_N; i++)
		r->layers[i].tree_fd = -1;
	r->out.file_fd = -1;
	r->err.file_fd = -1;
	r->out_watch.fd = -1;
	r->err_watch.fd = -1;
	r->status_watch.fd = -1;
	r->events_watch.fd = -1;
	r->init_watch.fd = -1;
	r->helper_watch.fd = -1;
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++)
		r->handles.fd[i] = -1;
	return r;
}

void run_destroy(struct run *r)
{
	run_close_helper(r);
	run_close_handles(r);
	own_close(&r->code_fd);
	own_close(&r->stdin_fd);
	own_close(&r->folder_fd);
	own_close(&r->code_copy_fd);
	own_close(&r->stdin_copy_fd);
	own_close(&r->taken_fd);
	own_close(&r->product_fd);
	layers_drop(r->s->state.layers_fd, &r->layer_making);
	for (size_t i = 0; i < RUN_LAYER_N; i++)
		own_close(&r->layers[i].tree_fd);
	for (size_t i = 0; r->inputs != NULL && i < r->n_inputs; i++)
		own_close(&r->inputs[i].fd);
	output_done(&r->out);
	output_done(&r->err);
	free(r->args);
	free(r->inputs);
	free(r->files);
	free(r->skipped);
	free(r->outcome);
	free(r);
}

/* In the order of arrival: the first to come is the first to get a slot. */
void run_append(struct run *r)
{
	struct run **at = &r->s->runs;

	while (*at != NULL)
		at = &(*at)->next;
	*at = r;
	r->s->n_runs++;
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
	r->due[DUE_SIGNER] = 0;
	run_end(r);
}

void run_advance(struct run *r)
{
	if (!run_digest_step(r))
		return;
	if (run_wants_screen(r)) {
		r->stage = RUN_SCREENING;
		supervisor_screen_next(r->s);
	} else {
		run_judged(r);
	}
}

void run_judged(struct run *r)
{
	if (!r->decision.allow) {
		run_deny(r);
		return;
	}
	r->clock[CLOCK_DECIDED] = loop_now_us();
	r->stage = RUN_QUEUED;
}

void run_admit(struct run *r)
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
	const char *crowded;
	struct run *r = run_enter(c, m->request);
	struct error e;

	if (r == NULL)
		return; /* told why */
	/* Before anything is said: the message still lies in the buffer. */
	crowded = run_crowded(c);
	run_append(r);
	if (run_decode(r, m, take_fds, &e) < 0) {
		run_keep_raw(r);
		run_turn_away(r, "request.malformed");
		return;
	}
	if (crowded != NULL) {
		run_turn_away(r, crowded);
		return;
	}
	run_advance(r);
	if (r->stage == RUN_QUEUED && c->s->slots < c->s->slots_max)
		run_admit(r);
}

/*
 * A request that its own front takes back before the decision is durable leaves
 * no record: nothing was decided about it and nothing of it has run.
 */
void run_cancel(struct run *r, enum killer killer)
{
	const struct error why = { ERROR_STATE, 0, "cancelled" };

	switch (r->stage) {
	case RUN_DIGESTING:
	case RUN_SCREENING:
	case RUN_QUEUED:
	case RUN_OPENING:
		run_close_helper(r);
		run_refuse(r, "request", &why);
		return;
	case RUN_STARTING:
	case RUN_RUNNING:
		run_kill(r, killer);
		return;
	case RUN_TRACING:
	case RUN_COLLECTING:
		if (r->is_compiling)
			r->kill = killer; /* its product will not start */
		return;
	case RUN_DENYING:
	case RUN_ENDING:
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
