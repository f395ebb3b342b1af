/*
 * executor/result_files.h - the files of a result folder: their list in
 * result.json, and MANIFEST.  Pure.
 */
#ifndef EXECUTOR_RESULT_FILES_H
#define EXECUTOR_RESULT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"
#include "base/sha256.h"
#include "base/text.h"
#include "executor/picture.h"

#define RESULT_FILES "files/" /* what the program left lies there */

/* Files that result.json tells about; all of them are in MANIFEST. */
#define RESULT_LISTED_MAX 512

/* One file of a result folder. */
struct result_file {
	char name[EVENT_NAME_MAX]; /* "stdout", "files/plot.png" */
	uint64_t size;
	uint8_t sha256[SHA256_BYTES];
	struct picture picture; /* of what the program left */
	bool is_plot;           /* collected as a figure of the program */
};

/* Sort by the bytes of the name. */
void result_files_sort(struct result_file *files, size_t n);

/* Append MANIFEST in sha256sum format; 'files' is sorted. */
int result_manifest(const struct result_file *files, size_t n,
    struct text_out *out, struct error *e) MUST_CHECK;

/*
 * Append the member "list" of "files" in result.json: an object for each of the
 * first RESULT_LISTED_MAX files that the program left, by name, with its type,
 * "plot" if it is a figure, and the size of the picture if it has one.
 * 'files' is sorted.
 */
int result_files_json(const struct result_file *files, size_t n,
    struct text_out *out, struct error *e) MUST_CHECK;

/* What the list says of one file. */
struct result_listed {
	char type[PICTURE_TYPE_MAX];
	uint32_t width, height; /* both 0 if it has none */
	bool is_plot;
};

/* The first item of the list in a result.json of ours; NULL if there is none:
 * older ones have no list. */
const char *result_files_first(const char *json);

/*
 * What the item at *at says, if it is about 'name' (percent-encoded, beneath
 * "files/"); *at then stands at the next item.  Names are asked for in the
 * order of the list.  False, and nothing moves, if it is about another.
 */
bool result_files_next(
    const char **at, const char *name, struct result_listed *ret);

#endif
