/*
 * executor/signer_start.c - finds or starts bailiff-signer by the contract of
 * audit/signer.h.  Linked by the supervisor and bailiff-key; as root it runs
 * before any peer exists.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/signer.h"
#include "base/own.h"
#include "executor/account.h"
#include "executor/signer_start.h"
#include "executor/spawn.h"
#include "executor/state_directory.h"
#include "executor/uids.h"

#define SIGNER_SOCKET "signer.sock"
#define SIGNER_LOCK   "signer.lock"
#define PIN_PARENT    "/etc/bailiff"
#define PIN_NAME      "keys.d"
#define PIN_CONFIG    ".config"
#define PIN_USER      "bailiff"
#define SAID          "error: "
enum {
	TRIES = 500,
	PAUSE_MS = 20,
	READY_WAIT_MS = 30000,
	STAY_MS = 2000,
	LOG_ID_BYTES = 16,
	WORDS_MAX = 8,
	NUMBER_TEXT = 24
};

/* What a signer about to start is given. */
struct start {
	const struct signer_place *place;  /* borrowed */
	int lock_fd;                       /* borrowed; flocked */
	char log_id[2 * LOG_ID_BYTES + 1]; /* "" when the log exists */
	int pin_fd;                        /* owned; -1 when the log exists */
};

/* Of the account that the service belongs to. */
static int open_pin_directory(
    int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	struct stat st;
	AUTO_FD fd = -1;
	mode_t old = umask(022);
	int made = mkdirat(dir_fd, name, 0755);

	(void)umask(old);
	if (made < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make %s for the public key", name);
	fd = openat(
	    dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "open %s for the public key", name);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_STATE,
		    "%s: must belong to uid %u and be writable by nobody else",
		    name, geteuid());
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Where the account keeps the keys of its logs, outside of the logs. */
static int open_pins(
    const struct service *service, int *ret_fd, struct error *e)
{
	AUTO_FD home_fd = -1;
	AUTO_FD parent_fd = -1;

	if (account_is_root()) {
		if (open_pin_directory(AT_FDCWD, PIN_PARENT, &parent_fd, e) < 0)
			return -1;
		return open_pin_directory(parent_fd, PIN_NAME, ret_fd, e);
	}
	if (service->home[0] == '\0')
		return FAIL(e, ERROR_USAGE,
		    "no HOME to keep the log's public key in; name a directory "
		    "by --home");
	home_fd = open(service->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (home_fd < 0)
		return FAIL_SYS(e, "open %s for the public key", service->home);
	if (open_pin_directory(home_fd, PIN_CONFIG, &parent_fd, e) < 0)
		return -1;
	return open_pin_directory(parent_fd, PIN_USER, ret_fd, e);
}

/* A fresh log: its random id, and the directory that its key is pinned in. */
static int make_pin(struct start *s, struct error *e)
{
	uint8_t id[LOG_ID_BYTES];
	AUTO_FD keys_fd = -1;

	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		return FAIL_SYS(e, "draw a log id");
	for (size_t i = 0; i < sizeof(id); i++)
		(void)snprintf(s->log_id + 2 * i, 3, "%02x", id[i]);
	if (open_pins(s->place->service, &keys_fd, e) < 0 ||
	    open_pin_directory(keys_fd, s->log_id, &s->pin_fd, e) < 0)
		return -1;
	if (fchown(s->pin_fd, account_uid(UID_SIGNER),
	        account_gid(UID_SIGNER)) < 0)
		return FAIL_SYS(e, "give the pin directory to the signer");
	return 0;
}

/* Not even the signer shall change the pin later. */
static int take_pin_back(const struct start *s, struct error *e)
{
	if (s->pin_fd < 0)
		return 0;
	if (fchown(s->pin_fd, geteuid(), getegid()) < 0 ||
	    fchownat(s->pin_fd, SIGNER_PIN_FILE, geteuid(), getegid(),
	        AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchmodat(s->pin_fd, SIGNER_PIN_FILE, 0444, 0) < 0)
		return FAIL_SYS(e, "take the pinned key back");
	return 0;
}

static int await_ready(int ready_fd, struct error *e)
{
	char line[ERROR_TEXT_MAX] = "";
	const char *what;
	size_t len = 0;

	for (;;) {
		struct pollfd wait = { .fd = ready_fd, .events = POLLIN };
		int n = poll(&wait, 1, READY_WAIT_MS);
		ssize_t got;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "bailiff-signer is not ready after half a minute");
		got = read(ready_fd, line + len, sizeof(line) - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	line[len] = '\0';
	if (strcmp(line, SIGNER_READY) == 0)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	what =
	    strncmp(line, SAID, strlen(SAID)) == 0 ? line + strlen(SAID) : line;
	return FAIL(e, ERROR_STATE, "audit log: %s",
	    what[0] != '\0' ? what
	                    : "bailiff-signer ended before it was ready");
}

/* The words behind the program's name; "linger" is their room. */
static void put_words(const struct start *s, char linger[NUMBER_TEXT],
    const char *argv[WORDS_MAX])
{
	size_t n = 1;

	if (s->pin_fd >= 0) {
		argv[n++] = "--new-log";
		argv[n++] = s->log_id;
	}
	if (s->pin_fd >= 0 && s->place->seal)
		argv[n++] = "--seal";
	if (s->place->linger_ms > 0) {
		(void)snprintf(linger, NUMBER_TEXT, "%llu",
		    (unsigned long long)s->place->linger_ms);
		argv[n++] = "--linger-ms";
		argv[n++] = linger;
	}
}

static int run_signer(const struct start *s, int listen_fd, struct error *e)
{
	const char *argv[WORDS_MAX] = { "bailiff-signer" };
	char path[SERVICE_PATH_MAX];
	char linger[NUMBER_TEXT];
	int ready[2];
	struct spawn what = { .path = path,
		.argv = argv,
		.uid = account_spawn(UID_SIGNER),
		.alone = true,
		.n_fds = SIGNER_SECRET_FD - SPAWN_FIRST + 1 };
	int failed;

	put_words(s, linger, argv);
	if (service_program_path(argv[0], path, e) < 0)
		return -1;
	/* A file is read anew; a pipe cannot be, and need not. */
	if (s->place->secret_fd >= 0 &&
	    lseek(s->place->secret_fd, 0, SEEK_SET) < 0 && errno != ESPIPE)
		return FAIL_SYS(e, "read what the keys are sealed under");
	if (pipe2(ready, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make a pipe");
	what.fds[SIGNER_LISTEN_FD - SPAWN_FIRST] = listen_fd;
	what.fds[SIGNER_AUDIT_FD - SPAWN_FIRST] = s->place->audit_fd;
	what.fds[SIGNER_KEYS_FD - SPAWN_FIRST] = s->place->keys_fd;
	what.fds[SIGNER_STATE_FD - SPAWN_FIRST] = s->place->state_fd;
	what.fds[SIGNER_PIN_FD - SPAWN_FIRST] = s->pin_fd;
	what.fds[SIGNER_LOCK_FD - SPAWN_FIRST] = s->lock_fd;
	what.fds[SIGNER_READY_FD - SPAWN_FIRST] = ready[1];
	what.fds[SIGNER_SECRET_FD - SPAWN_FIRST] = s->place->secret_fd;
	failed = spawn(&what, NULL, e);
	(void)close(ready[1]);
	if (failed == 0)
		failed = await_ready(ready[0], e);
	(void)close(ready[0]);
	return failed;
}

int signer_has_log(const struct signer_place *place, bool *ret, struct error *e)
{
	*ret = faccessat(place->keys_fd, SIGNER_KEY_FILE, F_OK,
	           AT_SYMLINK_NOFOLLOW) == 0;
	if (!*ret && errno != ENOENT)
		return FAIL_SYS(e, "look for the log key");
	return 0;
}

/* We hold the lock, so nobody else starts one; the child keeps it. */
static int start_signer(
    const struct signer_place *place, int lock_fd, struct error *e)
{
	struct start s = { place, lock_fd, "", -1 };
	AUTO_FD listen_fd = -1;
	bool has_log;
	int failed;

	if (signer_has_log(place, &has_log, e) < 0 ||
	    (!has_log && make_pin(&s, e) < 0))
		return -1;
	failed = service_listen(
	    place->service->run_fd, SIGNER_SOCKET, &listen_fd, e);
	if (failed == 0)
		failed = run_signer(&s, listen_fd, e);
	if (failed == 0)
		failed = take_pin_back(&s, e);
	own_close(&s.pin_fd);
	return failed;
}

/* 0 connected; 1 nobody there, or it was on its way out; -1 an error. */
static int try_connect(const struct service *service,
    const struct event_hello *hello, struct audit_client **ret, struct error *e)
{
	int fd;
	struct error why;

	if (service_connect(service->run_fd, SIGNER_SOCKET, &fd, &why) == 0 &&
	    audit_open(fd, hello, ret, &why) == 0)
		return 0;
	if (why.kind == ERROR_CLOSED)
		return 1;
	*e = why;
	return -1;
}

/* *ret_fd is -1 while another process starts or ends one. */
static int take_lock(
    const struct signer_place *place, int *ret_fd, struct error *e)
{
	AUTO_FD fd = openat(place->service->run_fd, SIGNER_LOCK,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	*ret_fd = -1;
	if (fd < 0)
		return FAIL_SYS(e, "open %s", SIGNER_LOCK);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		*ret_fd = take_fd(&fd);
	else if (errno != EWOULDBLOCK)
		return FAIL_SYS(e, "lock %s", SIGNER_LOCK);
	return 0;
}

int signer_connect(const struct signer_place *place,
    const struct event_hello *hello, struct audit_client **ret, struct error *e)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };

	for (int i = 0; i < TRIES; i++) {
		AUTO_FD lock_fd = -1;
		int found = try_connect(place->service, hello, ret, e);

		if (found <= 0)
			return found;
		if (take_lock(place, &lock_fd, e) < 0)
			return -1;
		if (lock_fd < 0)
			(void)nanosleep(&pause, NULL);
		else if (start_signer(place, lock_fd, e) < 0)
			return -1;
	}
	return FAIL(e, ERROR_UNAVAILABLE,
	    "the signer neither answers nor lets its lock go; end the process "
	    "that holds signer.lock");
}

/* Whoever is on its way out hangs up soon, even on who is still in the queue. */
static bool stays(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, STAY_MS) == 0;
}

/* One that could not start has lock and socket until its end. */
int signer_begin(const struct signer_place *place, struct error *e)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };

	for (int i = 0; i < TRIES; i++) {
		AUTO_FD lock_fd = -1;
		AUTO_FD there_fd = -1;
		struct error nobody;

		if (take_lock(place, &lock_fd, e) < 0)
			return -1;
		if (lock_fd >= 0)
			return start_signer(place, lock_fd, e);
		if (service_connect(place->service->run_fd, SIGNER_SOCKET,
		        &there_fd, &nobody) == 0 &&
		    stays(there_fd))
			break;
		(void)nanosleep(&pause, NULL);
	}
	return FAIL(
	    e, ERROR_STATE, "the signer of this state directory runs already");
}

int signer_place_open(struct signer_place *place, struct error *e)
{
	int state_fd = place->service->state_fd;
	int failed;

	place->audit_fd = -1;
	place->keys_fd = -1;
	place->state_fd = -1;
	/* As state_open: others may be making them now. */
	if (flock(state_fd, LOCK_EX) < 0)
		return FAIL_SYS(e, "lock the state directory");
	failed = state_directory(
	             state_fd, "audit", UID_SIGNER, &place->audit_fd, e) < 0 ||
	         state_directory(
	             state_fd, "keys", UID_SIGNER, &place->keys_fd, e) < 0 ||
	         state_directory(
	             state_fd, "state", UID_SIGNER, &place->state_fd, e) < 0;
	(void)flock(state_fd, LOCK_UN);
	if (failed)
		signer_place_close(place);
	return failed ? -1 : 0;
}

void signer_place_close(struct signer_place *place)
{
	own_close(&place->audit_fd);
	own_close(&place->keys_fd);
	own_close(&place->state_fd);
	place->audit_fd = -1;
	place->keys_fd = -1;
	place->state_fd = -1;
}
