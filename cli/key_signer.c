/*
 * cli/key_signer.c - `bailiff key init`, `unlock` and `rotate`: what a signer
 * does.  Linked by bailiff-key.  As root it is the signer's account that the
 * signer runs as; nothing here reads a key or a passphrase.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/number.h"
#include "base/own.h"
#include "cli/key.h"
#include "cli/say.h"
#include "executor/signer_start.h"

#define LINGER_S_DEFAULT 3600
#define LINGER_S_MAX     86400
#define ANSWER_WAIT_MS   30000
#define MS_PER_S         1000
#define FD_MAX           1000

#define MADE             "made; bailiff key show prints the key to verify by\n"

enum row {
	ROW_STATE,
	ROW_PASSPHRASE_FD,
	ROW_SEAL,              /* of init */
	ROW_LINGER = ROW_SEAL, /* of unlock */
};

/* clang-format off */
static const struct option_row init_rows[] = {
	[ROW_STATE] = { "--state", "DIR", "of this state directory", false },
	[ROW_PASSPHRASE_FD] = { "--passphrase-fd", "N", "read the passphrase from this descriptor", false },
	[ROW_SEAL] = { "--seal", NULL, "seal the keys under a passphrase", false },
};
static const struct option_row unlock_rows[] = {
	[ROW_STATE] = { "--state", "DIR", "of this state directory", false },
	[ROW_PASSPHRASE_FD] = { "--passphrase-fd", "N", "read the passphrase from this descriptor, not from 0", false },
	[ROW_LINGER] = { "--linger", "SECONDS", "stay so long without a service (3600)", false },
};
static const struct option_row rotate_rows[] = {
	[ROW_STATE] = { "--state", "DIR", "of this state directory", false },
};
/* clang-format on */

static const struct command init_command = {
	.name = "bailiff key init",
	.usage = "[--state DIR] [--seal --passphrase-fd N]",
	.about = "Make a log and its keys.  A service does the same when it "
	         "finds none, but plain:\nsealed keys are made here.\n",
	.rows = init_rows,
	.n_rows = sizeof(init_rows) / sizeof(init_rows[0]),
	.notes =
	    "Sealed keys lie on the disk under a passphrase (argon2id, "
	    "XChaCha20-Poly1305).\nA service can use them while bailiff key "
	    "unlock holds them open, or when its\nmanager gives it the "
	    "credential bailiff.seal (systemd: LoadCredential=).\n\n"
	    "examples:\n"
	    "  bailiff key init\n"
	    "  bailiff key init --seal --passphrase-fd 3 3</root/passphrase\n\n"
	    "exit codes: 0, 1 it could not be done, 2 usage\n",
};

static const struct command unlock_command = {
	.name = "bailiff key unlock",
	.usage = "[--state DIR] [--passphrase-fd N] [--linger SECONDS]",
	.about = "Start the signer of a log with sealed keys.  The passphrase "
	         "is read from standard\ninput, or from --passphrase-fd, up to "
	         "its end; services find the signer by itself.\n",
	.rows = unlock_rows,
	.n_rows = sizeof(unlock_rows) / sizeof(unlock_rows[0]),
	.notes = "It ends when no service used it for --linger seconds.\n\n"
	         "examples:\n"
	         "  systemd-ask-password | bailiff key unlock\n"
	         "  bailiff key unlock --linger 86400 </root/passphrase\n\n"
	         "exit codes: 0, 1 it could not be done, 2 usage\n",
};

static const struct command rotate_command = {
	.name = "bailiff key rotate",
	.usage = "[--state DIR]",
	.about = "End the epoch now: its record key is wiped, the next one "
	         "signs what follows.  The\nrunning signer does it, or one "
	         "started for it; where no epoch is open, one is\nopened and "
	         "ended, so that the key that lies on the disk is used up.\n",
	.rows = rotate_rows,
	.n_rows = sizeof(rotate_rows) / sizeof(rotate_rows[0]),
	.notes = "exit codes: 0, 1 it could not be done, 2 usage\n",
};

struct request {
	const struct command *command;
	const char *state;
	int passphrase_fd; /* -1: not given */
	bool seal;
	uint64_t linger_s;
};

static int take_option(void *into, int row, const char *value, struct error *e)
{
	const struct number_range fds = { 0, FD_MAX };
	const struct number_range linger = { 0, LINGER_S_MAX };
	struct request *r = into;
	uint64_t number = 0;

	if (row == ROW_STATE) {
		r->state = value;
	} else if (row == ROW_PASSPHRASE_FD) {
		if (number_parse(value, "--passphrase-fd", fds, &number, e) < 0)
			return -1;
		r->passphrase_fd = (int)number;
		if (fcntl(r->passphrase_fd, F_GETFD) < 0)
			return FAIL(e, ERROR_USAGE,
			    "--passphrase-fd %d: no such descriptor",
			    r->passphrase_fd);
	} else if (r->command == &init_command) {
		r->seal = true;
	} else {
		return number_parse(value, "--linger", linger, &r->linger_s, e);
	}
	return 0;
}

static int read_words(
    struct request *r, char **words, bool *ret_help, struct error *e)
{
	const struct options_into to = { .take = take_option,
		.into = r,
		.operands = NULL,
		.operands_max = 0,
		.operands_are = "only options" };

	return options_read(r->command, words, &to, ret_help, e);
}

int key_open_state(const char *state, int *ret_fd, char ret_path[KEY_PATH_MAX],
    struct error *e)
{
	struct service *s = calloc(1, sizeof(*s));
	int failed;

	if (s == NULL)
		return FAIL_SYS(e, "allocate");
	failed = service_locate_state(state, s, e);
	if (failed == 0) {
		*ret_fd = take_fd(&s->state_fd);
		(void)snprintf(ret_path, KEY_PATH_MAX, "%s", s->state);
	}
	service_done(s);
	free(s);
	return failed;
}

struct place {
	struct service service;
	struct signer_place signer;
	struct event_hello hello; /* of rotate */
	union audit_reply reply;
};

static int open_place(
    const struct request *r, struct place *ret, struct error *e)
{
	if (service_locate_state(r->state, &ret->service, e) < 0)
		return -1;
	ret->signer.service = &ret->service;
	ret->signer.secret_fd = r->passphrase_fd;
	ret->signer.seal = r->seal;
	if (signer_place_open(&ret->signer, e) == 0)
		return 0;
	service_done(&ret->service);
	return -1;
}

static void close_place(struct place *p)
{
	signer_place_close(&p->signer);
	service_done(&p->service);
}

static int say(const char *text, size_t len, struct error *e)
{
	return say_out(text, len) == 0
	           ? 0
	           : FAIL(e, ERROR_CLOSED, "standard output is closed");
}

static int init(const struct request *r, struct place *p, struct error *e)
{
	bool has_log;

	if (r->seal != (r->passphrase_fd >= 0))
		return FAIL(
		    e, ERROR_USAGE, "--seal and --passphrase-fd go together");
	if (signer_has_log(&p->signer, &has_log, e) < 0)
		return -1;
	if (has_log)
		return FAIL(e, ERROR_STATE,
		    "%s has a log and its keys already; bailiff key show "
		    "prints them",
		    p->service.state);
	if (signer_begin(&p->signer, e) < 0)
		return -1;
	return say(MADE, sizeof(MADE) - 1, e);
}

static int unlock(const struct request *r, struct place *p, struct error *e)
{
	bool has_log;

	if (signer_has_log(&p->signer, &has_log, e) < 0)
		return -1;
	if (!has_log)
		return FAIL(e, ERROR_STATE,
		    "%s has no log; make one: bailiff key init --seal",
		    p->service.state);
	if (r->passphrase_fd < 0)
		p->signer.secret_fd = STDIN_FILENO;
	p->signer.linger_ms = r->linger_s * MS_PER_S;
	return signer_begin(&p->signer, e);
}

/* Answers of up to half a minute: the disk may be busy. */
static int await_stored(
    struct audit_client *a, union audit_reply *reply, struct error *e)
{
	struct pollfd p = { .fd = audit_fd(a), .events = POLLIN };
	uint16_t verb;

	for (;;) {
		if (audit_receive(a, &verb, reply, e) == 0)
			break;
		if (e->kind != ERROR_SYSTEM || e->saved_errno != EAGAIN)
			return -1;
		if (poll(&p, 1, ANSWER_WAIT_MS) == 0)
			return FAIL(
			    e, ERROR_UNAVAILABLE, "the signer does not answer");
	}
	if (verb == EVENT_STORED)
		return 0;
	return FAIL(e, ERROR_STATE, "%.200s",
	    verb == EVENT_REFUSED ? reply->refused.text : "another answer");
}

static int ask_to_rotate(struct place *p, struct error *e)
{
	struct event_hello *hello = &p->hello;
	const struct event_rotate message = { 1 };
	struct audit_client *a = NULL;
	char line[80];
	int n;
	int failed;

	hello->version = EVENT_VERSION;
	if (getrandom(hello->instance, sizeof(hello->instance), 0) !=
	    sizeof(hello->instance))
		return FAIL_SYS(e, "draw an instance id");
	if (peers_builds(hello, e) < 0 ||
	    signer_connect(&p->signer, hello, &a, e) < 0)
		return -1;
	failed = audit_send(a, EVENT_ROTATE, &message, e);
	if (failed == 0)
		failed = await_stored(a, &p->reply, e);
	audit_free(a);
	if (failed < 0)
		return -1;
	n = snprintf(line, sizeof(line),
	    "the epoch ended with record %" PRIu64 "\n", p->reply.stored.seq);
	return say(line, (size_t)n, e);
}

static int rotate(const struct request *r, struct place *p, struct error *e)
{
	bool has_log;

	(void)r;
	if (signer_has_log(&p->signer, &has_log, e) < 0)
		return -1;
	if (!has_log)
		return FAIL(e, ERROR_STATE,
		    "%s has no log, so nothing to rotate", p->service.state);
	return ask_to_rotate(p, e);
}

typedef int deed(const struct request *r, struct place *p, struct error *e);

static int act_on(const struct request *r, deed *act, struct error *e)
{
	struct place *p = calloc(1, sizeof(*p));
	int failed;

	if (p == NULL)
		return FAIL_SYS(e, "allocate");
	failed = key_harden(e);
	if (failed == 0)
		failed = open_place(r, p, e);
	if (failed == 0) {
		failed = act(r, p, e);
		close_place(p);
	}
	free(p);
	return failed;
}

static int run(struct request *r, char **words, deed *act)
{
	bool help = false;
	struct error e;

	r->passphrase_fd = -1;
	if (read_words(r, words, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(r->command);
	if (act_on(r, act, &e) < 0)
		return say_failed(&e, e.kind == ERROR_USAGE ? EXIT_USAGE : 1);
	return 0;
}

int key_init_main(char **words)
{
	struct request r = { .command = &init_command };

	return run(&r, words, init);
}

int key_unlock_main(char **words)
{
	struct request r = { .command = &unlock_command,
		.linger_s = LINGER_S_DEFAULT };

	return run(&r, words, unlock);
}

int key_rotate_main(char **words)
{
	struct request r = { .command = &rotate_command };

	return run(&r, words, rotate);
}
