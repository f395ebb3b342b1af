/*
 * audit/pin.c - reads a local pin.  Linked by the audit reader, after it has
 * confined itself to the directories it was given.
 */
#include "audit/pin.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

int pin_read(int pin_fd, const char *log_hex, struct note_key *ret,
    bool *ret_found, struct error *e)
{
	char path[2 * ENTRY_LOG_BYTES + 16];
	struct file_open what = { pin_fd, path, O_RDONLY, 0 };
	AUTO_FREE uint8_t *data = NULL;
	struct stat st;
	size_t len;
	AUTO_FD fd = -1;

	*ret_found = false;
	(void)snprintf(
	    path, sizeof(path), "%.*s/log.vkey", 2 * ENTRY_LOG_BYTES, log_hex);
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
	    note_key_parse(data, len, ret, e) < 0)
		return FAIL_IN(e, "%s", path);
	*ret_found = true;
	return 0;
}

int pin_find(const int pin_fds[PIN_DIRECTORIES], const struct entry *entry,
    struct note_key *ret, struct error *e)
{
	const struct c1_value *log = &entry->fields[ENTRY_LOG];
	char hex[2 * ENTRY_LOG_BYTES + 1];
	bool found = false;

	(void)snprintf(hex, sizeof(hex), "%.*s", (int)log->len, log->at);
	for (size_t i = 0; i < PIN_DIRECTORIES && !found; i++)
		if (pin_fds[i] >= 0 &&
		    pin_read(pin_fds[i], hex, ret, &found, e) < 0)
			return -1;
	if (!found)
		return FAIL(e, ERROR_STATE,
		    "no key to trust: none of this account has log id %.*s; "
		    "give --key with the log's verifier key",
		    (int)log->len, log->at);
	return 0;
}
