/*
 * mcp/media.h - what kind of file it is.
 */
#ifndef MCP_MEDIA_H
#define MCP_MEDIA_H

#include "mcp/fetch.h"

/* By the end of its name; "application/octet-stream" if unknown. */
const char *media_of_name(const char *name);

/* By content where the service has looked, else by name. */
const char *media_of(const struct fetch_entry *e);

/*
 * How a file that clients show as an image begins; NULL if it is none.  One
 * whose header has no size is none: a client may refuse a whole answer for it.
 */
const char *media_image_magic(const struct fetch_entry *e);

#endif
