/*
 * executor/opener_reason.c - errno to reason.  Linked by bailiff-opener.
 */
#include "executor/opener_reason.h"

#include <errno.h>
#include <stddef.h>

/* clang-format off */
static const struct row {
	int saved_errno;
	const char *root, *file;
} rows[] = {
	/* The supervisor holds the root: a path that no longer leads there
	 * was moved or replaced. */
	{ ELOOP,        "path.root_changed", "path.link"         },
	{ ENOENT,       "path.root_changed", "path.missing"      },
	{ ENOTDIR,      "path.root_changed", "path.missing"      },
	{ EXDEV,        "path.root_changed", "path.outside_root" },
	{ EACCES,       "path.unreadable",   "path.unreadable"   },
	{ EPERM,        "path.unreadable",   "path.unreadable"   },
	/* A socket, or a device without a driver. */
	{ ENXIO,        "path.root_changed", "path.not_regular"  },
	{ ENODEV,       "path.root_changed", "path.not_regular"  },
	{ ENAMETOOLONG, "path.root_changed", "path.missing"      },
};
/* clang-format on */

const char *opener_reason(enum opener_stage stage, int saved_errno)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].saved_errno != saved_errno)
			continue;
		if (stage == OPENER_STAGE_ROOT)
			return rows[i].root;
		if (stage == OPENER_STAGE_FILE)
			return rows[i].file;
	}
	return "path.failed";
}
