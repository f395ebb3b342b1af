/*
 * executor/patience.h - how long the supervisor waits for whom.  Whoever needs
 * longer is taken for dead: what can be killed is killed, the run fails with
 * the step named, and nobody waits for ever.  Microseconds.
 *
 * Each number is far above what a swamped machine needs and below what a person
 * would sit through; two that follow each other stay below 40 seconds, so that
 * a test can wait for them.
 */
#ifndef EXECUTOR_PATIENCE_H
#define EXECUTOR_PATIENCE_H

#include <stdint.h>

/* Another program's results may have the disk busy for a while; while it is
 * out, results are not on disk and nothing else is wrong. */
#define PATIENCE_SYNC_US UINT64_C(120000000)

/* At our end: whoever stops us sits and waits. */
#define PATIENCE_LAST_SYNC_US UINT64_C(10000000)

#endif
