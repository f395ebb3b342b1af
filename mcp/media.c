/*
 * mcp/media.c - media types of files of runs.  Linked by bailiff-mcp.  Names are
 * hostile and say little; what the service found in a file says more.
 */
#include "mcp/media.h"

#include <string.h>
#include <strings.h>

const char *media_of_name(const char *name)
{
	static const struct {
		const char *end, *type;
	} rows[] = {
		{ ".png", "image/png" },
		{ ".jpg", "image/jpeg" },
		{ ".jpeg", "image/jpeg" },
		{ ".gif", "image/gif" },
		{ ".webp", "image/webp" },
		{ ".svg", "image/svg+xml" },
		{ ".pdf", "application/pdf" },
		{ ".html", "text/html" },
		{ ".csv", "text/csv" },
		{ ".json", "application/json" },
		{ ".txt", "text/plain" },
		{ ".md", "text/markdown" },
	};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end != NULL && i < sizeof(rows) / sizeof(rows[0]);
	     i++)
		if (strcasecmp(end, rows[i].end) == 0)
			return rows[i].type;
	return "application/octet-stream";
}

const char *media_of(const struct fetch_entry *e)
{
	return e->type[0] != '\0' ? e->type : media_of_name(e->name);
}

const char *media_image_magic(const struct fetch_entry *e)
{
	static const struct {
		const char *type, *magic;
	} rows[] = {
		{ "image/png", "\x89PNG" },
		{ "image/jpeg", "\xff\xd8\xff" },
		{ "image/gif", "GIF8" },
		{ "image/webp", "RIFF" },
	};
	const char *type = media_of(e);

	if (e->type[0] != '\0' && e->width == 0)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(type, rows[i].type) == 0)
			return rows[i].magic;
	return NULL;
}
