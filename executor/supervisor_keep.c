/*
 * executor/supervisor_keep.c - retention of results, and gaps.  Linked by the
 * supervisor.
 *
 * A folder leaves results/ only when the record that names it is durable.  A
 * crash between the two leaves the folder where it is, and the next pass, of
 * this service or the next, names it again.
 */
#include "executor/supervisor_keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/results.h"
#include "executor/retention.h"
#include "executor/supervisor.h"

#define SECOND_US    UINT64_C(1000000)
#define FIRST_US     SECOND_US         /* after the start */
#define EVERY_US     (600 * SECOND_US) /* time passes */
#define CHANGED_US   (60 * SECOND_US)  /* results came, and their sum counts */
#define HURRY_US     (60 * SECOND_US)  /* a pass waits for quiet so long */
#define HOLD_US      (5 * SECOND_US)   /* our end waits for a pass so long */
#define LOOK_BUDGET  8                 /* folders looked at in one turn */
#define SWEEP_BUDGET 32                /* names unlinked in one turn */
#define DAY_S        UINT64_C(86400)

static uint64_t wall_s(void)
{
	time_t now = time(NULL);

	return now > 0 ? (uint64_t)now : 0;
}

static void rules_of(const struct supervisor *s, struct retention_rules *ret)
{
	const struct policy_audit *a = &s->policy->audit;

	ret->policy = s->policy->name;
	ret->keep_s = a->keep_days == POLICY_UNLIMITED ? UINT64_MAX
	                                               : a->keep_days * DAY_S;
	ret->max_bytes = a->max_bytes;
}

int keep_start(struct supervisor *s, struct error *e)
{
	const struct policy_audit *a = &s->policy->audit;

	/* What a crash left half removed goes too. */
	s->keeping.is_removing = true;
	s->keeping.due_us = loop_now_us() + FIRST_US;
	if (a->keep_days == POLICY_UNLIMITED && a->max_bytes == UINT64_MAX)
		return 0;
	s->keeping.pass = calloc(1, sizeof(*s->keeping.pass));
	if (s->keeping.pass == NULL)
		return FAIL_SYS(e, "allocate what looks after the results");
	return 0;
}

/* Over, or in vain: a disk that fails today may work tomorrow. */
static void end_pass(struct supervisor *s, uint64_t now_us)
{
	struct keeping *k = &s->keeping;
	bool again = k->pass->is_full && k->is_looking;

	retention_end(k->pass);
	k->is_looking = false;
	k->has_passed = true;
	k->due_us = now_us + (again ? 0 : EVERY_US);
}

static void take_away(struct supervisor *s, const struct event_run *runs,
    uint64_t n, const char *why)
{
	struct removal_note note = { .when_s = wall_s() };
	struct error e;

	(void)snprintf(note.why, sizeof(note.why), "%s", why);
	for (uint64_t i = 0; i < n; i++) {
		char id[40];

		memcpy(note.run, runs[i].run, sizeof(note.run));
		removal_run_id(note.run, id);
		note.uid = results_owner(s->state.results_fd, id);
		/* One that cannot go now is found again by the next pass. */
		if (removal_take(s->state.results_fd, &note, &e) == 0)
			s->keeping.is_removing = true;
	}
	supervisor_sync_published(s);
}

static void pruned(struct supervisor *s, struct note *n,
    const struct event_stored *stored, const char *why)
{
	(void)why;
	s->keeping.is_asking = false;
	if (stored != NULL)
		take_away(s, n->prune.runs.items, n->prune.runs.n,
		    prune_word(n->prune.reason));
	else
		end_pass(s, loop_now_us());
}

/* The next batch, if there is one. */
static void ask(struct supervisor *s, uint64_t now_us)
{
	struct note *n = note_make(EVENT_PRUNE, pruned);
	struct retention_rules rules;

	rules_of(s, &rules);
	if (n == NULL || retention_choose(s->keeping.pass, &rules, wall_s(),
	                     &n->prune) == 0) {
		free(n);
		end_pass(s, now_us);
		return;
	}
	supervisor_policy(s, &n->prune.policy);
	s->keeping.is_asking = true;
	note_send(s, n);
}

static bool is_quiet(const struct supervisor *s, uint64_t now_us)
{
	return s->n_runs == 0 || now_us >= s->keeping.due_us + HURRY_US;
}

/* When results came and their sum counts, sooner than otherwise. */
static uint64_t due(const struct supervisor *s)
{
	const struct keeping *k = &s->keeping;
	uint64_t changed = k->passed_us + CHANGED_US;

	if (s->policy->audit.max_bytes == UINT64_MAX ||
	    k->published == s->syncing.published || !k->has_passed)
		return k->due_us;
	return changed < k->due_us ? changed : k->due_us;
}

static void look(struct supervisor *s, uint64_t now_us)
{
	struct keeping *k = &s->keeping;
	struct retention_rules rules;
	struct error e;
	bool more = false;

	rules_of(s, &rules);
	if (k->pass->dir == NULL && k->is_looking) {
		ask(s, now_us);
		return;
	}
	if (!k->is_looking) {
		k->passed_us = now_us;
		k->published = s->syncing.published;
		k->is_looking =
		    retention_begin(k->pass, s->state.results_fd, &e) == 0;
	}
	if (!k->is_looking ||
	    retention_look(k->pass, &rules, LOOK_BUDGET, &more, &e) < 0) {
		k->is_looking = false;
		end_pass(s, now_us);
	} else if (!more) {
		retention_end(k->pass); /* the directory; what it found stays */
	}
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void told(struct supervisor *s, struct note *n,
    const struct event_stored *stored, const char *why)
{
	struct event_gap *gap = &s->keeping.gaps[n->gap.reason];

	(void)why;
	s->keeping.is_telling = false;
	s->keeping.told_us = loop_now_us();
	if (stored != NULL)
		return;
	if (gap->refused == 0)
		gap->to_us = n->gap.to_us;
	gap->from_us = n->gap.from_us;
	gap->refused += n->gap.refused;
}

static struct event_gap *next_gap(struct keeping *k)
{
	for (size_t i = 0; i < GAP_N; i++)
		if (k->gaps[i].refused > 0)
			return &k->gaps[i];
	return NULL;
}

/* At most one record a second, however many were refused. */
static uint64_t tell_gap(struct supervisor *s, uint64_t now_us)
{
	struct keeping *k = &s->keeping;
	struct event_gap *gap = next_gap(k);
	struct note *n;

	if (gap == NULL || k->is_telling || s->lost)
		return UINT64_MAX;
	if (k->told_us != 0 && now_us < k->told_us + SECOND_US)
		return k->told_us + SECOND_US;
	n = note_make(EVENT_GAP, told);
	if (n == NULL)
		return now_us + SECOND_US;
	n->gap = *gap;
	gap->refused = 0;
	k->is_telling = true;
	note_send(s, n);
	return UINT64_MAX;
}

uint64_t keep_tend(struct supervisor *s, uint64_t now_us)
{
	struct keeping *k = &s->keeping;
	uint64_t next = sooner(tell_gap(s, now_us), note_tend(s, now_us));
	struct error e;

	if (s->lost || s->stopping)
		return next;
	if (k->is_removing && is_quiet(s, now_us)) {
		if (removal_step(s->state.results_fd, SWEEP_BUDGET,
		        &k->is_removing, &e) < 0)
			k->is_removing = false; /* the next start tries again */
		if (k->is_removing)
			return now_us;
	}
	if (k->pass == NULL || k->is_asking)
		return next;
	if (!k->is_looking && k->hold_us == 0 && now_us < due(s))
		return sooner(next, due(s));
	if (!is_quiet(s, now_us))
		return sooner(next, k->due_us + HURRY_US);
	look(s, now_us);
	return k->is_asking ? next : now_us;
}

uint64_t keep_hold(struct supervisor *s, uint64_t end_us, uint64_t now_us)
{
	struct keeping *k = &s->keeping;

	if (s->lost || s->stopping || end_us > now_us ||
	    ((k->pass == NULL || (k->has_passed && !k->is_looking)) &&
	        !k->is_removing && next_gap(k) == NULL)) {
		k->hold_us = 0;
		return end_us;
	}
	if (k->hold_us == 0)
		k->hold_us = now_us;
	return k->hold_us + HOLD_US;
}

void keep_refused(struct supervisor *s, enum gap_reason reason, uint64_t count)
{
	struct event_gap *gap = &s->keeping.gaps[reason];
	struct timespec t;
	uint64_t now;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	now = (uint64_t)t.tv_sec * SECOND_US + (uint64_t)t.tv_nsec / 1000;
	if (gap->refused == 0)
		gap->from_us = now;
	gap->reason = reason;
	gap->refused += count;
	gap->to_us = now > gap->from_us ? now : gap->from_us;
}

void keep_remove(struct supervisor *s, const struct event_redact *redact)
{
	take_away(s, redact->runs.items, redact->runs.n, "redact");
}
