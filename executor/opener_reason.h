/*
 * executor/opener_reason.h - which word of the "path.*" reasons a failed open
 * of a host file is.  Pure.  Linked by bailiff-opener.
 */
#ifndef EXECUTOR_OPENER_REASON_H
#define EXECUTOR_OPENER_REASON_H

/* Where the opener stood. */
enum opener_stage {
	OPENER_STAGE_ROOT, /* opening the root again, by its path */
	OPENER_STAGE_FILE, /* opening the file beneath it */
	OPENER_STAGE_COPY, /* copying what was opened */
};

/*
 * A static text, never NULL: "path.link", "path.outside_root", "path.missing",
 * "path.unreadable", "path.not_regular", "path.root_changed" or, for an errno
 * that says nothing about the path, "path.failed".
 */
const char *opener_reason(enum opener_stage stage, int saved_errno);

#endif
