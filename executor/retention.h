/*
 * executor/retention.h - which finished results the policy keeps no longer.
 * Private to the supervisor.
 *
 * The policy is that of a service; results/ is shared by all services of a
 * state directory.  So each looks after the runs that were made under policies
 * of its own policy's name, whatever their text was then.
 */
#ifndef EXECUTOR_RETENTION_H
#define EXECUTOR_RETENTION_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/event.h"
#include "executor/removal.h"

/* Nothing younger is removed, whatever the policy says: a client may still be
 * reading what it has just made. */
#define RETENTION_FLOOR_S 600
/* The oldest that one pass remembers; what it does not, the next one finds. */
#define RETENTION_OLDEST_MAX 1024

struct retention_folder {
	uint8_t run[EVENT_RUN_BYTES];
	uint64_t when_s; /* published, since 1970 */
	uint64_t bytes;
	bool is_chosen;
};

/* What one pass over results/ found. */
struct retention {
	DIR *dir;           /* owned; NULL between passes */
	uint64_t bytes;     /* of all folders of this policy's name */
	size_t n, youngest; /* of oldest[]; the place that is given up next */
	bool is_full;       /* there were more than oldest[] holds */
	struct retention_folder oldest[RETENTION_OLDEST_MAX];
};

struct retention_rules {
	const char *policy; /* name; borrowed */
	uint64_t keep_s;    /* UINT64_MAX: for ever */
	uint64_t max_bytes; /* UINT64_MAX: any */
};

int retention_begin(
    struct retention *r, int results_fd, struct error *e) MUST_CHECK;

/* Look at up to 'budget' folders; *ret_more while some are left. */
int retention_look(struct retention *r, const struct retention_rules *rules,
    size_t budget, bool *ret_more, struct error *e) MUST_CHECK;

/*
 * The next folders to go, oldest first, at most EVENT_BATCH_MAX and all for one
 * reason; 0 of them: nothing is left to do.  Fills ticket-less 'ret'.
 */
size_t retention_choose(struct retention *r,
    const struct retention_rules *rules, uint64_t now_s,
    struct event_prune *ret);

void retention_end(struct retention *r); /* between passes too */

#endif
