/*
 * audit/chain_notes.c - records of what happened to the log itself, and of
 * runs of the past.  Linked by the signer; events are a supervisor's and are
 * judged here.
 */
#include "audit/chain_notes.h"

#include <string.h>
#include <time.h>

#include "audit/salts.h"
#include "base/sha256.h"

#define US_PER_S  1000000u
#define NS_PER_US 1000u
#define BUILDS    16 /* of an event_hello */

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / NS_PER_US;
}

void chain_measure(const struct chain *c, struct chain_step *ret)
{
	const struct chain_state *d = &c->draft;
	uint64_t wall = clock_us(CLOCK_REALTIME);
	uint64_t mono = clock_us(CLOCK_MONOTONIC);
	uint64_t expected = d->wall_us;

	*ret = (struct chain_step){ 0, false };
	if (d->wall_us == 0)
		return;
	if (memcmp(d->boot, c->boot, sizeof(d->boot)) != 0)
		expected = wall > d->wall_us ? wall : d->wall_us;
	else if (mono > d->mono_us)
		expected += mono - d->mono_us;
	ret->back = wall < expected;
	ret->us = ret->back ? expected - wall : wall - expected;
}

static int put_gap(struct chain *c, struct error *e)
{
	struct event_gap gap = c->gap;
	struct record r = { .type = RECORD_GAP, .gap = &gap };

	gap.refused -= c->draft.refused;
	if (gap.refused == 0)
		return 0;
	c->draft.refused = c->gap.refused;
	return chain_put(c, &r, e);
}

int chain_note_step(
    struct chain *c, const struct chain_step *step, struct error *e)
{
	const struct record_clock clock = { step->us, step->back };
	struct record r = { .type = RECORD_CLOCK, .clock = &clock };

	if (step->us >= CHAIN_STEP_US && chain_put(c, &r, e) < 0)
		return -1;
	return put_gap(c, e);
}

void chain_refused(struct chain *c)
{
	uint64_t now = clock_us(CLOCK_REALTIME);

	/* What was recorded is over; the state is what is on disk. */
	if (c->gap.refused == c->state.refused) {
		c->gap = (struct event_gap){ .reason = GAP_SPACE };
		c->state.refused = 0;
		c->draft.refused = 0;
		c->gap.from_us = now;
	}
	c->gap.refused++;
	c->gap.to_us = now > c->gap.from_us ? now : c->gap.from_us;
}

void chain_builds(const struct event_hello *hello, uint8_t ret[SHA256_BYTES])
{
	const struct event_build *sorted[BUILDS];
	char hex[SHA256_HEX];
	struct sha256 h;
	size_t n = 0;

	for (uint64_t i = 0; i < hello->builds.n; i++) {
		const struct event_build *b = &hello->builds.items[i];
		size_t at = n++;

		for (;
		     at > 0 && strcmp(sorted[at - 1]->program, b->program) > 0;
		     at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = b;
	}
	sha256_init(&h);
	for (size_t i = 0; i < n; i++) {
		sha256_hex(sorted[i]->sha256, hex);
		sha256_add(&h, sorted[i]->program, strlen(sorted[i]->program));
		sha256_add(&h, "=", 1);
		sha256_add(&h, hex, strlen(hex));
		sha256_add(&h, "\n", 1);
	}
	sha256_done(&h, ret);
}

static struct chain_policy *find_policy(struct chain_state *s, const char *name)
{
	for (size_t i = 0; i < CHAIN_POLICIES; i++)
		if (strcmp(s->policies[i].name, name) == 0)
			return &s->policies[i];
	return NULL;
}

void chain_keep_policy(
    struct chain_state *s, const char *name, const uint8_t sha256[32])
{
	struct chain_policy *p = find_policy(s, name);

	if (name[0] == '\0' || strlen(name) >= sizeof(p->name))
		return;
	if (p == NULL) {
		p = &s->policies[s->next_policy];
		s->next_policy = (s->next_policy + 1) % CHAIN_POLICIES;
	}
	memcpy(p->name, name, strlen(name) + 1);
	memcpy(p->sha256, sha256, sizeof(p->sha256));
}

int chain_note_config(struct chain *c, const struct chain_sender *from,
    const struct event_policy *policy, struct error *e)
{
	struct chain_state *d = &c->draft;
	const struct chain_policy *known = find_policy(d, policy->name);
	struct record_config config = { NULL, NULL, NULL };
	struct record r = { .type = RECORD_CONFIG, .config = &config };
	uint8_t builds[SHA256_BYTES];

	if (known != NULL &&
	    memcmp(known->sha256, policy->sha256, sizeof(known->sha256)) != 0) {
		config.policy = policy;
		config.was = known->sha256;
	}
	if (from->hello != NULL) {
		chain_builds(from->hello, builds);
		if (memcmp(builds, d->builds, sizeof(builds)) != 0)
			config.hello = from->hello;
	}
	if ((config.policy != NULL || config.hello != NULL) &&
	    chain_put(c, &r, e) < 0)
		return -1;
	if (config.hello != NULL)
		memcpy(d->builds, builds, sizeof(d->builds));
	chain_keep_policy(d, policy->name, policy->sha256);
	return 0;
}

static int check_closed(const struct chain *c, const struct event_run *runs,
    uint64_t n, struct error *e)
{
	for (uint64_t i = 0; i < n; i++)
		if (chain_is_open(c, runs[i].run))
			return FAIL(e, ERROR_STATE,
			    "one of these runs has not ended yet; wait for "
			    "it, then try again");
	return 0;
}

static int redact_of(
    struct chain *c, const struct event_redact *event, struct error *e)
{
	const struct salts_search what = { c->store.log_dir_fd,
		c->state.tree.size, event->runs.items, (size_t)event->runs.n };

	if (check_closed(c, event->runs.items, event->runs.n, e) < 0)
		return -1;
	c->redact.n = 0;
	c->redact.principal = &event->principal;
	c->redact.results = event->results != 0;
	return salts_find(&what, &c->redact, e);
}

int chain_note_of(struct chain *c, const struct chain_event *what,
    struct record *ret, struct error *e)
{
	if (what->verb == EVENT_GAP) {
		ret->type = RECORD_GAP;
		ret->gap = what->event;
		return 0;
	}
	if (what->verb == EVENT_ACCESS) {
		ret->type = RECORD_ACCESS;
		ret->access = what->event;
		return 0;
	}
	if (what->verb == EVENT_PRUNE) {
		const struct event_prune *prune = what->event;

		ret->type = RECORD_PRUNE;
		ret->prune = prune;
		return check_closed(c, prune->runs.items, prune->runs.n, e);
	}
	if (what->verb == EVENT_REDACT) {
		ret->type = RECORD_REDACT;
		ret->redact = &c->redact;
		return redact_of(c, what->event, e);
	}
	return FAIL(e, ERROR_STATE, "HELLO said twice");
}
