/*
 * audit/chain.c - building groups of records and committing them.  Linked by
 * the signer.  Events are a supervisor's and are judged before they become
 * records; keys, clock and order are ours.
 */
#include "audit/chain_notes.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"

#define NS_PER_S  1000000000u
#define NS_PER_MS 1000000u
#define NS_PER_US 1000u
#define BYTE_BITS 8
/* What an open run may still need: one outcome. */
#define RUN_RESERVE 65536u

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t chain_now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

void chain_begin(struct chain *c)
{
	c->draft = c->state;
	c->n_records = 0;
	c->n_salts = 0;
	c->redact.n = 0;
	c->used = 0;
	c->must_sync = false;
	c->hurried = false;
}

/* Beside this record there may be an opening one, each of a full line, and a
 * few short ones.  A redaction ends its group: it is the only one in it; and so
 * does the end of an epoch, whose key signs the group's checkpoint. */
bool chain_is_full(const struct chain *c)
{
	return c->n_records >= CHAIN_GROUP_MAX || c->redact.n > 0 ||
	       (c->n_records > 0 && c->draft.ended) ||
	       CHAIN_GROUP_BYTES - c->used < (size_t)3 * (EVENT_LINE_MAX + 1) ||
	       (c->draft.ours && c->draft.tree.size - c->draft.epoch_first >=
	                             CHAIN_EPOCH_MAX);
}

static void fill_frame(const struct chain *c, struct record_frame *f)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->log, c->keys.log_id, sizeof(f->log));
	memcpy(f->boot, c->boot, sizeof(f->boot));
	memcpy(f->log_key, c->keys.log.public_key, sizeof(f->log_key));
	memcpy(f->prev, c->draft.prev, sizeof(f->prev));
	f->epoch = c->draft.epoch;
	f->seq = c->draft.tree.size;
	f->mono_ns = clock_ns(CLOCK_MONOTONIC);
	f->time_us = clock_ns(CLOCK_REALTIME) / NS_PER_US;
}

int chain_put(struct chain *c, const struct record *what, struct error *e)
{
	struct record_frame frame;
	struct record r = *what;
	struct chain_state *d = &c->draft;
	size_t at = c->n_records;

	fill_frame(c, &frame);
	r.frame = &frame;
	if (record_build(&r, c->keys.record.secret, &c->line, e) < 0)
		return -1;
	memcpy(c->group + c->used, c->line.data, c->line.len);
	c->group[c->used + c->line.len] = '\n';
	c->line_at[at] = c->used;
	c->line_len[at] = c->line.len;
	tree_leaf(c->line.data, c->line.len, c->leaves[at]);
	c->used += c->line.len + 1;
	c->n_records++;
	tree_add(&d->tree, c->leaves[at]);
	memcpy(d->prev, c->leaves[at], TREE_HASH);
	d->bytes += c->line.len + 1;
	d->ended = false;
	memcpy(d->boot, c->boot, sizeof(d->boot));
	d->mono_us = frame.mono_ns / NS_PER_US;
	d->wall_us = frame.time_us;
	chain_promise(c, what->promise);
	return 0;
}

/*
 * Open the next epoch.  The key was made and announced one epoch earlier; its
 * signature over the last leaf shows that whoever opens has it.
 */
static int open_epoch(struct chain *c, struct error *e)
{
	struct record_opening o = { .origin = c->keys.log_note.name,
		.keys = c->keys.sealed ? "sealed" : "files",
		.hello = &c->hello };
	struct record r = { .type = RECORD_LOG_OPEN, .opening = &o };
	struct chain_state *d = &c->draft;

	d->promise = PROMISE_FULL;
	if (d->tree.size > 0) {
		r.type = RECORD_EPOCH_OPEN;
		d->epoch++;
	}
	if (keys_load_record(&c->keys, d->epoch, e) < 0 ||
	    store_begin_epoch(&c->store, d->epoch, e) < 0 ||
	    note_key_make(c->keys.log_note.name, NOTE_LOG,
	        c->keys.record.public_key, &c->record_note, e) < 0)
		return -1;
	d->epoch_first = d->tree.size;
	memcpy(o.record_key, c->keys.record.public_key, sizeof(o.record_key));
	sha256_of(c->keys.next, sizeof(c->keys.next), o.next);
	ed25519_sign(c->keys.record.secret, d->prev, TREE_HASH, o.proof);
	if (chain_put(c, &r, e) < 0)
		return FAIL_IN(
		    e, "open epoch %llu", (unsigned long long)d->epoch);
	memcpy(d->record_key, o.record_key, sizeof(d->record_key));
	memcpy(d->next, o.next, sizeof(d->next));
	chain_builds(&c->hello, d->builds);
	d->ours = true;
	return 0;
}

/* An epoch is open, and what the log has to say of itself is said. */
static int ready_epoch(struct chain *c, struct error *e)
{
	uint64_t epoch = c->draft.epoch;
	struct chain_step step;

	if (c->draft.final)
		return FAIL(e, ERROR_TAMPERED, "this log was closed for good");
	/* The opening record has clocks too: compare before it. */
	chain_measure(c, &step);
	if (c->draft.ours || open_epoch(c, e) == 0)
		return chain_note_step(c, &step, e);
	c->draft.epoch = epoch;
	if (store_is_full(e))
		e->kind = ERROR_LIMIT;
	return -1;
}

static struct chain_intent *find_open(
    struct chain_state *d, const uint8_t run[EVENT_RUN_BYTES])
{
	for (size_t i = 0; i < d->n_open; i++)
		if (memcmp(d->open[i].run, run, EVENT_RUN_BYTES) == 0)
			return &d->open[i];
	return NULL;
}

static void close_intent(struct chain_state *d, struct chain_intent *in)
{
	*in = d->open[--d->n_open];
}

bool chain_is_open(const struct chain *c, const uint8_t run[EVENT_RUN_BYTES])
{
	for (size_t i = 0; i < c->draft.n_open; i++)
		if (memcmp(c->draft.open[i].run, run, EVENT_RUN_BYTES) == 0)
			return true;
	return false;
}

/* Room for a record and for the end of every run that is open. */
static int has_room(struct chain *c, struct error *e)
{
	return store_reserve(&c->store,
	    c->draft.bytes + STORE_RESERVE +
	        RUN_RESERVE * (uint64_t)(c->draft.n_open + 2),
	    e);
}

static int check_run(
    struct chain *c, const uint8_t run[EVENT_RUN_BYTES], struct error *e)
{
	if (runs_has(&c->runs, run) || chain_is_open(c, run))
		return FAIL(e, ERROR_STATE, "this run id was used before");
	return has_room(c, e);
}

static void new_salt(struct chain *c)
{
	uint8_t *entry = c->salts[c->n_salts];
	uint64_t seq = c->draft.tree.size;

	for (size_t i = 0; i < sizeof(seq); i++)
		entry[i] =
		    (uint8_t)(seq >> (BYTE_BITS * (sizeof(seq) - 1 - i)));
	randombytes_buf(entry + sizeof(seq), RECORD_SALT);
}

/* Before a request: with a link's first, which policy and programs it is of. */
static int ready(struct chain *c, const struct chain_sender *from,
    const struct event_policy *policy, struct error *e)
{
	if (!c->draft.ours && from->hello != NULL)
		c->hello = *from->hello;
	if (ready_epoch(c, e) < 0)
		return -1;
	if (from->announced)
		return 0;
	return chain_note_config(c, from, policy, e);
}

static int add_intent(struct chain *c, const struct chain_sender *from,
    const struct event_intent *event, struct error *e)
{
	struct record r = {
		.type = RECORD_INTENT, .promise = from->promise, .intent = event
	};
	struct chain_state *d = &c->draft;
	struct chain_intent *in;
	uint64_t seq;

	if (d->n_open == CHAIN_OPEN_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d runs at once",
		    CHAIN_OPEN_MAX);
	if (check_run(c, event->run, e) < 0 ||
	    ready(c, from, &event->policy, e) < 0)
		return -1;
	seq = d->tree.size;
	new_salt(c);
	r.salt = c->salts[c->n_salts] + sizeof(seq);
	if (chain_put(c, &r, e) < 0)
		return -1;
	c->n_salts++;
	runs_add(&c->runs, event->run);
	in = &d->open[d->n_open++];
	memcpy(in->run, event->run, sizeof(in->run));
	memcpy(in->instance, from->instance, sizeof(in->instance));
	memcpy(in->leaf, d->prev, sizeof(in->leaf));
	in->seq = seq;
	in->link = from->link;
	return 0;
}

static int add_denial(struct chain *c, const struct chain_sender *from,
    const struct event_denial *event, struct error *e)
{
	struct record r = {
		.type = RECORD_DENIAL, .promise = from->promise, .denial = event
	};

	if (check_run(c, event->run, e) < 0 ||
	    ready(c, from, &event->policy, e) < 0)
		return -1;
	if (chain_put(c, &r, e) < 0)
		return -1;
	runs_add(&c->runs, event->run);
	return 0;
}

static int add_outcome(struct chain *c, const struct chain_sender *from,
    const struct event_outcome *event, struct error *e)
{
	struct record r = { .type = RECORD_OUTCOME,
		.promise = from->promise,
		.outcome = event };
	struct chain_intent *in = find_open(&c->draft, event->run);

	if (in == NULL ||
	    memcmp(in->instance, from->instance, sizeof(in->instance)) != 0)
		return FAIL(e, ERROR_STATE,
		    "outcome of a run that this supervisor has not open");
	if (in->seq != event->intent_seq ||
	    memcmp(in->leaf, event->intent_leaf, sizeof(in->leaf)) != 0)
		return FAIL(e, ERROR_STATE, "outcome of another intent");
	if (ready_epoch(c, e) < 0 || chain_put(c, &r, e) < 0)
		return -1;
	close_intent(&c->draft, in);
	return 0;
}

int chain_add(struct chain *c, const struct chain_sender *from,
    const struct chain_event *what, size_t *ret_index, struct error *e)
{
	struct record r = { .type = RECORD_TYPES };
	int failed = -1;

	if (what->verb == EVENT_INTENT)
		failed = add_intent(c, from, what->event, e);
	else if (what->verb == EVENT_DENIAL)
		failed = add_denial(c, from, what->event, e);
	else if (what->verb == EVENT_OUTCOME)
		failed = add_outcome(c, from, what->event, e);
	else if (what->verb == EVENT_ROTATE)
		failed =
		    has_room(c, e) < 0 ? -1 : chain_end_epoch(c, "rotate", e);
	else if (chain_note_of(c, what, &r, e) == 0 && has_room(c, e) == 0 &&
	         ready_epoch(c, e) == 0)
		failed = chain_put(c, &r, e);
	/* What is gone next is not to outlast the record that says so. */
	if (what->verb == EVENT_PRUNE || what->verb == EVENT_REDACT)
		c->must_sync = true;
	if (failed < 0)
		c->redact.n = 0;
	if (failed < 0)
		return -1;
	*ret_index = c->n_records - 1;
	return 0;
}

int chain_abort(struct chain *c, uint64_t link, struct error *e)
{
	struct chain_state *d = &c->draft;
	size_t i = 0;

	while (i < d->n_open && !chain_is_full(c)) {
		struct record_aborted a = {
			.killed_by = link == 0 ? KILLER_NONE : KILLER_SUPERVISOR
		};
		struct record r = { .type = RECORD_ABORTED, .aborted = &a };

		if (d->open[i].link != link) {
			i++;
			continue;
		}
		memcpy(a.run, d->open[i].run, sizeof(a.run));
		memcpy(a.intent_leaf, d->open[i].leaf, sizeof(a.intent_leaf));
		a.intent_seq = d->open[i].seq;
		if (ready_epoch(c, e) < 0 || chain_put(c, &r, e) < 0)
			return -1;
		close_intent(d, &d->open[i]);
	}
	return 0;
}

int chain_recover(struct chain *c, struct error *e)
{
	uint64_t size = c->state.tree.size;

	for (size_t i = 0; !chain_is_full(c); i++) {
		struct store_torn torn;
		struct record_recover body = { 0 };
		struct record r = { .type = RECORD_RECOVER, .recover = &body };

		if (store_torn(&c->store, size, i, &torn, e) < 0)
			return e->kind == ERROR_CLOSED ? 0 : -1;
		body.bytes = torn.bytes;
		memcpy(body.sha256, torn.sha256, sizeof(body.sha256));
		if (ready_epoch(c, e) < 0 || chain_put(c, &r, e) < 0)
			return -1;
	}
	return 0;
}

int chain_tick(struct chain *c, struct error *e)
{
	struct record r = { .type = RECORD_TICK };

	if (has_room(c, e) < 0 || ready_epoch(c, e) < 0)
		return -1;
	return chain_put(c, &r, e);
}

int chain_end_epoch(struct chain *c, const char *reason, struct error *e)
{
	struct record_closing closing = { .reason = reason };
	struct record r = { .type = RECORD_EPOCH_CLOSE, .closing = &closing };
	struct chain_state *d = &c->draft;

	if (ready_epoch(c, e) < 0)
		return -1;
	closing.records = d->tree.size - d->epoch_first;
	if (chain_put(c, &r, e) < 0)
		return -1;
	d->ended = true;
	d->ours = false;
	return 0;
}

int chain_end_log(struct chain *c, struct error *e)
{
	struct record_closing closing = { .reason = NULL };
	struct record r = { .type = RECORD_LOG_CLOSE, .closing = &closing };
	struct chain_state *d = &c->draft;

	if (ready_epoch(c, e) < 0)
		return -1;
	closing.records = d->tree.size;
	if (chain_put(c, &r, e) < 0)
		return -1;
	d->final = true;
	d->ours = false;
	return 0;
}
