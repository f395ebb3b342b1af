/*
 * executor/patience.h - how long the supervisor waits for whom.  Whoever needs
 * longer is taken for dead: what can be killed is killed, the run fails with
 * the step named, and nobody waits for ever.
 *
 * Each is far above what a swamped machine needs and below what a person sits
 * through; those that may follow each other stay below 40 seconds together, so
 * that a test can wait for them.
 */
#ifndef EXECUTOR_PATIENCE_H
#define EXECUTOR_PATIENCE_H

#include <stdint.h>

#define PATIENCE_SECOND UINT64_C(1000000) /* in microseconds, as all here */

/* BUILD to READY.  Copies a view's files and mounts it: milliseconds, but it is
 * the first touch of everything and happens once. */
#define PATIENCE_BUILD (60 * PATIENCE_SECOND)

/* RUN to STARTED or FAILED.  Milliseconds; half a second with the largest code;
 * 64 at once on two processors some seconds.  One clone may hang and the
 * launcher be well, so the run is given up and RELEASE asks for its end. */
#define PATIENCE_LAUNCH (20 * PATIENCE_SECOND)

/* RELEASE to RELEASED or FAILED.  The launcher itself waits at most ten seconds
 * for the end of a killed run.  Without an answer to this it is killed. */
#define PATIENCE_RELEASE (15 * PATIENCE_SECOND)

/* STARTED to STOPPED or STEP_FAILED.  Pid 1 copies nothing any more. */
#define PATIENCE_STOP (20 * PATIENCE_SECOND)

/* Kill to an empty control group.  A process that sleeps in the kernel dies only
 * when it wakes.  The run ends without results; ids, groups and the slot stay
 * with the launcher. */
#define PATIENCE_DEATH (15 * PATIENCE_SECOND)

/* An event to STORED or REFUSED: one fdatasync, which stands in line with all
 * others of that disk.  Nothing may run unrecorded: the service ends. */
#define PATIENCE_SIGNER (30 * PATIENCE_SECOND)

/* WATCH to WATCHING, FINISH to FINISHED.  What lies in two rings is written down
 * in tens of milliseconds; a tracer that needs longer is killed, and with it all
 * that it watches. */
#define PATIENCE_TRACER (20 * PATIENCE_SECOND)

/* CODE to HITS.  A screen takes milliseconds and is killed by the kernel when it
 * has used its processor time (supervisor_screen.c); this is for one that does
 * not run at all. */
#define PATIENCE_SCREEN (15 * PATIENCE_SECOND)

/* An opener's answer, and each of a collector: they copy one file. */
#define PATIENCE_HELPER (30 * PATIENCE_SECOND)

/* All answers of a collector together. */
#define PATIENCE_COLLECT (60 * PATIENCE_SECOND)

/* SYNC to SYNCED.  Other programs may keep the disk busy for long; results are
 * in danger then, but nobody waits for them. */
#define PATIENCE_SYNC (120 * PATIENCE_SECOND)

/* The same at our end, when whoever stops us sits and waits. */
#define PATIENCE_LAST_SYNC (10 * PATIENCE_SECOND)

#endif
