/*
 * audit/signer_serve.c - the signer's loop.  Linked by the signer.
 *
 * One turn: take what is waiting on all channels, one message of each in turn,
 * until nothing waits or the group is full; make it durable with one write and
 * one sync; answer.  What arrives meanwhile makes the next group, so a group
 * never waits to be filled and one client alone pays one sync.
 */
#include "audit/signer_serve.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "audit/head.h"

#define FULL_WAIT_NS 100000000 /* 100 ms, before asking a full disk again */
#define ORPHAN_MS    1000
#define MS_PER_S     1000
#define POLL_FDS     (2 + SIGNER_LINKS_MAX)

static bool is_live(const struct signer *s, uint64_t id)
{
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		if (s->links[i].id == id)
			return true;
	return false;
}

/* The channel of an intent whose supervisor is gone; 0 for none. */
static uint64_t find_orphan(
    const struct signer *s, const struct chain_state *state)
{
	for (size_t i = 0; i < state->n_open; i++)
		if (state->open[i].link != 0 &&
		    !is_live(s, state->open[i].link))
			return state->open[i].link;
	return 0;
}

static bool has_links(const struct signer *s)
{
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		if (s->links[i].id != 0)
			return true;
	return false;
}

/* Into the group: outcomes of runs whose supervisor left. */
static int abort_orphans(struct signer *s, struct error *e)
{
	uint64_t id = find_orphan(s, &s->chain.draft);

	while (id != 0 && !chain_is_full(&s->chain)) {
		if (chain_abort(&s->chain, id, e) < 0)
			return e->kind == ERROR_LIMIT ? 0 : -1;
		id = find_orphan(s, &s->chain.draft);
	}
	/* A start found more of them than one group holds. */
	if (s->recovered && chain_abort(&s->chain, 0, e) < 0)
		return e->kind == ERROR_LIMIT ? 0 : -1;
	return 0;
}

static bool has_room(const struct signer *s)
{
	return !chain_is_full(&s->chain) &&
	       s->n_pending < sizeof(s->pending) / sizeof(s->pending[0]);
}

static int gather(struct signer *s, struct error *e)
{
	bool more = true;
	int fatal = 0;

	while (more) {
		more = false;
		for (size_t i = 0; i < SIGNER_LINKS_MAX && has_room(s); i++) {
			struct signer_link *link = &s->links[i];

			if (link->id == 0 || !link->readable)
				continue;
			signer_receive(s, link, &fatal, e);
			if (fatal < 0)
				return -1;
			more = true;
		}
	}
	return abort_orphans(s, e);
}

/* The group was not stored: say so to all who counted on it. */
static void refuse_group(struct signer *s, const struct error *why)
{
	for (size_t i = 0; i < s->n_pending; i++) {
		struct signer_pending *p = &s->pending[i];
		struct signer_link *link = signer_find(s, p->link);

		if (p->answer == ANSWER_REFUSED)
			continue;
		if (p->answer == ANSWER_WELCOME && link != NULL)
			link->greeted = false;
		/* What it changed was not recorded either. */
		if (link != NULL)
			link->announced = false;
		if (p->request)
			chain_refused(&s->chain);
		p->answer = ANSWER_REFUSED;
		p->kind = why->kind;
		for (size_t k = 0; k < sizeof(p->text); k++)
			p->text[k] = why->text[k];
	}
	s->recovered = s->recovered && !s->recovering;
}

static int commit(struct signer *s, struct error *e)
{
	if (chain_commit(&s->chain, e) < 0) {
		if (e->kind != ERROR_LIMIT)
			return -1;
		refuse_group(s, e);
	}
	s->recovering = false;
	signer_answer_all(s);
	if (chain_settle(&s->chain, e) < 0)
		return -1;
	if (s->chain.store.dirty && s->dirty_since_ms == 0)
		s->dirty_since_ms = chain_now_ms();
	return 0;
}

static int end_epoch(struct signer *s, const char *reason, struct error *e)
{
	const struct timespec moment = { 0, FULL_WAIT_NS };

	chain_begin(&s->chain);
	if (chain_end_epoch(&s->chain, reason, e) < 0)
		return -1;
	if (chain_commit(&s->chain, e) == 0)
		return chain_settle(&s->chain, e);
	if (e->kind != ERROR_LIMIT)
		return -1;
	(void)nanosleep(&moment, NULL);
	return 0;
}

static int sync_all(struct signer *s, enum store_sync head, struct error *e)
{
	if ((s->chain.store.note_due || store_lags(&s->chain.store) > 0) &&
	    chain_publish(&s->chain, STORE_LAZY, e) < 0)
		return -1;
	if (store_sync(&s->chain.store, e) < 0)
		return -1;
	s->dirty_since_ms = 0;
	if (head_write(s->state_fd, &s->chain.state, head, e) < 0)
		return store_is_full(e) ? 0 : -1;
	return 0;
}

/* The shortest that a supervisor asks for; 0: none does. */
static uint64_t tick_ms(const struct signer *s)
{
	uint64_t shortest = 0;

	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++) {
		const struct signer_link *link = &s->links[i];
		uint64_t ms = (uint64_t)link->hello.tick_s * MS_PER_S;

		if (link->id != 0 && link->greeted && ms != 0 &&
		    (shortest == 0 || ms < shortest))
			shortest = ms;
	}
	return shortest;
}

/* When silence is to be recorded; 0: never.  Who has recorded nothing so far is
 * not silent but unused. */
static uint64_t tick_due(const struct signer *s)
{
	uint64_t every = tick_ms(s);

	if (every == 0 || s->chain.epoch_since_ms == 0)
		return 0;
	return s->chain.state.mono_us / 1000 + every;
}

static int tick(struct signer *s, struct error *e)
{
	uint64_t due = tick_due(s);

	if (due == 0 || chain_now_ms() < due)
		return 0;
	chain_begin(&s->chain);
	if (chain_tick(&s->chain, e) == 0)
		return commit(s, e);
	/* A full disk says so itself: no record, and the next is asked for. */
	return e->kind == ERROR_LIMIT ? 0 : -1;
}

static int housekeep(struct signer *s, struct error *e)
{
	const char *due = chain_epoch_due(&s->chain);

	if (due != NULL && end_epoch(s, due, e) < 0)
		return -1;
	if (tick(s, e) < 0)
		return -1;
	if (s->dirty_since_ms != 0 &&
	    chain_now_ms() - s->dirty_since_ms >= STORE_SYNC_MS)
		return sync_all(s, STORE_LAZY, e);
	return 0;
}

/* How long may poll sleep?  Each deadline as "when it is due". */
static int timeout_ms(const struct signer *s)
{
	uint64_t now = chain_now_ms();
	uint64_t due = now + CHAIN_EPOCH_MS;
	const uint64_t deadlines[] = {
		has_links(s) ? 0 : s->idle_since_ms + s->linger_ms,
		s->dirty_since_ms == 0 ? 0 : s->dirty_since_ms + STORE_SYNC_MS,
		find_orphan(s, &s->chain.state) == 0 ? 0 : now + ORPHAN_MS,
		s->chain.state.ours ? s->chain.epoch_since_ms + CHAIN_EPOCH_MS
		                    : 0,
		tick_due(s),
	};

	for (size_t i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
		if (deadlines[i] != 0 && deadlines[i] < due)
			due = deadlines[i];
	return due > now ? (int)(due - now) : 0;
}

static int wait_for_work(struct signer *s, struct error *e)
{
	struct pollfd fds[POLL_FDS];
	struct signalfd_siginfo info;

	fds[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = s->listen_fd, .events = POLLIN };
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		fds[2 + i] = (struct pollfd){
			.fd = s->links[i].id != 0 ? s->links[i].channel.fd : -1,
			.events = POLLIN,
		};
	if (poll(fds, POLL_FDS, timeout_ms(s)) < 0 && errno != EINTR)
		return FAIL_SYS(e, "wait for messages");
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		s->links[i].readable = fds[2 + i].revents != 0;
	if (fds[1].revents != 0)
		signer_accept(s);
	if (fds[0].revents != 0 &&
	    read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		s->stop = true;
	return 0;
}

/* Without channels for long enough?  Then nobody is in the queue either:
 * poll would have told. */
static bool is_idle(struct signer *s)
{
	if (has_links(s)) {
		s->idle_since_ms = chain_now_ms();
		return false;
	}
	return chain_now_ms() - s->idle_since_ms >= s->linger_ms;
}

/* Whoever is connected sees its channel close; its open runs are aborted. */
static int finish(struct signer *s, struct error *e)
{
	(void)close(s->listen_fd);
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		signer_drop(&s->links[i]);
	do {
		chain_begin(&s->chain);
		if (abort_orphans(s, e) < 0)
			return -1;
		if (s->chain.draft.ours &&
		    find_orphan(s, &s->chain.draft) == 0 &&
		    chain_end_epoch(&s->chain, "stop", e) < 0)
			return -1;
		if (chain_commit(&s->chain, e) < 0 ||
		    chain_settle(&s->chain, e) < 0)
			return -1;
	} while (find_orphan(s, &s->chain.state) != 0);
	if (sync_all(s, STORE_SYNC, e) < 0)
		return -1;
	return store_release(&s->chain.store, e);
}

int signer_serve(struct signer *s, struct error *e)
{
	s->idle_since_ms = chain_now_ms();
	while (!s->stop) {
		if (wait_for_work(s, e) < 0)
			return -1;
		chain_begin(&s->chain);
		if (gather(s, e) < 0 || commit(s, e) < 0 || housekeep(s, e) < 0)
			return -1;
		if (is_idle(s))
			break;
	}
	return finish(s, e);
}
