/*
 * executor/syncer.h - what a supervisor and its bailiff-syncer say to each
 * other.
 *
 * Results are to be on disk within a second, and nobody is to wait for that: a
 * syncfs(2) may last as long as the disk likes.  So a small program of its own
 * does nothing else.  It is started once, by the supervisor as root, with two
 * descriptors, and then holds no way to read or change what it syncs.
 *
 * The supervisor sends SYNC at most once a second, when something was published
 * since the last, and not before the last was answered.  syncfs covers what was
 * written before the call, so SYNCED n vouches for all that was published when
 * SYNC n was sent.
 */
#ifndef EXECUTOR_SYNCER_H
#define EXECUTOR_SYNCER_H

#include <stdint.h>

#include "base/wire.h"

#define SYNCER_CHANNEL_FD 3
#define SYNCER_FOLDER_FD  4 /* a directory of the file system to sync */

enum syncer_verb {
	SYNCER_SYNC = 1
};
enum syncer_reply_verb {
	SYNCER_SYNCED = 1
};

struct syncer_sync {
	uint64_t number; /* comes back in the answer */
};

/*
 * The kernel tells an error of writing back once (syncfs(2)): an answer with
 * one means that some result of ours may not be on disk.
 */
struct syncer_synced {
	uint64_t number;
	uint32_t saved_errno; /* 0: all is on disk */
};

extern const struct wire_protocol syncer_protocol;
extern const struct wire_protocol syncer_reply_protocol;

#endif
