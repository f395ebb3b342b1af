/*
 * executor/result_inputs.h - what the record says of the inputs of a run: a
 * list in result.json, and the text that the intent has the digest of.  Pure.
 */
#ifndef EXECUTOR_RESULT_INPUTS_H
#define EXECUTOR_RESULT_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/text.h"
#include "executor/protocol.h"

/* A file that libraries are installed from; beside enum protocol_input_kind. */
#define RESULT_INPUT_LIBRARY 16

/* An input as it was given to the run. */
struct result_input {
	uint32_t kind; /* enum protocol_input_kind, RESULT_INPUT_LIBRARY */
	char name[PROTOCOL_NAME_MAX];
	uint64_t dev, ino; /* on the host; not of inline */
	uint64_t size;     /* not of a directory, nor is the digest */
	uint8_t sha256[SHA256_BYTES];
};

/* Sort by the bytes of the percent-encoded name. */
void result_inputs_sort(struct result_input *inputs, size_t n);

/* Append the member "inputs" of result.json and a comma; 'inputs' is sorted. */
int result_inputs_json(const struct result_input *inputs, size_t n,
    struct text_out *out, struct error *e) MUST_CHECK;

/*
 * Append the text whose digest the intent has as inputs.sha256: a line in
 * sha256sum format for each input, sorted; of a directory, whose content is
 * live, "directory MAJOR:MINOR INODE  NAME"; a library's name has "libraries/"
 * in front.  Whoever holds result.json can make
 * it again.
 */
int result_inputs_list(const struct result_input *inputs, size_t n,
    struct text_out *out, struct error *e) MUST_CHECK;

#endif
