/*
 * tests/unit/test_jail.c - a process in its jail, for real: each case forks a
 * child that enters one and tries something.
 */
#include "base/jail.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"

/* Enough to try what must fail, and to say so by the exit code. */
static const struct jail_call calls[] = {
	{ __NR_openat, JAIL_ANY, 0 },
	{ __NR_fcntl, 1, F_GETFD },
	{ __NR_exit_group, JAIL_ANY, 0 },
};

static const struct jail nothing = {
	.read_fd = -1,
	.n_calls = sizeof(calls) / sizeof(calls[0]),
	.calls = calls,
};

/* The wait status of a child that entered 'j' and did 'attempt'. */
static int try_in(const struct jail *j, int (*attempt)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct error e = { 0 };

		if (jail_enter(j, &e) < 0)
			_exit(99);
		_exit(attempt());
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int do_nothing(void)
{
	return 0;
}

static int open_passwd(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno;
}

static int write_passwd(void)
{
	return open("/etc/passwd", O_WRONLY | O_CLOEXEC) >= 0 ? 0 : errno;
}

#define FOREIGN "/tmp/bailiff-test-foreign"

static int open_foreign(void)
{
	return open(FOREIGN, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno;
}

static int ask_flags(void)
{
	return fcntl(2, F_GETFD) >= 0 ? 0 : 1;
}

static int set_flags(void)
{
	return fcntl(2, F_SETFD, 0);
}

static int make_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int make_process(void)
{
	return (int)fork();
}

static int run_program(void)
{
	return execl("/bin/true", "true", (char *)NULL);
}

static int load_filter(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static bool exited_with(int status, int code)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static bool was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static void what_is_listed_is_allowed(void **state)
{
	(void)state;
	assert_true(exited_with(try_in(&nothing, do_nothing), 0));
	assert_true(exited_with(try_in(&nothing, ask_flags), 0));
}

static void any_other_call_kills(void **state)
{
	(void)state;
	assert_true(was_killed(try_in(&nothing, make_socket)));
	assert_true(was_killed(try_in(&nothing, make_process)));
	assert_true(was_killed(try_in(&nothing, run_program)));
	assert_true(was_killed(try_in(&nothing, load_filter)));
	/* Listed, but with another argument. */
	assert_true(was_killed(try_in(&nothing, set_flags)));
}

static void no_file_can_be_opened(void **state)
{
	(void)state;
	assert_true(exited_with(try_in(&nothing, open_passwd), EACCES));
}

static void only_beneath_its_folder_can_be_read(void **state)
{
	AUTO_FD etc_fd = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD usr_fd = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct jail j = nothing;

	(void)state;
	j.read_fd = etc_fd;
	assert_true(exited_with(try_in(&j, open_passwd), 0));
	assert_true(exited_with(try_in(&j, write_passwd), EACCES));
	j.read_fd = usr_fd;
	assert_true(exited_with(try_in(&j, open_passwd), EACCES));
}

static void a_capability_is_kept_only_by_name(void **state)
{
	AUTO_FD tmp_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD file_fd = -1;
	struct jail j = nothing;

	(void)state;
	if (geteuid() != 0)
		skip();
	(void)unlink(FOREIGN);
	file_fd = open(FOREIGN, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0);
	assert_true(file_fd >= 0);
	assert_int_equal(fchown(file_fd, 12345, 12345), 0);
	j.read_fd = tmp_fd;
	assert_true(exited_with(try_in(&j, open_foreign), EACCES));
	j.capabilities = UINT64_C(1) << CAP_DAC_READ_SEARCH;
	assert_true(exited_with(try_in(&j, open_foreign), 0));
	assert_int_equal(unlink(FOREIGN), 0);
}

static void a_capability_that_is_not_held_cannot_be_kept(void **state)
{
	struct jail j = nothing;

	(void)state;
	j.capabilities = UINT64_C(1) << 63;
	assert_true(exited_with(try_in(&j, do_nothing), 99));
}

static void a_list_that_is_too_long_is_refused(void **state)
{
	struct jail j = nothing;

	(void)state;
	j.n_calls = JAIL_CALLS_MAX + 1;
	assert_true(exited_with(try_in(&j, do_nothing), 99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_listed_is_allowed),
		cmocka_unit_test(any_other_call_kills),
		cmocka_unit_test(no_file_can_be_opened),
		cmocka_unit_test(only_beneath_its_folder_can_be_read),
		cmocka_unit_test(a_capability_is_kept_only_by_name),
		cmocka_unit_test(a_capability_that_is_not_held_cannot_be_kept),
		cmocka_unit_test(a_list_that_is_too_long_is_refused),
	};

	/* A sanitizer makes calls of its own, which a jail answers by death. */
#if defined(__SANITIZE_ADDRESS__)
	(void)printf("skipped: sanitizers and sandboxes do not mix\n");
	return tests[0].test_func != NULL ? 77 : 1;
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
