/*
 * executor/opener.h - one request to bailiff-opener and its answer.
 *
 * The opener takes the principal's own file-system identity (setgroups,
 * setfsgid, setfsuid; capabilities dropped), opens the root again by its path
 * under that identity, demands that it is the inode the supervisor holds, then
 * opens the rest with openat2(BENEATH|NO_SYMLINKS|NO_MAGICLINKS|NO_XDEV), and
 * hands back a sealed copy that it made without reading it (sendfile(2)).  Of
 * a directory it hands back the directory, once the principal may list it.
 */
#ifndef EXECUTOR_OPENER_H
#define EXECUTOR_OPENER_H

#include <stdint.h>

#include "base/wire.h"

#define OPENER_PATH_MAX   4096
#define OPENER_GROUPS_MAX 256
#define OPENER_REASON_MAX 80

enum opener_verb {
	OPENER_OPEN = 1
};
enum opener_reply_verb {
	OPENER_OPENED = 1,
	OPENER_DENIED
};

struct opener_group {
	uint32_t gid;
};

/* One descriptor: O_PATH of the root. */
struct opener_open {
	uint32_t uid, gid;
	WIRE_LIST_OF(struct opener_group, OPENER_GROUPS_MAX) groups;
	char root[OPENER_PATH_MAX];    /* resolved path of the root */
	char beneath[OPENER_PATH_MAX]; /* relative, already judged by policy */
	uint64_t max_bytes;
	/* 1: a directory is wanted; 'beneath' may be ".", the root itself. */
	uint32_t is_directory;
};

/* One descriptor: the sealed copy, or O_PATH of the directory. */
struct opener_opened {
	uint64_t dev, ino, size;
};

struct opener_denied {
	/* "path.link", "path.unreadable", ...: executor/opener_reason.h */
	char reason[OPENER_REASON_MAX];
	uint32_t saved_errno;
};

extern const struct wire_protocol opener_protocol;
extern const struct wire_protocol opener_reply_protocol;

#endif
