/*
 * executor/picture_type.c - media types.  Linked by the supervisor.  Data only.
 */
#include "executor/picture.h"

#include <string.h>
#include <strings.h>

static const char *const types[PICTURE_KIND_N] = {
	[PICTURE_BYTES] = "application/octet-stream",
	[PICTURE_TEXT] = "text/plain",
	[PICTURE_PNG] = "image/png",
	[PICTURE_JPEG] = "image/jpeg",
	[PICTURE_GIF] = "image/gif",
	[PICTURE_WEBP] = "image/webp",
	[PICTURE_SVG] = "image/svg+xml",
	[PICTURE_PDF] = "application/pdf",
	[PICTURE_HTML] = "text/html",
	[PICTURE_ZIP] = "application/zip",
	[PICTURE_GZIP] = "application/gzip",
	[PICTURE_SQLITE] = "application/vnd.sqlite3",
	[PICTURE_PARQUET] = "application/vnd.apache.parquet",
};

/* What only the name of a text can say. */
static const struct {
	const char *end, *type;
} texts[] = {
	{ ".csv", "text/csv" },
	{ ".tsv", "text/tab-separated-values" },
	{ ".json", "application/json" },
	{ ".md", "text/markdown" },
	{ ".xml", "application/xml" },
	{ ".css", "text/css" },
	{ ".js", "text/javascript" },
	{ ".py", "text/x-python" },
};

const char *picture_type(enum picture_kind kind, const char *name)
{
	const char *end = strrchr(name, '.');

	for (size_t i = 0; kind == PICTURE_TEXT && end != NULL &&
	                   i < sizeof(texts) / sizeof(texts[0]);
	     i++)
		if (strcasecmp(end, texts[i].end) == 0)
			return texts[i].type;
	return types[kind];
}
