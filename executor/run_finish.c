/*
 * executor/run_finish.c - the outcome of a run: for the log, and for the
 * front.  Linked by the supervisor.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/patience.h"
#include "executor/run_compile.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"
#include "executor/session_results.h"

static bool is_launcher_gone(const struct supervisor *s)
{
	struct pollfd p = { .fd = s->launch_fd, .events = POLLRDHUP };

	return s->launch_fd < 0 || poll(&p, 1, 0) > 0;
}

/*
 * pid 1 ends when the launcher does, and its end may be seen first: a child
 * of the launcher may hold its channel a little longer.  By now collecting
 * has been tried, which nobody but the launcher answers.
 */
static void blame(struct run *r)
{
	if (!r->init_lost || !is_launcher_gone(r->s))
		return;
	r->failure.is_set = false;
	if (r->kill == KILLER_NONE)
		r->kill = KILLER_SUPERVISOR;
}

static void put_verdict(struct run *r, struct event_outcome *o)
{
	blame(r);

	const struct verdict_facts facts = {
		.released = r->clock[CLOCK_RELEASED] != 0,
		.phase = run_phase(r),
		.step_failed = r->failure.is_set,
		.failed_in = r->failure.phase,
		.kill = r->kill,
		.init_wall = r->init_wall,
		.ended = r->ended,
		.exit_kind = (enum event_exit)r->exit_kind,
		.exit_value = r->exit_value,
		.oom_kills = r->oom_kills,
		.cpu_us = r->cpu_us,
		.cpu_max_us = run_limits(r)[LIMIT_CPU_MS] * 1000,
	};
	struct verdict v;

	verdict_decide(&facts, &v);
	o->status = v.status;
	o->phase = v.phase;
	o->killed_by = v.killed_by;
	o->exit_kind = v.exit_kind;
	o->exit_value = v.exit_value;
	if (!v.names_step)
		return;
	(void)snprintf(o->step, sizeof(o->step), "%s", r->failure.step);
	o->step_errno = (uint32_t)r->failure.saved_errno;
}

static void put_stream(const struct output *o, struct event_stream *to)
{
	memcpy(to->sha256, o->head_sha256, sizeof(to->sha256));
	to->size = o->head_size;
	memcpy(to->total_sha256, o->total_sha256, sizeof(to->total_sha256));
	to->total = o->total;
}

/* Each step from its clock to the next one that was reached. */
static void put_timing(const struct run *r, struct event_outcome *o)
{
	static const struct {
		const char *name;
		enum run_clock from, to;
	} steps[] = {
		{ "decide", CLOCK_RECEIVED, CLOCK_DECIDED },
		{ "queue", CLOCK_DECIDED, CLOCK_SENT },
		{ "intent", CLOCK_SENT, CLOCK_INTENT },
		{ "build", CLOCK_SENT, CLOCK_STOPPED },
		{ "compile", CLOCK_COMPILING, CLOCK_COMPILED },
		{ "rebuild", CLOCK_COMPILED, CLOCK_RELEASED },
		{ "run", CLOCK_RELEASED, CLOCK_ENDED },
		{ "reap", CLOCK_ENDED, CLOCK_DEAD },
		{ "collect", CLOCK_DEAD, CLOCK_COLLECTED },
		{ "store", CLOCK_COLLECTED, CLOCK_STORED },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct event_step *s = &o->timing.items[o->timing.n];
		uint64_t from = r->clock[steps[i].from];
		uint64_t to = r->clock[steps[i].to];

		if (from == 0 || to < from ||
		    (steps[i].from == CLOCK_RELEASED && r->is_compiling))
			continue;
		(void)snprintf(s->name, sizeof(s->name), "%s", steps[i].name);
		s->us = to - from;
		o->timing.n++;
	}
}

/* Artifacts stand in 'files' under "files/"; the record names the first. */
static void put_subjects(const struct run *r, struct event_outcome *o)
{
	for (size_t i = 0; i < r->n_files && o->subjects.n < EVENT_SUBJECTS_MAX;
	     i++) {
		struct event_subject *s = &o->subjects.items[o->subjects.n];

		if (strncmp(r->files[i].name, "files/", 6) != 0)
			continue;
		memcpy(s->name, r->files[i].name, sizeof(s->name));
		memcpy(s->sha256, r->files[i].sha256, sizeof(s->sha256));
		o->subjects.n++;
	}
}

static void put_use(const struct run *r, struct event_outcome *o)
{
	if (r->clock[CLOCK_RELEASED] == 0)
		return;
	o->has |= OUTCOME_HAS_USE;
	o->cpu_us = r->cpu_us;
	o->wall_us = r->clock[CLOCK_ENDED] - r->clock[CLOCK_RELEASED];
	o->memory_peak = r->memory_peak;
	o->pids_peak = r->pids_peak;
}

static void add_word(struct event_word *to, uint64_t *n, const char *word)
{
	(void)snprintf(to[*n].text, sizeof(to[*n].text), "%s", word);
	(*n)++;
}

/* Limits that the run met without being killed for it. */
static void put_violations(const struct run *r, struct event_outcome *o)
{
	static const struct {
		enum collect_why why;
		const char *word;
	} rows[] = {
		{ COLLECT_LIMIT, "limit.artifacts.reached" },
		{ COLLECT_BYTES, "limit.artifact_bytes.reached" },
		{ COLLECT_DEPTH, "limit.artifact_depth.reached" },
		{ COLLECT_PLOTS, "limit.plots.reached" },
		{ COLLECT_PLOT_BYTES, "limit.plot_bytes.reached" },
	};

	if (r->pids_hits > 0)
		add_word(o->viol.items, &o->viol.n, "limit.pids.reached");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((r->skipped_why & UINT32_C(1) << rows[i].why) != 0)
			add_word(o->viol.items, &o->viol.n, rows[i].word);
}

int run_build_outcome(struct run *r, struct error *e)
{
	struct event_outcome *o;

	free(r->outcome);
	r->outcome = calloc(1, sizeof(*r->outcome));
	o = r->outcome;
	if (o == NULL)
		return FAIL_SYS(e, "write down the outcome");
	o->ticket = r->number;
	memcpy(o->run, r->intent.run, sizeof(o->run));
	o->intent_seq = r->intent_seq;
	memcpy(o->intent_leaf, r->intent_leaf, sizeof(o->intent_leaf));
	(void)snprintf(o->start, sizeof(o->start), "cold");
	if (r->s->nested)
		add_word(o->degraded.items, &o->degraded.n, "nested");
	for (size_t i = 0; i < r->s->owner.n_degraded; i++)
		add_word(
		    o->degraded.items, &o->degraded.n, r->s->owner.degraded[i]);
	put_violations(r, o);
	put_verdict(r, o);
	put_timing(r, o);
	put_use(r, o);
	run_trace_record(r, o);
	run_compile_record(r, o);
	if (r->posture.facts > 0) {
		o->has |= OUTCOME_HAS_POSTURE;
		memcpy(o->posture_sha256, r->posture.sha256,
		    sizeof(o->posture_sha256));
		o->posture_steps = r->posture.facts;
	}
	if (r->clock[CLOCK_STORED] == 0 || !r->has_folder)
		return 0;
	o->has |= OUTCOME_HAS_OUTPUT;
	put_stream(&r->out, &o->out);
	put_stream(&r->err, &o->err);
	o->files_count = r->files_count;
	o->files_bytes = r->files_bytes;
	o->files_skipped = r->files_skipped;
	result_files_sort(r->files, r->n_files);
	put_subjects(r, o);
	return 0;
}

void run_record(struct run *r)
{
	struct error e;

	r->stage = RUN_RECORDING;
	if (r->clock[CLOCK_RELEASED] == 0)
		run_set_folder_aside(r);
	/* A whole folder has its outcome already: MANIFEST stands in it. */
	if ((r->outcome == NULL || !r->has_folder) &&
	    run_build_outcome(r, &e) < 0) {
		supervisor_lose(r->s, e.text); /* not recorded: not on */
		return;
	}
	run_send_event(r);
}

static void put_finished(const struct run *r, struct protocol_finished *f)
{
	const struct event_outcome *o = r->outcome;
	const char *killer = killer_word(o->killed_by);

	memset(f, 0, sizeof(*f));
	f->request = r->request;
	memcpy(f->run_id, r->id, sizeof(f->run_id));
	(void)snprintf(
	    f->status, sizeof(f->status), "%s", status_word(o->status));
	(void)snprintf(f->phase, sizeof(f->phase), "%s", phase_word(o->phase));
	(void)snprintf(f->killed_by, sizeof(f->killed_by), "%s",
	    killer != NULL ? killer : "");
	f->exit_kind = o->exit_kind;
	f->exit_value = o->exit_value;
	memcpy(f->step, o->step, sizeof(f->step));
	f->step_errno = o->step_errno;
	if (o->step[0] != '\0')
		memcpy(f->remedy, r->failure.remedy, sizeof(f->remedy));
	f->out.size = r->out.head_size;
	f->out.total = r->out.total;
	memcpy(f->out.sha256, r->out.head_sha256, sizeof(f->out.sha256));
	f->err.size = r->err.head_size;
	f->err.total = r->err.total;
	memcpy(f->err.sha256, r->err.head_sha256, sizeof(f->err.sha256));
	f->files_count = o->files_count;
	f->files_bytes = o->files_bytes;
	f->files_skipped = o->files_skipped;
	f->cpu_us = o->cpu_us;
	f->wall_us = o->wall_us;
	f->memory_peak = o->memory_peak;
	f->pids_peak = o->pids_peak;
}

static void put_lists(const struct run *r, struct protocol_finished *f)
{
	const struct event_outcome *o = r->outcome;

	for (uint64_t i = 0; i < o->timing.n && i < 15; i++) {
		memcpy(f->timing.items[i].name, o->timing.items[i].name,
		    sizeof(f->timing.items[i].name));
		f->timing.items[i].us = o->timing.items[i].us;
		f->timing.n = i + 1;
	}
	/* Not in the record, which cannot time its own writing. */
	(void)snprintf(f->timing.items[f->timing.n].name,
	    sizeof(f->timing.items[0].name), "outcome");
	f->timing.items[f->timing.n++].us =
	    r->clock[CLOCK_OUTCOME] - (r->clock[CLOCK_STORED] != 0
	                                      ? r->clock[CLOCK_STORED]
	                                      : r->clock[CLOCK_DEAD]);
	for (uint64_t i = 0; i < o->degraded.n && i < 16; i++) {
		memcpy(f->degraded.items[i].text, o->degraded.items[i].text,
		    sizeof(f->degraded.items[i].text));
		f->degraded.n = i + 1;
	}
}

void run_finish(struct run *r)
{
	struct protocol_finished *f = &r->s->out->finished;

	put_finished(r, f);
	put_lists(r, f);
	f->seq = r->outcome_seq;
	memcpy(f->leaf, r->outcome_leaf, sizeof(f->leaf));
	if (r->is_published)
		(void)snprintf(f->folder, sizeof(f->folder),
		    "%.4040s/results/%s", r->s->service.state, r->id);
	r->stage = RUN_OVER;
	session_ran(r->session, r->id);
	session_send(r->session, PROTOCOL_FINISHED, f, NULL);
}

void run_give_back(struct run *r)
{
	struct launch_release release = { .run = r->number };

	run_close_handles(r);
	if (!r->at_launcher) {
		run_released(r);
		return;
	}
	if (r->is_released)
		return; /* asked for already, not answered */
	r->is_released = true;
	supervisor_tell_launcher(r->s, LAUNCH_RELEASE, &release, NULL);
	run_expect(r, DUE_LAUNCHER, PATIENCE_RELEASE);
}

int run_outcome_stored(
    struct run *r, const struct run_message *m, struct error *e)
{
	const struct event_stored *stored = &m->in->audit.stored;

	r->clock[CLOCK_OUTCOME] = loop_now_us();
	r->due[DUE_SIGNER] = 0;
	r->outcome_seq = stored->seq;
	memcpy(r->outcome_leaf, stored->leaf, sizeof(r->outcome_leaf));
	if (r->has_folder && run_publish(r, stored, e) < 0) {
		/* The record stands; the folder is set aside, not half shown. */
		run_fail(r, PHASE_COLLECT, "results", e);
		memcpy(r->outcome->step, "results", sizeof("results"));
		r->outcome->step_errno = (uint32_t)e->saved_errno;
		run_set_folder_aside(r);
	}
	if (r->is_published)
		supervisor_sync_published(r->s);
	run_give_back(r);
	r->stage = r->session != NULL ? RUN_SENDING : RUN_OVER;
	if (r->session != NULL)
		session_wake(r->session);
	return 0;
}
