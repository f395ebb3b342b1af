/*
 * audit/prove_read.h - one proof being made; private to audit/prove*.c.
 */
#ifndef AUDIT_PROVE_READ_H
#define AUDIT_PROVE_READ_H

#include <stdbool.h>

#include "audit/lines.h"
#include "audit/prove.h"

struct prove {
	const struct prove_from *from; /* borrowed */
	const struct prove_what *what; /* borrowed */
	struct lines lines;
	struct note_key pin;
	struct tree_head head; /* signed by 'pin' */
	uint8_t *leaves;       /* owned; prove_read.c alone */
	size_t n, cap;
	/* The record, once it is found. */
	bool found;
	uint64_t seq;
	uint8_t leaf[TREE_HASH];
};

/* The pin and the head it signed, once a record says which log this is. */
int prove_open_head(
    struct prove *p, const struct entry *record, struct error *e) MUST_CHECK;

/* Is it an outcome, a denial or an intent of the run that is asked for?  The
 * first two are the last word on it. */
enum prove_run {
	RUN_OTHER,
	RUN_INTENT,
	RUN_ENDED
};
enum prove_run prove_is_of_run(
    const struct prove *p, const struct entry *record);

/* Read the whole log from its front: find the record, and its path. */
int prove_by_reading(
    struct prove *p, struct tree_path *ret, struct error *e) MUST_CHECK;

/* prove_index.c: the same from the index.  ERROR_CLOSED: there is none.  On
 * any other failure it is wrong, or the log is. */
int prove_by_index(
    struct prove *p, struct tree_path *ret, struct error *e) MUST_CHECK;

#endif
