/*
 * cli/key_show.c - `bailiff key show`: what may be known of a log's keys.
 * Linked by bailiff-key.  As root it takes the account of the signer before it
 * reads keys/: the files are checked to be that account's.  It prints no
 * secret; of plain keys the public half is made from the seed, in locked memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/head.h"
#include "audit/keys.h"
#include "audit/pin.h"
#include "base/own.h"
#include "base/sha256.h"
#include "cli/audit.h"
#include "cli/key.h"
#include "cli/say.h"

#define MIB_SHIFT  20
#define TEXT_BYTES 8192

enum row {
	ROW_STATE
};

/* clang-format off */
static const struct option_row rows[] = {
	[ROW_STATE] = { "--state", "DIR", "of this state directory", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff key show",
	.usage = "[--state DIR]",
	.about = "Print the public key that a log is verified by, its "
	         "fingerprint, the epoch, and where\nand how the keys lie.  "
	         "Never a secret.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes = "The key is what others give to bailiff key enroll, or to "
	         "bailiff audit verify --key;\ntell them the fingerprint by "
	         "another way.\n\n"
	         "exit codes: 0, 1 it could not be done, 2 usage\n",
};

struct shown {
	int keys_fd, state_fd, pins_fd; /* owned; pins_fd may be -1 */
	char state[KEY_PATH_MAX], pins[KEY_PATH_MAX];
	struct keys_about about;
	struct chain_state head; /* tree.size 0: nothing was recorded */
	struct note_key pin;
	bool pinned;
	char text[TEXT_BYTES]; /* what is printed */
};

static int take_option(void *into, int row, const char *value, struct error *e)
{
	const char **state = into;

	(void)row;
	(void)e;
	*state = value;
	return 0;
}

static int open_all(struct shown *s, const char *state, struct error *e)
{
	struct error none;
	AUTO_FD fd = -1;

	if (key_open_state(state, &fd, s->state, e) < 0)
		return -1;
	s->keys_fd =
	    openat(fd, "keys", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	s->state_fd = openat(
	    fd, "state", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if ((s->keys_fd < 0 || s->state_fd < 0) && errno == ENOENT)
		return FAIL(e, ERROR_STATE,
		    "%s has no log; a service makes one, or bailiff key init",
		    s->state);
	if (s->keys_fd < 0 || s->state_fd < 0)
		return FAIL_SYS(e, "%s", s->state);
	if (key_open_pins(false, &s->pins_fd, s->pins, &none) < 0)
		s->pins_fd = -1;
	return 0;
}

/* For good; what comes after can reach no more than a signer. */
static int become_signer(int keys_fd, struct error *e)
{
	struct stat st;

	if (fstat(keys_fd, &st) < 0)
		return FAIL_SYS(e, "look at keys/");
	if (geteuid() != 0 || st.st_uid == 0)
		return 0;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(st.st_gid, st.st_gid, st.st_gid) < 0 ||
	    setresuid(st.st_uid, st.st_uid, st.st_uid) < 0)
		return FAIL_SYS(e, "take the signer's account");
	return 0;
}

static int read_all(struct shown *s, struct error *e)
{
	if (keys_describe(s->keys_fd, &s->about, e) < 0) {
		if (e->kind == ERROR_CLOSED)
			return FAIL(e, ERROR_STATE,
			    "%s has no log key; a service makes one, or "
			    "bailiff "
			    "key init",
			    s->state);
		return FAIL_IN(e, "%s/keys", s->state);
	}
	if (head_read(s->state_fd, &s->head, e) < 0 && e->kind != ERROR_CLOSED)
		return FAIL_IN(e, "%s/state", s->state);
	if (s->pins_fd >= 0 && pin_read(s->pins_fd, s->about.log_id_hex,
	                           &s->pin, &s->pinned, e) < 0)
		return FAIL_IN(e, "%s", s->pins);
	if (s->pinned && !s->about.sealed &&
	    memcmp(s->pin.public_key, s->about.key.public_key,
	        sizeof(s->pin.public_key)) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "%s/%s/log.vkey is not the key in %s/keys: look who "
		    "changed which",
		    s->pins, s->about.log_id_hex, s->state);
	return 0;
}

static int print_key(
    const struct shown *s, struct text_out *out, struct error *e)
{
	const struct note_key *key = s->about.sealed ? &s->pin : &s->about.key;
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];

	if (s->about.sealed && !s->pinned)
		return text_printf(out, e,
		    "key          sealed, and not pinned for this account\n");
	sha256_of(key->public_key, sizeof(key->public_key), digest);
	sha256_hex(digest, hex);
	if (text_printf(out, e, "key          ") < 0 ||
	    note_key_format(key, out, e) < 0)
		return -1;
	return text_printf(out, e, "fingerprint  %s\n", hex);
}

static int print_rest(
    const struct shown *s, struct text_out *out, struct error *e)
{
	const struct keys_about *a = &s->about;

	if (text_printf(out, e,
	        "epoch        %" PRIu64 ", %" PRIu64 " records\n",
	        s->head.epoch, s->head.tree.size) < 0)
		return -1;
	if (a->sealed
	        ? text_printf(out, e,
	              "keys         sealed: argon2id, %" PRIu64
	              " passes over %" PRIu64 " MiB\n",
	              a->seal.passes, a->seal.memory_bytes >> MIB_SHIFT) < 0
	        : text_printf(out, e, "keys         files, mode 0600\n") < 0)
		return -1;
	if (text_printf(out, e, "in           %s/keys\n", s->state) < 0)
		return -1;
	return s->pinned ? text_printf(out, e, "pinned in    %s/%s/log.vkey\n",
	                       s->pins, a->log_id_hex)
	                 : text_printf(out, e,
	                       "pinned in    nowhere for this account\n");
}

static int show(struct shown *s, const char *state, struct error *e)
{
	struct text_out out = { s->text, sizeof(s->text), 0 };

	if (open_all(s, state, e) < 0 || become_signer(s->keys_fd, e) < 0 ||
	    key_harden(e) < 0 || read_all(s, e) < 0)
		return -1;
	if (text_printf(&out, e, "log          %s\norigin       %s\n",
	        s->about.log_id_hex, s->about.origin) < 0 ||
	    print_key(s, &out, e) < 0 || print_rest(s, &out, e) < 0)
		return -1;
	return say_out(out.data, out.len) == 0
	           ? 0
	           : FAIL(e, ERROR_CLOSED, "standard output is closed");
}

int key_show_main(char **words)
{
	const char *state = NULL;
	const struct options_into to = { .take = take_option,
		.into = &state,
		.operands_are = "only options" };
	struct shown *s = calloc(1, sizeof(*s));
	bool help = false;
	struct error e;
	int failed;

	if (s == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	s->keys_fd = -1;
	s->state_fd = -1;
	s->pins_fd = -1;
	if (options_read(&command, words, &to, &help, &e) < 0 || help) {
		free(s);
		return help ? options_help(&command)
		            : say_failed(&e, EXIT_USAGE);
	}
	failed = show(s, state, &e);
	own_close(&s->keys_fd);
	own_close(&s->state_fd);
	own_close(&s->pins_fd);
	free(s);
	return failed == 0 ? 0 : say_failed(&e, 1);
}
