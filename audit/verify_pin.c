/*
 * audit/verify_pin.c - which key is trusted: the one given, else the local one
 * with the log id of the first record.  Linked by the audit reader.
 *
 * The log id is only a name to look under: a log that names another log's id
 * meets a key that did not sign it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/verify_parts.h"
#include "base/file.h"
#include "base/own.h"

/* log.vkey of that log below one directory of pins; *ret false: none. */
static int read_pin(
    int pin_fd, const char *log_hex, struct verify *v, struct error *e)
{
	char path[64];
	struct file_open what = { pin_fd, path, O_RDONLY, 0 };
	AUTO_FREE uint8_t *data = NULL;
	struct stat st;
	size_t len;
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "%s/log.vkey", log_hex);
	if (file_open_beneath(&what, &fd, e) < 0)
		return e->saved_errno == ENOENT ? 0 : FAIL_IN(e, "%s", path);
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%s", path);
	if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_STATE,
		    "%s: not a regular file that only its owner writes; "
		    "give --key",
		    path);
	if (file_read_all(fd, NOTE_KEY_MAX, &data, &len, e) < 0 ||
	    note_key_parse(data, len, &v->summary->pin, e) < 0)
		return FAIL_IN(e, "%s", path);
	v->summary->pinned = true;
	v->summary->pin_is_local = true;
	return 0;
}

/* The local key with the log id of the first record. */
static int find_pin(
    struct verify *v, const struct entry *first, struct error *e)
{
	const struct c1_value *log = &first->fields[ENTRY_LOG];
	char hex[2 * ENTRY_LOG_BYTES + 1];

	(void)snprintf(hex, sizeof(hex), "%.*s", (int)log->len, log->at);
	for (size_t i = 0; i < VERIFY_PINS_MAX && !v->summary->pinned; i++)
		if (v->options->pin_fds[i] >= 0 &&
		    read_pin(v->options->pin_fds[i], hex, v, e) < 0)
			return -1;
	if (!v->summary->pinned)
		return FAIL(e, ERROR_STATE,
		    "no key to trust: none of this account has log id %s; give "
		    "--key with the log's verifier key",
		    hex);
	return 0;
}

int verify_pin(struct verify *v, const struct lines_line *line, bool *ret_go_on,
    struct error *e)
{
	struct entry first;
	struct error why;

	*ret_go_on = true;
	if (v->options->key != NULL) {
		v->summary->pin = *v->options->key;
		v->summary->pinned = true;
		return 0;
	}
	if (line->kind == LINES_END)
		return FAIL(e, ERROR_STATE,
		    "no key to trust: the log is empty and names no log id; "
		    "give --key with the log's verifier key");
	if (line->kind == LINES_ONE &&
	    entry_read(line->text, line->len, &first, &why) == 0)
		return find_pin(v, &first, e);
	*ret_go_on = VERIFY_BAD(v, NULL, "record.form", "a first record", "%s",
	    line->kind == LINES_ONE ? why.text : "no whole line");
	return 0;
}
