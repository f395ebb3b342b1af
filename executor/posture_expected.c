/*
 * executor/posture_expected.c - what the posture must be, and the comparison.
 * Linked by the supervisor; pure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/posture_text.h"
#include "policy/filter.h"
#include "policy/limits.h"

/* In the order in which posture_text_status finds them. */
static const char status_ids[] = "status Uid program program program program\n"
                                 "status Gid program program program program\n";

static const char status_must[] = "status SigBlk 0000000000000000\n"
                                  "status SigIgn 0000000000000000\n"
                                  "status SigCgt 0000000000000000\n"
                                  "status CapInh 0000000000000000\n"
                                  "status CapPrm 0000000000000000\n"
                                  "status CapEff 0000000000000000\n"
                                  "status CapBnd 0000000000000000\n"
                                  "status CapAmb 0000000000000000\n"
                                  "status NoNewPrivs 1\n"
                                  "status Seccomp 2\n";

static const char init_ids[] = "init Uid init init init init\n";

static const char init_must[] = "init CapPrm 0000000000000000\n"
                                "init CapEff 0000000000000000\n"
                                "init CapBnd 0000000000000000\n"
                                "init NoNewPrivs 1\n"
                                "init Seccomp 2\n";

static const char ids_must[] = "uid_map 1000 program 1\n"
                               "uid_map 1001 init 1\n"
                               "gid_map 1000 program 1\n"
                               "gid_map 1001 init 1\n"
                               "setgroups deny\n";

/* Without root: one id, which is the program's and pid 1's. */
static const char own_init_ids[] = "init Uid program program program program\n";
static const char own_ids_must[] = "uid_map 1000 program 1\n"
                                   "gid_map 1000 program 1\n"
                                   "setgroups deny\n";

static const char namespaces_must[] = "namespace cgroup own\n"
                                      "namespace ipc own\n"
                                      "namespace mnt own\n"
                                      "namespace net own\n"
                                      "namespace pid own\n"
                                      "namespace user own\n"
                                      "namespace uts own\n";

static int put_limit(
    const char *name, uint64_t value, struct text_out *out, struct error *e)
{
	if (value == LIMIT_UNLIMITED)
		return text_printf(
		    out, e, "limit %s unlimited unlimited\n", name);
	return text_printf(
	    out, e, "limit %s %" PRIu64 " %" PRIu64 "\n", name, value, value);
}

static int compare_mounts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int put_mounts(
    const struct posture_expected *x, struct text_out *out, struct error *e)
{
	char(*lines)[POSTURE_LINE_MAX] =
	    malloc(sizeof(*lines) * POSTURE_MOUNTS_MAX);
	int failed = 0;

	if (lines == NULL)
		return FAIL_SYS(e, "allocate a mount table");
	for (size_t i = 0; i < x->n_mounts; i++) {
		const struct posture_mount *m = &x->mounts[i];

		(void)snprintf(lines[i], sizeof(lines[i]),
		    "mount %s %s %s nosuid %s\n", m->point, m->type,
		    m->read_only ? "ro" : "rw", m->devices ? "dev" : "nodev");
	}
	if (x->n_mounts > 0)
		qsort(lines, x->n_mounts, sizeof(lines[0]), compare_mounts);
	for (size_t i = 0; failed == 0 && i < x->n_mounts; i++)
		failed = text_printf(out, e, "%s", lines[i]);
	free(lines);
	return failed;
}

static int put_bounds(
    const struct posture_expected *x, struct text_out *out, struct error *e)
{
	const char *v1 = x->split ? "run" : "absent";

	if (put_limit("cpu", x->cpu_s, out, e) < 0 ||
	    put_limit("file_size", x->file_size, out, e) < 0 ||
	    text_printf(out, e, "limit core none none\n") < 0 ||
	    put_limit("open_files", x->open_files, out, e) < 0)
		return -1;
	if (x->lone && x->own != NULL)
		return put_limit("memory", x->own->memory, out, e);
	return text_printf(out, e,
	    "cgroup v2 run\ncgroup memory %s\ncgroup pids %s\n", v1, v1);
}

int posture_text_expected(
    const struct posture_expected *x, struct text_out *out, struct error *e)
{
	const char *groups = x->own != NULL ? x->own->groups : "";
	const char *maps = x->own != NULL ? own_ids_must : ids_must;
	const char *init = x->own != NULL ? own_init_ids : init_ids;

	if (x->n_mounts > POSTURE_MOUNTS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d mounts in the view",
		    POSTURE_MOUNTS_MAX);
	if (text_printf(out, e, "%sstatus Groups%s\n%s", status_ids, groups,
	        status_must) < 0 ||
	    text_printf(out, e, "status Seccomp_filters %u\n%s%s%s%s",
	        x->filters, init, init_must, namespaces_must, maps) < 0 ||
	    put_bounds(x, out, e) < 0)
		return -1;
	if (text_printf(out, e,
	        "descriptors 0 1 2 %d %d\nlandlock %u\nsteps %d\n",
	        FILTER_PROGRAM_FD - 1, FILTER_PROGRAM_FD, x->landlock_abi,
	        LAUNCH_CONFINE_STEPS) < 0)
		return -1;
	return put_mounts(x, out, e);
}

int posture_text_compare(const char *expected, const char *found,
    uint64_t *ret_facts, struct error *e)
{
	uint64_t facts = 0;

	while (*expected != '\0' || *found != '\0') {
		size_t n = strcspn(expected, "\n");
		size_t m = strcspn(found, "\n");

		if (n != m || memcmp(expected, found, n) != 0)
			return FAIL(e, ERROR_STATE,
			    "posture: '%.*s' where '%.*s' must be",
			    (int)(m < 200 ? m : 200), found,
			    (int)(n < 200 ? n : 200), expected);
		facts++;
		expected += n + (expected[n] == '\n');
		found += m + (found[m] == '\n');
	}
	*ret_facts = facts;
	return 0;
}
