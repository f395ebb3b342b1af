/*
 * executor/removal.h - finished results leave: a folder at a time out of
 * results/ in one rename, then file by file, a few in each turn of the loop.
 * Private to the supervisor.
 *
 *   results/.pruning/   folders on their way out; whatever is found here at a
 *                       start goes too
 *   results/.pruned     who was removed: one line of PRUNED_LINE bytes each, for
 *   results/.pruned.old those who ask; the log is the evidence, not this
 */
#ifndef EXECUTOR_REMOVAL_H
#define EXECUTOR_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/event.h"

/* "r_<32 digits> <uid> <seconds since 1970> <why>\n", padded. */
#define PRUNED_LINE 80
/* At this size a new list is begun and the one before the last forgotten. */
#define PRUNED_BYTES_MAX (UINT64_C(4) << 20)

struct removal_note {
	uint8_t run[EVENT_RUN_BYTES];
	uint32_t uid;    /* of the principal it belonged to */
	uint64_t when_s; /* since 1970 */
	char why[16];    /* a key of the policy, or "redact" */
};

/* "r_" and hex. */
void removal_run_id(const uint8_t run[EVENT_RUN_BYTES], char ret[40]);

/*
 * After the record that says so: note it, then take the folder out of results/.
 * A folder that is gone already is removed.
 */
int removal_take(int results_fd, const struct removal_note *note,
    struct error *e) MUST_CHECK;

/* Was it removed by a record?  False also where nobody knows any more. */
bool removal_find(int results_fd, const char *run_id, struct removal_note *ret);

/*
 * Unlink up to 'budget' names beneath .pruning; *ret_more when some are left.
 * Nothing is followed: what is no directory is unlinked by its name in a
 * directory that was opened without links.
 */
int removal_step(
    int results_fd, size_t budget, bool *ret_more, struct error *e) MUST_CHECK;

#endif
