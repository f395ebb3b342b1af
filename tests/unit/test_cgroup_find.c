/*
 * tests/unit/test_cgroup_find.c - texts of /proc/self/mountinfo as hosts have
 * them, and what we make of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "executor/cgroup_find.h"

static const char pure_v2[] =
    "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "24 22 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "29 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - "
    "cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

static const char hybrid[] =
    "30 24 0:27 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:28 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n"
    "32 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
    "33 30 0:30 / /sys/fs/cgroup/memory rw shared:1 master:2 - cgroup cgroup "
    "rw,memory\n"
    "34 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "35 30 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

static const char v1[] =
    "33 30 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "35 30 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

static void pure_v2_has_one_place(void **state)
{
	struct cgroup_places p;
	enum cgroup_mode mode;
	struct error e;

	(void)state;
	cgroup_find(pure_v2, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "/sys/fs/cgroup");
	assert_string_equal(p.path[CGROUP_MEMORY], "");
	assert_int_equal(
	    cgroup_judge(&p, "cpuset cpu io memory pids\n", &mode, &e), 0);
	assert_int_equal(mode, CGROUP_V2);
	assert_string_equal(cgroup_mode_word(mode), "v2");
}

static void hybrid_has_three_places(void **state)
{
	struct cgroup_places p;
	enum cgroup_mode mode;
	struct error e;

	(void)state;
	cgroup_find(hybrid, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "/sys/fs/cgroup/unified");
	assert_string_equal(p.path[CGROUP_MEMORY], "/sys/fs/cgroup/memory");
	assert_string_equal(p.path[CGROUP_PIDS], "/sys/fs/cgroup/pids");
	assert_int_equal(cgroup_judge(&p, "", &mode, &e), 0);
	assert_int_equal(mode, CGROUP_HYBRID);
}

static void v1_alone_is_enough(void **state)
{
	struct cgroup_places p;
	enum cgroup_mode mode;
	struct error e;

	(void)state;
	cgroup_find(v1, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "");
	assert_int_equal(cgroup_judge(&p, "", &mode, &e), 0);
	assert_int_equal(mode, CGROUP_V1);
}

static void one_controller_on_v2_is_not_both(void **state)
{
	struct cgroup_places p;
	enum cgroup_mode mode;
	struct error e;

	(void)state;
	cgroup_find(pure_v2, &p);
	/* "pids_not" must not pass for "pids". */
	assert_int_equal(cgroup_judge(&p, "memory pids_not\n", &mode, &e), -1);
	assert_int_equal(e.kind, ERROR_UNAVAILABLE);
	assert_int_equal(cgroup_judge(&p, "", &mode, &e), -1);
}

static void nothing_mounted_is_unavailable(void **state)
{
	struct cgroup_places p;
	enum cgroup_mode mode;
	struct error e;

	(void)state;
	cgroup_find("", &p);
	assert_int_equal(cgroup_judge(&p, "", &mode, &e), -1);
	assert_int_equal(e.kind, ERROR_UNAVAILABLE);
}

static void the_first_of_several_mounts_counts(void **state)
{
	static const char text[] = "1 0 0:1 / /a rw - cgroup2 cgroup2 rw\n"
	                           "2 0 0:1 / /b rw - cgroup2 cgroup2 rw\n";
	struct cgroup_places p;

	(void)state;
	cgroup_find(text, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "/a");
}

static void odd_lines_are_passed_over(void **state)
{
	static const char text[] =
	    "\n"
	    "1 2 3\n"
	    "1 0 0:1 / /no dash cgroup2 cgroup2 rw\n"
	    "1 0 0:1 / /cut rw -\n"
	    "1 0 0:1 / /cut rw - cgroup2\n"
	    "1 0 0:1 / /with\\040blank rw - cgroup2 cgroup2 rw\n"
	    "1 0 0:1 / /memory rw - ext4 /dev/x rw,memory,pids\n"
	    "1 0 0:1 / /right rw - cgroup2 cgroup2 rw";
	struct cgroup_places p;

	(void)state;
	cgroup_find(text, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "/right");
	assert_string_equal(p.path[CGROUP_MEMORY], "");
}

static void a_very_long_line_is_passed_over(void **state)
{
	static char text[9000];
	struct cgroup_places p;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + 8000, "\n1 0 0:1 / /c rw - cgroup2 cgroup2 rw\n", 38);
	text[8038] = '\0';
	cgroup_find(text, &p);
	assert_string_equal(p.path[CGROUP_UNIFIED], "/c");
}

static void our_own_group_is_found_in_each_hierarchy(void **state)
{
	static const char text[] = "9:name=systemd:/\n8:pids:/\n"
	                           "5:cpu,memory:/a b/c\n0::/user.slice/x\n";
	char path[CGROUP_PATH_MAX];

	(void)state;
	assert_true(cgroup_own_path(text, CGROUP_UNIFIED, path));
	assert_string_equal(path, "/user.slice/x");
	assert_true(cgroup_own_path(text, CGROUP_MEMORY, path));
	assert_string_equal(path, "/a b/c");
	assert_true(cgroup_own_path(text, CGROUP_PIDS, path));
	assert_string_equal(path, "");
}

static void a_group_that_is_not_there_is_not_ours(void **state)
{
	static char text[600] = "0::/";
	char path[CGROUP_PATH_MAX] = "as it was";

	(void)state;
	assert_false(cgroup_own_path("", CGROUP_UNIFIED, path));
	assert_false(cgroup_own_path("0::\n", CGROUP_UNIFIED, path));
	assert_false(cgroup_own_path("8:pids:/x\n", CGROUP_MEMORY, path));
	assert_false(cgroup_own_path("8:pids,:/x\n", CGROUP_MEMORY, path));
	assert_false(cgroup_own_path("0::/../x\n", CGROUP_UNIFIED, path));
	memset(text + 4, 'x', sizeof(text) - 5);
	assert_false(cgroup_own_path(text, CGROUP_UNIFIED, path));
	assert_string_equal(path, "as it was");
}

static void only_two_processes_are_ours(void **state)
{
	static const struct cgroup_ours ours = { 17, 4 };

	(void)state;
	assert_true(cgroup_only_ours("", &ours));
	assert_true(cgroup_only_ours("4\n17\n", &ours));
	assert_false(cgroup_only_ours("4\n170\n", &ours));
	assert_false(cgroup_only_ours("4\n17\n1\n", &ours));
	/* Of another pid namespace, or cut off. */
	assert_false(cgroup_only_ours("0\n", &ours));
	assert_false(cgroup_only_ours("4\n17", &ours));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pure_v2_has_one_place),
		cmocka_unit_test(hybrid_has_three_places),
		cmocka_unit_test(v1_alone_is_enough),
		cmocka_unit_test(one_controller_on_v2_is_not_both),
		cmocka_unit_test(nothing_mounted_is_unavailable),
		cmocka_unit_test(the_first_of_several_mounts_counts),
		cmocka_unit_test(odd_lines_are_passed_over),
		cmocka_unit_test(a_very_long_line_is_passed_over),
		cmocka_unit_test(our_own_group_is_found_in_each_hierarchy),
		cmocka_unit_test(a_group_that_is_not_there_is_not_ours),
		cmocka_unit_test(only_two_processes_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
