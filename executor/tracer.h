/*
 * executor/tracer.h - what a supervisor and its bailiff-tracer say to each
 * other.
 *
 * The tracer is started once, by the supervisor as root, with a channel.  It
 * loads its programs into the kernel, gives up every privilege, proves with a
 * child of its own that it sees what it must see, and says READY; FAILED with
 * run 0 is the reason why there is no tracing on this host.
 *
 * One run: WATCH names the control group before the program's first
 * instruction and brings the file to write to; WATCHING lets it go.  FINISH
 * comes when nothing of the run is alive; FINISHED says what is in the file.
 * The tracer decides nothing: who watches it is to kill what it watched when
 * its channel closes.
 */
#ifndef EXECUTOR_TRACER_H
#define EXECUTOR_TRACER_H

#include <stdint.h>

#include "base/wire.h"

#define TRACER_CHANNEL_FD 3
#define TRACER_NOTE_MAX   256
#define TRACER_NAME_MAX   40

enum tracer_verb {
	TRACER_WATCH = 1, /* 1 descriptor: an empty file, open for writing */
	TRACER_FINISH,
};
enum tracer_reply_verb {
	TRACER_READY = 1,
	TRACER_WATCHING,
	TRACER_FINISHED,
	TRACER_FAILED,
};

struct tracer_watch {
	uint64_t run;   /* chosen by the supervisor; never 0, never twice */
	uint64_t group; /* id of its control group on the v2 hierarchy */
	char name[TRACER_NAME_MAX]; /* run id, for the head of the file */
	uint32_t packed;            /* 1: the file is to be gzip */
};

struct tracer_finish {
	uint64_t run;
	/* 1: something of it may be alive, so its place is not used again. */
	uint32_t undead;
};

struct tracer_ready {
	uint64_t load_us; /* what loading took */
};

struct tracer_watching {
	uint64_t run;
};

struct tracer_finished {
	uint64_t run;
	uint32_t complete; /* 1: the books balance and nothing was left out */
	uint64_t events, bytes;
	uint8_t sha256[32]; /* of all lines */
	uint64_t lost;
	char note[TRACER_NOTE_MAX]; /* why not complete, else "" */
	uint64_t stored_bytes;      /* of the file: the same if it is plain */
	uint8_t stored_sha256[32];
};

struct tracer_failed {
	uint64_t run; /* 0: the tracer itself */
	uint32_t saved_errno;
	char text[TRACER_NOTE_MAX];
};

extern const struct wire_protocol tracer_protocol;
extern const struct wire_protocol tracer_reply_protocol;

#endif
