/*
 * audit/checkpoint.c - reads audit/checkpoint.  Linked by the audit reader.
 */
#include "audit/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include "audit/note.h"
#include "base/file.h"
#include "base/own.h"

int checkpoint_read(
    int audit_fd, uint8_t **ret, size_t *ret_len, struct error *e)
{
	struct file_open what = { audit_fd, "checkpoint", O_RDONLY, 0 };
	AUTO_FD fd = -1;

	*ret = NULL;
	*ret_len = 0;
	if (file_open_beneath(&what, &fd, e) < 0)
		return e->saved_errno == ENOENT ? 0 : FAIL_IN(e, "checkpoint");
	if (file_read_all(fd, NOTE_BYTES_MAX, ret, ret_len, e) < 0)
		return FAIL_IN(e, "checkpoint");
	return 0;
}
