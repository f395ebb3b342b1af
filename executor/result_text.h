/*
 * executor/result_text.h - the text of result.json.  Pure.
 */
#ifndef EXECUTOR_RESULT_TEXT_H
#define EXECUTOR_RESULT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"
#include "base/sha256.h"
#include "base/text.h"
#include "executor/result_files.h"
#include "executor/result_inputs.h"

/* Of the largest result.json: every list full, every name at its bound. */
#define RESULT_JSON_MAX 524288

/* Skipped files that it names; their number is in it whatever it is. */
#define RESULT_SKIPPED_MAX 64

struct result_skipped {
	uint32_t why;              /* enum collect_why */
	bool cut;                  /* the name is only the front of it */
	char name[EVENT_NAME_MAX]; /* percent-encoded, beneath /sandbox */
};

/* Encode 'len' raw bytes into ret->name, as many as fit. */
void result_skipped_name(
    const uint8_t *name, size_t len, struct result_skipped *ret);

struct result_facts {
	const struct event_intent *intent;    /* borrowed */
	const struct event_outcome *outcome;  /* borrowed; manifest not read */
	const struct result_skipped *skipped; /* borrowed */
	size_t n_skipped;
	const char *remedy; /* of a failed step, else ""; borrowed */
	/* Sorted by result_inputs_sort; borrowed. */
	const struct result_input *inputs;
	size_t n_inputs;
	/* Sorted by result_files_sort; borrowed. */
	const struct result_file *files;
	size_t n_files;
};

/*
 * Append result.json: one line of canonical JSON (keys sorted, no spaces) and
 * a LF.  'audit' is the intent's place in the log, never the outcome's, which
 * commits to this text.
 */
int result_json(const struct result_facts *facts, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * The uid in a result.json of ours.  Strings in it hold no bare quotation
 * mark, so the bytes of the key stand in it once.  ERROR_MALFORMED if not.
 */
int result_json_uid(
    const char *text, uint32_t *ret_uid, struct error *e) MUST_CHECK;
/* The bytes of all artifacts. */
int result_json_files(
    const char *text, uint64_t *ret_bytes, struct error *e) MUST_CHECK;
/* Was the run made under a policy of that name? */
bool result_json_is_of(const char *text, const char *policy);

#endif
