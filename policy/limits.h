/*
 * policy/limits.h - the table of limits: every number that a policy bounds and
 * a request may ask for.
 */
#ifndef POLICY_LIMITS_H
#define POLICY_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum limit_id {
	LIMIT_WALL_MS,
	LIMIT_CPU_MS,
	LIMIT_MEMORY,        /* bytes, of the whole tree */
	LIMIT_PIDS,          /* processes and threads of the whole tree */
	LIMIT_OPEN_FILES,    /* RLIMIT_NOFILE */
	LIMIT_FILE_SIZE,     /* bytes, RLIMIT_FSIZE */
	LIMIT_SCRATCH_BYTES, /* of /sandbox, /tmp and /dev/shm together */
	LIMIT_SCRATCH_INODES,
	LIMIT_STDOUT, /* bytes kept as head; the tail is kept apart */
	LIMIT_STDERR,
	LIMIT_OUTPUT,         /* bytes of both that may be produced at all */
	LIMIT_CODE,           /* bytes */
	LIMIT_STDIN,          /* bytes */
	LIMIT_ARGS,           /* bytes, each argument and a NUL */
	LIMIT_INPUTS,         /* files */
	LIMIT_INPUT_BYTES,    /* of all input files together */
	LIMIT_ARTIFACTS,      /* files */
	LIMIT_ARTIFACT_BYTES, /* of all artifacts together */
	LIMIT_ARTIFACT_DEPTH, /* path components */
	LIMIT_PLOTS,          /* files in /sandbox/plots; 0: no capture, nor is
	                       * there any where LIMIT_ARTIFACTS is 0 */
	LIMIT_PLOT_BYTES,     /* of all plots together */
	LIMIT_N,
};

/* The highest that a policy may make the limit "code". */
#define LIMIT_CODE_MAX 67108864

/* The word "unlimited", only where 'may_be_unlimited' says so. */
#define LIMIT_UNLIMITED UINT64_MAX

struct limit_info {
	const char *name; /* in policies, requests, records: "wall_ms" */
	const char *rule; /* in rule ids, without "_ms": limit.wall.above_max */
	uint64_t floor;   /* the least value that makes sense */
	uint64_t ceiling; /* what no policy may exceed */
	uint64_t fallback_default, fallback_max; /* when a policy is silent */
	int may_be_unlimited;
};

extern const struct limit_info limit_table[LIMIT_N];

/* LIMIT_N if there is no such name. */
enum limit_id limit_find(const char *name);

#endif
