/*
 * executor/uidpool.c - locks pairs of ids.  Linked by bailiff-launch, uid 0;
 * the directory is root's alone.
 */
#include "executor/uidpool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/uids.h"

_Static_assert(UIDPOOL_TRIES <= UID_PAIRS, "every pair tried has ids");

int uidpool_take(int dir_fd, uint32_t *ret_pair, int *ret_fd, struct error *e)
{
	for (uint32_t pair = 0; pair < UIDPOOL_TRIES; pair++) {
		char name[16];
		AUTO_FD fd = -1;

		(void)snprintf(name, sizeof(name), "%" PRIu32, pair);
		fd = openat(dir_fd, name,
		    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return FAIL_SYS(e, "open lock of id pair %s", name);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno == EWOULDBLOCK || errno == EINTR)
				continue;
			return FAIL_SYS(e, "lock id pair %s", name);
		}
		*ret_pair = pair;
		*ret_fd = take_fd(&fd);
		return 0;
	}
	return FAIL(
	    e, ERROR_LIMIT, "%d id pairs in a row are taken", UIDPOOL_TRIES);
}
