/*
 * cli/key_enroll.c - `bailiff key enroll`: keep the key that a log is verified
 * by, where `bailiff audit verify` looks for it.  Linked by bailiff-key.  The
 * key came from somebody: its point is checked, and one that replaces another
 * is taken only from who can name the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/pin.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"
#include "cli/audit.h"
#include "cli/key.h"
#include "cli/say.h"

#define PIN_FILE "log.vkey"
#define PIN_NEW  "log.vkey.new"
#define PIN_MODE (S_IRUSR | S_IRGRP | S_IROTH)

enum row {
	ROW_LOG,
	ROW_REPLACES
};

/* clang-format off */
static const struct option_row rows[] = {
	[ROW_LOG] = { "--log", "ID", "the log's id, 32 hex digits", false },
	[ROW_REPLACES] = { "--replaces", "FINGERPRINT", "of the key that was pinned for it so far", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff key enroll",
	.usage = "KEY --log ID [--replaces FINGERPRINT]",
	.about =
	    "Pin the key of a log: from then on bailiff audit verify "
	    "trusts it for the log\nwith this id, without --key.  KEY is a "
	    "verifier key or the file that holds it.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "It goes to /etc/bailiff/keys.d/<log id>/log.vkey as root, to "
	    "~/.config/bailiff\nfor others.  Compare the fingerprint that "
	    "it prints with the owner's\n(bailiff key show there).  Another "
	    "key for the same log is refused unless\n--replaces names the "
	    "fingerprint of the old one.\n\n"
	    "exit codes: 0, 1 it could not be done, 2 usage\n",
};

struct request {
	const char *key, *log, *replaces;
};

static int take_option(void *into, int row, const char *value, struct error *e)
{
	struct request *r = into;

	if (row == ROW_REPLACES) {
		r->replaces = value;
		return 0;
	}
	if (strlen(value) != KEY_LOG_HEX ||
	    strspn(value, "0123456789abcdef") != KEY_LOG_HEX)
		return FAIL(e, ERROR_USAGE,
		    "--log: a log id is 32 lower-case hex digits");
	r->log = value;
	return 0;
}

static void fingerprint(const struct note_key *key, char ret[SHA256_HEX])
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(key->public_key, sizeof(key->public_key), digest);
	sha256_hex(digest, ret);
}

/* *ret_write false: it is pinned already. */
static int judge_old(const struct request *r, int pins_fd,
    const struct note_key *key, bool *ret_write, struct error *e)
{
	char hex[SHA256_HEX];
	struct note_key old;
	bool found;

	if (pin_read(pins_fd, r->log, &old, &found, e) < 0)
		return -1;
	*ret_write = !found || strcmp(old.name, key->name) != 0 ||
	             memcmp(old.public_key, key->public_key,
	                 sizeof(old.public_key)) != 0;
	if (!found && r->replaces != NULL)
		return FAIL(e, ERROR_STATE,
		    "--replaces: no key is pinned for log %s", r->log);
	if (!found || !*ret_write)
		return 0;
	fingerprint(&old, hex);
	if (r->replaces != NULL && strcmp(r->replaces, hex) == 0)
		return 0;
	return FAIL(e, ERROR_STATE,
	    "another key is pinned for log %s, with fingerprint %s: ask the "
	    "log's owner, and if the key was changed, say --replaces %s",
	    r->log, hex, hex);
}

static int write_pin(const struct request *r, int pins_fd,
    const struct note_key *key, struct error *e)
{
	char text[NOTE_KEY_MAX];
	struct text_out out = { text, sizeof(text), 0 };
	AUTO_FD dir_fd = -1;
	AUTO_FD fd = -1;

	if (note_key_format(key, &out, e) < 0)
		return -1;
	if (mkdirat(pins_fd, r->log, 0755) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make a directory for the key");
	dir_fd = openat(
	    pins_fd, r->log, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd < 0)
		return FAIL_SYS(e, "open the directory of the key");
	if (unlinkat(dir_fd, PIN_NEW, 0) < 0 && errno != ENOENT)
		return FAIL_SYS(e, "remove what an earlier try left");
	fd = openat(dir_fd, PIN_NEW,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PIN_MODE);
	if (fd < 0)
		return FAIL_SYS(e, "write the key");
	if (file_write_all(fd, text, out.len, e) < 0)
		return FAIL_IN(e, "write the key");
	if (fchmod(fd, PIN_MODE) < 0 || fsync(fd) < 0 ||
	    renameat(dir_fd, PIN_NEW, dir_fd, PIN_FILE) < 0 ||
	    fsync(dir_fd) < 0)
		return FAIL_SYS(e, "write the key");
	return 0;
}

static int enroll(const struct request *r, struct error *e)
{
	char path[KEY_PATH_MAX];
	AUTO_FREE char *line = NULL;
	char hex[SHA256_HEX];
	struct note_key key;
	AUTO_FD pins_fd = -1;
	bool write;
	int n;

	if (audit_read_key(r->key, &key, e) < 0 ||
	    key_open_pins(true, &pins_fd, path, e) < 0 ||
	    judge_old(r, pins_fd, &key, &write, e) < 0 ||
	    (write && write_pin(r, pins_fd, &key, e) < 0))
		return -1;
	fingerprint(&key, hex);
	n = asprintf(&line, "%s %s/%s/" PIN_FILE "\nfingerprint  %s\n",
	    write ? "pinned in" : "was pinned in", path, r->log, hex);
	return n > 0 && say_out(line, (size_t)n) == 0
	           ? 0
	           : FAIL(e, ERROR_CLOSED, "standard output is closed");
}

int key_enroll_main(char **words)
{
	struct request r = { NULL, NULL, NULL };
	const struct options_into to = { .take = take_option,
		.into = &r,
		.operands = &r.key,
		.operands_max = 1,
		.operands_are = "one key" };
	bool help = false;
	struct error e;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.key == NULL || r.log == NULL) {
		say_line("a key and --log are needed; see bailiff key enroll "
		         "--help");
		return EXIT_USAGE;
	}
	if (enroll(&r, &e) < 0)
		return say_failed(&e, e.kind == ERROR_USAGE ? EXIT_USAGE : 1);
	return 0;
}
