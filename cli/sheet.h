/*
 * cli/sheet.h - an answer made once and printed either way: as one JSON object,
 * or as lines "key  value" for a person, with every foreign byte escaped.
 */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define SHEET_MAX 2097152

/* Big: on the heap, zeroed but for 'json'. */
struct sheet {
	bool json;
	bool failed; /* it did not fit; sheet_print says so */
	bool first;  /* nothing stands behind the last bracket yet */
	bool in_list;
	int depth;
	size_t column; /* of a list for a person */
	size_t items;
	struct text_out out;
	char text[SHEET_MAX];
};

/* An object; 'key' is NULL for the outermost and inside a list (JSON only). */
void sheet_begin(struct sheet *s, const char *key);
void sheet_end(struct sheet *s);

/* A list of texts, or of objects (JSON only). */
void sheet_list(struct sheet *s, const char *key);
void sheet_item(struct sheet *s, const char *text);
void sheet_list_end(struct sheet *s);

void sheet_text(struct sheet *s, const char *key, const char *text);
void sheet_number(struct sheet *s, const char *key, uint64_t value);
void sheet_flag(struct sheet *s, const char *key, bool value); /* yes, no */

/* To standard output; the exit code: 0, or 1 after a line about why not. */
int sheet_print(struct sheet *s) MUST_CHECK;

#endif
