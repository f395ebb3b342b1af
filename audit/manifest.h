/*
 * audit/manifest.h - MANIFEST of a result folder, as read: the text of
 * `sha256sum`, sorted by name.
 *
 * Pure but for its own table.  A line is 64 lower-case hex digits, two spaces,
 * a name, LF.  A name is a path beneath the folder: no empty, "." or ".."
 * component, no leading '/', only bytes 0x21 to 0x7E and no backslash (names
 * are percent-encoded), each name once.
 */
#ifndef AUDIT_MANIFEST_H
#define AUDIT_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"

#define MANIFEST_BYTES_MAX ((size_t)64 << 20)
#define MANIFEST_NAME_MAX  4096 /* with a NUL behind */

struct manifest_line {
	const char *name; /* borrowed from the text; ends at LF */
	size_t name_len;
	uint8_t sha256[SHA256_BYTES];
};

struct manifest {
	struct manifest_line *lines; /* owned */
	size_t n_lines;
};

/* 'text' must outlive *ret.  ERROR_MALFORMED names the line that is off. */
int manifest_read(const char *text, size_t len, struct manifest *ret,
    struct error *e) MUST_CHECK;
void manifest_done(struct manifest *m);

/* The line of that name, or NULL. */
const struct manifest_line *manifest_find(
    const struct manifest *m, const char *name, size_t len);

#endif
