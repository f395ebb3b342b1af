/*
 * tests/unit/test_posture_text.c - the read-back of a stopped program: what a
 * right one looks like, and that every single wrong fact is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "executor/posture_text.h"

static const struct posture_mount mounts[] = {
	{ "/", "tmpfs", true, false },
	{ "/usr", "tree", true, false },
	{ "/dev", "tmpfs", true, true },
	{ "/sandbox", "tmpfs", false, false },
	{ "/proc", "proc", false, false },
};
static const struct posture_expected expected = {
	.mounts = mounts,
	.n_mounts = 5,
	.open_files = 256,
	.file_size = 67108864,
	.cpu_s = 31,
	.landlock_abi = 7,
	.filters = 1,
	.split = true,
};
static const struct posture_names names = { 1900000009, 1900000008, 7, 9,
	"bailiff/aa/1", &expected };

static const char status[] =
    "Name:\tprogram\nUmask:\t0022\n"
    "Uid:\t1900000009\t1900000009\t1900000009\t1900000009\n"
    "Gid:\t1900000009\t1900000009\t1900000009\t1900000009\n"
    "FDSize:\t64\nGroups:\t \nNStgid:\t7\nSigPnd:\t0000000000000000\n"
    "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
    "SigCgt:\t0000000000000000\n"
    "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
    "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
    "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    "Seccomp_filters:\t1\nSpeculation_Store_Bypass:\tthread vulnerable\n";
static const char init_status[] =
    "Name:\tbailiff-init\n"
    "Uid:\t1900000008\t1900000008\t1900000008\t1900000008\n"
    "SigBlk:\t0000000000010000\nCapInh:\t0000000000000000\n"
    "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
    "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n"
    "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
static const char map[] = "      1000 1900000009          1\n"
                          "      1001 1900000008          1\n";
static const char limits[] =
    "Limit                     Soft Limit           Hard Limit           "
    "Units     \n"
    "Max cpu time              31                   31                   "
    "seconds   \n"
    "Max file size             67108864             67108864             "
    "bytes     \n"
    "Max data size             unlimited            unlimited            "
    "bytes     \n"
    "Max core file size        0                    0                    "
    "bytes     \n"
    "Max open files            256                  256                  "
    "files     \n";
static const char cgroup[] = "8:pids:/bailiff/aa/1\n6:devices:/\n"
                             "4:memory:/outer/bailiff/aa/1\n0::/bailiff/aa/1\n";
static const char mountinfo[] =
    "10 9 0:20 / / ro,nosuid,nodev,relatime - tmpfs none rw,size=64k\n"
    "11 10 254:0 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/vda rw\n"
    "12 10 0:21 / /dev ro,nosuid,noexec shared:3 - tmpfs none ro\n"
    "13 10 0:22 /sandbox /sandbox rw,nosuid,nodev - tmpfs none rw\n"
    "14 10 0:23 / /proc rw,nosuid,nodev - proc none "
    "rw,hidepid=invisible,subset=pid\n";

/* The parts of a text as posture.c puts them together. */
struct parts {
	const char *status, *map, *limits, *cgroup, *mountinfo;
	const char *namespaces, *descriptors, *init;
};
static const struct parts right = { status, map, limits, cgroup, mountinfo,
	"namespace cgroup own\nnamespace ipc own\nnamespace mnt own\n"
	"namespace net own\nnamespace pid own\nnamespace user own\n"
	"namespace uts own\n",
	"descriptors 0 1 2 4094 4095\nlandlock 7\nsteps 9\n", init_status };

static int compare(const struct parts *p, uint64_t *ret_facts, struct error *e)
{
	static char found_text[POSTURE_TEXT_MAX];
	static char expected_text[POSTURE_TEXT_MAX];
	struct text_out found = { found_text, sizeof(found_text) - 1, 0 };
	struct text_out must = { expected_text, sizeof(expected_text) - 1, 0 };

	if (posture_text_status(p->status, &names, &found, e) < 0 ||
	    posture_text_init(p->init, &names, &found, e) < 0 ||
	    text_printf(&found, e, "%s", p->namespaces) < 0 ||
	    posture_text_map("uid_map", p->map, &names, &found, e) < 0 ||
	    posture_text_map("gid_map", p->map, &names, &found, e) < 0 ||
	    posture_text_map("setgroups", "deny\n", &names, &found, e) < 0 ||
	    posture_text_limits(p->limits, &found, e) < 0 ||
	    posture_text_cgroup(p->cgroup, &names, &found, e) < 0 ||
	    text_printf(&found, e, "%s", p->descriptors) < 0 ||
	    posture_text_mounts(p->mountinfo, &names, &found, e) < 0)
		return -1;
	assert_int_equal(posture_text_expected(&expected, &must, e), 0);
	found_text[found.len] = '\0';
	expected_text[must.len] = '\0';
	return posture_text_compare(expected_text, found_text, ret_facts, e);
}

static void a_right_posture_is_accepted_and_counted(void **state)
{
	uint64_t facts = 0;
	struct error e;

	(void)state;
	if (compare(&right, &facts, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(facts, 14 + 6 + 7 + 5 + 4 + 3 + 3 + 5);
}

/* Replace 'from' by 'to' once in a copy of 'text'; the caller frees. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	size_t size = strlen(text) + strlen(to) + 1;
	char *copy = malloc(size);

	assert_non_null(at);
	assert_non_null(copy);
	(void)snprintf(copy, size, "%.*s%s%s", (int)(at - text), text, to,
	    at + strlen(from));
	return copy;
}

static const struct {
	size_t part; /* offset in struct parts */
	const char *from, *to;
} wrong[] = {
#define S offsetof(struct parts, status)
	{ S, "Uid:\t1900000009", "Uid:\t0" },
	{ S, "1900000009\nGid", "1900000008\nGid" },
	{ S, "Gid:\t1900000009", "Gid:\t1000" },
	{ S, "Groups:\t ", "Groups:\t0 " },
	{ S, "SigIgn:\t0000000000000000", "SigIgn:\t0000000000001000" },
	{ S, "SigBlk:\t0", "SigBlk:\t4" },
	{ S, "SigCgt:\t0", "SigCgt:\t8" },
	{ S, "CapInh:\t0", "CapInh:\t1" },
	{ S, "CapPrm:\t0", "CapPrm:\t8" },
	{ S, "CapEff:\t0", "CapEff:\t8" },
	{ S, "CapBnd:\t0000000000000000", "CapBnd:\t000001ffffffffff" },
	{ S, "CapAmb:\t0", "CapAmb:\t2" },
	{ S, "NoNewPrivs:\t1", "NoNewPrivs:\t0" },
	{ S, "Seccomp:\t2", "Seccomp:\t0" },
	{ S, "Seccomp_filters:\t1", "Seccomp_filters:\t0" },
	{ S, "Seccomp_filters:\t1\n", "" },
#define P(m) offsetof(struct parts, m)
	{ P(map), "1000 1900000009", "0 1900000009" },
	{ P(map), "1000 1900000009          1", "0 0 4294967295" },
	{ P(map), "      1001 1900000008          1\n", "" },
	{ P(limits), "31  ", "300 " },
	{ P(limits), "67108864", "unlimited" },
	{ P(limits), "256                  256", "256                  4096" },
	{ P(limits), "size        0", "size        unlimited" },
	{ P(cgroup), "0::/bailiff/aa/1", "0::/" },
	{ P(cgroup), "0::/bailiff/aa/1", "0::/bailiff/aa/11" },
	{ P(cgroup), "pids:/bailiff/aa/1", "pids:/" },
	{ P(cgroup), "4:memory:/outer/bailiff/aa/1\n", "" },
	{ P(namespaces), "net own", "net shared" },
	{ P(namespaces), "namespace user own\n", "" },
	{ P(descriptors), "landlock 7", "landlock 6" },
	{ P(descriptors), "steps 9", "steps 8" },
	{ P(init), "Uid:\t1900000008", "Uid:\t0" },
	{ P(init), "CapPrm:\t0", "CapPrm:\t8" },
	{ P(init), "CapEff:\t0", "CapEff:\t8" },
	{ P(init), "CapBnd:\t0", "CapBnd:\t8" },
	{ P(init), "NoNewPrivs:\t1", "NoNewPrivs:\t0" },
	{ P(init), "Seccomp:\t2", "Seccomp:\t0" },
	{ P(mountinfo), ",subset=pid", "" },
	{ P(mountinfo), "hidepid=invisible,", "" },
	{ P(descriptors), "0 1 2 ", "0 1 2 3 " },
	{ P(mountinfo), "/ / ro", "/ / rw" },
	{ P(mountinfo), "/usr ro", "/usr rw" },
	{ P(mountinfo), "/usr ro,nosuid", "/usr ro" },
	{ P(mountinfo), "nosuid,nodev - tmpfs", "nosuid - tmpfs" },
	{ P(mountinfo), "/sandbox rw", "/home rw" },
	{ P(mountinfo), "/sandbox rw,nosuid,nodev - tmpfs",
	    "/sandbox rw,nosuid,nodev - ext4" },
	{ P(mountinfo), "13 10",
	    "14 10 0:9 / /host rw - ext4 /dev/vda rw\n13 10" },
	{ P(mountinfo), "13 10",
	    "13 10 0:22 / /proc rw - proc proc rw\n13 10" },
};

static void every_single_wrong_fact_is_noticed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct parts p = right;
		const char *text;
		char *changed;
		uint64_t facts;
		struct error e;

		memcpy(
		    &text, (const char *)&right + wrong[i].part, sizeof(text));
		changed = replaced(text, wrong[i].from, wrong[i].to);
		memcpy((char *)&p + wrong[i].part, &changed, sizeof(changed));
		if (compare(&p, &facts, &e) == 0)
			fail_msg("'%s' instead of '%s' was accepted",
			    wrong[i].to, wrong[i].from);
		free(changed);
	}
}

static void more_mounts_than_the_table_holds_is_an_error(void **state)
{
	static const char line[] = "10 9 0:20 / /x ro - tmpfs none rw\n";
	char *many = malloc((POSTURE_MOUNTS_MAX + 1) * sizeof(line));
	char out[64];
	struct text_out to = { out, sizeof(out), 0 };
	struct error e;

	(void)state;
	assert_non_null(many);
	many[0] = '\0';
	for (size_t i = 0; i <= POSTURE_MOUNTS_MAX; i++)
		memcpy(many + i * (sizeof(line) - 1), line, sizeof(line));
	assert_int_equal(posture_text_mounts(many, &names, &to, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	free(many);
}

static void a_mount_line_that_is_none_is_an_error(void **state)
{
	char out[256];
	struct error e;

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		static const char *const bad[] = { "x\n", "\n",
			"1 2 3 4 5 6 7\n", "1 2 3 4 5 6 -\n",
			"1 2 3 4 5 6 - t\n", "1 2 3 4 5 6 - t s\n", " \n",
			"- - - - - - - -\n", "1 2 3\n1 2\n" };
		struct text_out to = { out, sizeof(out), 0 };

		assert_int_equal(
		    posture_text_mounts(bad[i], &names, &to, &e), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_posture_is_accepted_and_counted),
		cmocka_unit_test(every_single_wrong_fact_is_noticed),
		cmocka_unit_test(more_mounts_than_the_table_holds_is_an_error),
		cmocka_unit_test(a_mount_line_that_is_none_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
