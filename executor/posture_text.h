/*
 * executor/posture_text.h - the posture of a stopped program as text, one fact
 * a line: what it must be, and what /proc says it is.  Pure: the caller reads
 * the files.  Both texts name ids and the cgroup by their role ("program",
 * "run"), so one policy has one text, and its digest can be compared between
 * runs by an auditor.
 */
#ifndef EXECUTOR_POSTURE_TEXT_H
#define EXECUTOR_POSTURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "executor/launch.h"

#define POSTURE_MOUNTS_MAX 96
#define POSTURE_TEXT_MAX   32768
#define POSTURE_LINE_MAX   512

struct posture_mount {
	char point[LAUNCH_PATH_MAX]; /* absolute, in the view */
	char type[16]; /* "tmpfs", "proc"; "tree": any type, part of the host */
	bool read_only; /* the mount or its file system */
	bool devices;   /* device files work: /dev alone */
};

/* Without root: the one identity there is, and what bounds memory where no
 * control group does. */
struct posture_own {
	uint32_t gid;       /* of the account */
	const char *groups; /* its supplementary ones, each behind a space */
	uint64_t memory;    /* private data, hard and soft alike */
};

struct posture_expected {
	/* The whole mount table; borrowed. */
	const struct posture_mount *mounts;
	size_t n_mounts;
	uint64_t open_files, file_size, cpu_s; /* hard and soft alike */
	uint32_t landlock_abi; /* of this host, all of it in force */
	uint32_t filters;      /* of seccomp in force, inherited ones too */
	bool split;            /* limits in cgroup v1 beside the v2 leaf */
	const struct posture_own *own; /* NULL: root's mode; borrowed */
	bool lone; /* in no control group; 'own' is there then */
};

/* The numbers that the texts replace by names. */
struct posture_names {
	uint32_t program_uid, init_uid;
	/* No file of /proc tells this one: the program proved it by a file that
	 * it may not open, and says so. */
	uint32_t landlock_abi;
	uint32_t steps;     /* rows it applied and proved */
	const char *cgroup; /* of STARTED; borrowed */
	const struct posture_expected *expected; /* borrowed: types of trees */
};

/* Append the text that posture must be. */
int posture_text_expected(const struct posture_expected *x,
    struct text_out *out, struct error *e) MUST_CHECK;

/* Append the facts of one file of /proc/<pid>, given as NUL-ended text. */
int posture_text_status(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e) MUST_CHECK;
/* The same of /proc/<pid>/status of its parent, pid 1 of the run. */
int posture_text_init(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e) MUST_CHECK;
int posture_text_map(const char *what, const char *text,
    const struct posture_names *names, struct text_out *out,
    struct error *e) MUST_CHECK;
int posture_text_limits(
    const char *text, struct text_out *out, struct error *e) MUST_CHECK;
int posture_text_memory(
    const char *text, struct text_out *out, struct error *e) MUST_CHECK;
int posture_text_cgroup(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e) MUST_CHECK;
int posture_text_mounts(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e) MUST_CHECK;

/*
 * ERROR_STATE naming the first line that differs; else 0 and the number of
 * facts.  Both texts are NUL-ended.
 */
int posture_text_compare(const char *expected, const char *found,
    uint64_t *ret_facts, struct error *e) MUST_CHECK;

#endif
