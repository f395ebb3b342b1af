/*
 * executor/result_files.c - files of a result folder as text, and back.  Linked
 * by the supervisor.  Names are percent-encoded: they hold nothing that JSON
 * would escape.  What is read back is what this file wrote; it is read as if it
 * were not.
 */
#include "executor/result_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILES_LEN (sizeof(RESULT_FILES) - 1)

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct result_file *)a)->name,
	    ((const struct result_file *)b)->name);
}

void result_files_sort(struct result_file *files, size_t n)
{
	if (n > 0)
		qsort(files, n, sizeof(files[0]), compare_files);
}

int result_manifest(const struct result_file *files, size_t n,
    struct text_out *out, struct error *e)
{
	char hex[SHA256_HEX];

	for (size_t i = 0; i < n; i++) {
		sha256_hex(files[i].sha256, hex);
		if (text_printf(out, e, "%s  %s\n", hex, files[i].name) < 0)
			return -1;
	}
	return 0;
}

/* Keys in their order; the picture's size stands around the rest. */
static int put_file(
    const struct result_file *f, struct text_out *out, struct error *e)
{
	const char *name = f->name + FILES_LEN;
	bool has_size = f->picture.width > 0;

	if (has_size && text_printf(out, e, "\"height\":%" PRIu32 ",",
	                    f->picture.height) < 0)
		return -1;
	if (text_printf(out, e,
	        "\"name\":\"%s\",%s\"size\":%" PRIu64 ",\"type\":\"%s\"", name,
	        f->is_plot ? "\"plot\":true," : "", f->size,
	        picture_type(f->picture.kind, name)) < 0)
		return -1;
	return has_size ? text_printf(
	                      out, e, ",\"width\":%" PRIu32, f->picture.width)
	                : 0;
}

int result_files_json(const struct result_file *files, size_t n,
    struct text_out *out, struct error *e)
{
	size_t listed = 0;

	if (text_printf(out, e, "\"list\":[") < 0)
		return -1;
	for (size_t i = 0; i < n && listed < RESULT_LISTED_MAX; i++) {
		if (strncmp(files[i].name, RESULT_FILES, FILES_LEN) != 0)
			continue;
		if (text_printf(out, e, listed++ > 0 ? ",{" : "{") < 0 ||
		    put_file(&files[i], out, e) < 0 ||
		    text_printf(out, e, "}") < 0)
			return -1;
	}
	return text_printf(out, e, "]");
}

const char *result_files_first(const char *json)
{
	static const char key[] = ",\"list\":[";
	const char *at = strstr(json, key);

	return at != NULL ? at + sizeof(key) - 1 : NULL;
}

/* Behind 'word', or NULL if it does not stand there. */
static const char *behind(const char *at, const char *word)
{
	size_t n = strlen(word);

	return at != NULL && strncmp(at, word, n) == 0 ? at + n : NULL;
}

/* Digits; stops at the first that does not fit. */
static const char *read_u32(const char *at, uint32_t *ret)
{
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	*ret = value <= UINT32_MAX ? (uint32_t)value : 0;
	return at;
}

static const char *read_type(const char *at, char ret[PICTURE_TYPE_MAX])
{
	size_t n = strcspn(at, "\"");

	if (n >= PICTURE_TYPE_MAX || at[n] != '"')
		return NULL;
	memcpy(ret, at, n);
	ret[n] = '\0';
	return at + n + 1;
}

bool result_files_next(
    const char **at, const char *name, struct result_listed *ret)
{
	struct result_listed is = { .is_plot = false };
	const char *here = behind(*at, "{");
	const char *next;
	size_t len = strlen(name);

	next = behind(here, "\"height\":");
	if (next != NULL)
		here = behind(read_u32(next, &is.height), ",");
	here = behind(here, "\"name\":\"");
	if (here == NULL || strncmp(here, name, len) != 0)
		return false;
	here = behind(here + len, "\",");
	next = behind(here, "\"plot\":true,");
	is.is_plot = next != NULL;
	here = behind(next != NULL ? next : here, "\"size\":");
	if (here == NULL)
		return false;
	here = behind(here + strspn(here, "0123456789"), ",\"type\":\"");
	if (here != NULL)
		here = read_type(here, is.type);
	next = behind(here, ",\"width\":");
	if (next != NULL)
		here = read_u32(next, &is.width);
	here = behind(here, "}");
	if (here == NULL)
		return false;
	*at = *here == ',' ? here + 1 : here;
	*ret = is;
	return true;
}
