/*
 * executor/uids.h - the fixed range of user and group ids that we use when we
 * run as root from source (packages make system users instead).  Uid and gid
 * of a role have the same number.  Nobody else's ids lie here: above every
 * range that Debian, systemd and subuid(5) hand out.
 */
#ifndef EXECUTOR_UIDS_H
#define EXECUTOR_UIDS_H

#define UIDS_FIRST     1900000000u
#define UIDS_LAST      1900065535u

#define UID_SUPERVISOR (UIDS_FIRST + 0u)
#define UID_SIGNER     (UIDS_FIRST + 1u)
#define UID_COLLECT    (UIDS_FIRST + 2u)
#define UID_OPENER     (UIDS_FIRST + 3u)
#define UID_SCREEN     (UIDS_FIRST + 4u)
#define UID_TRACER     (UIDS_FIRST + 5u)
#define UID_SYNCER     (UIDS_FIRST + 6u)

/* Pair number n of a run: pid 1 gets UID_PAIR(n), the program one more. */
#define UID_PAIR(n) (UIDS_FIRST + 8u + 2u * (n))
#define UID_PAIRS   ((UIDS_LAST - UIDS_FIRST - 8u + 1u) / 2u)

/* As seen inside a run's user namespace. */
#define UID_INSIDE_PROGRAM 1000u
#define UID_INSIDE_INIT    1001u

#endif
