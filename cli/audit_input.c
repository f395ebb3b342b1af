/*
 * cli/audit_input.c - what the words of an audit command name: small files and
 * keys of the caller's own.  Linked by bailiff-audit.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "cli/audit.h"

int audit_read_file(const char *path, size_t max_bytes, uint8_t **ret,
    size_t *ret_len, struct error *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%s", path);
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERROR_USAGE, "%s: not a regular file", path);
	if (file_read_all(fd, max_bytes, ret, ret_len, e) < 0)
		return FAIL_IN(e, "%s", path);
	return 0;
}

static int read_key(const char *value, struct note_key *ret, struct error *e)
{
	const char *plus = strchr(value, '+');
	AUTO_FREE uint8_t *data = NULL;
	size_t len;

	if (plus != NULL && strchr(plus + 1, '+') != NULL)
		return note_key_parse(value, strlen(value), ret, e);
	if (audit_read_file(value, NOTE_KEY_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "--key");
	if (note_key_parse(data, len, ret, e) < 0)
		return FAIL_IN(e, "--key %s", value);
	return 0;
}

int audit_read_key(const char *value, struct note_key *ret, struct error *e)
{
	if (read_key(value, ret, e) < 0)
		return -1;
	if (ret->type != NOTE_LOG)
		return FAIL(
		    e, ERROR_USAGE, "--key: a witness's key, not a log's");
	return 0;
}
