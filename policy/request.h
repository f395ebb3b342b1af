/*
 * policy/request.h - a request written as JSON: what `bailiff policy explain`
 * and `bailiff policy test` judge.  A run's own request never takes this way;
 * it comes as a message (executor/protocol.h).
 *
 *   {
 *     "language": "python",                       required
 *     "code": "print(1)",                         required; or its size, 8
 *     "stdin": 1048576,                           or its text; nothing: 0
 *     "args": ["--year", "2026"],                 or their size, each with a NUL
 *     "limits": { "wall_ms": 5000 },              only what is asked for
 *     "inputs": [
 *       { "file": "/srv/data/a.csv", "name": "a.csv" },
 *       { "directory": "/srv/data/images" },      name: the last component
 *       { "inline": 1200, "name": "notes.txt" }   or its text
 *     ],
 *     "libraries": ["six", "numpy==1.24.2"]
 *   }
 *
 * Where a number stands for a text, its content is not known: code rules then
 * have nothing to look at.  Read as strictly as a policy: base/scan.h first,
 * then tables of keys; a text may be empty or hold anything but NUL, since
 * judging it is the decision's work.  A limit is digits only; "unlimited" where
 * limit_table says so.
 */
#ifndef POLICY_REQUEST_H
#define POLICY_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/policy.h"
#include "policy/reader.h"

/* Big: on the heap.  Pages that no text needs are never touched. */
struct request {
	struct policy_request asks; /* its texts point into 'bytes' */
	const char *code;           /* into 'bytes', or NULL: only the size */
	size_t used;
	/* A text and its NUL are shorter than what stands in the JSON. */
	char bytes[POLICY_TEXT_MAX];
};

/*
 * A whole file of at most POLICY_TEXT_MAX bytes.  'r' is scratch space, with
 * r->faults set; faults are added there and *e is the first in one line:
 * name:line:column: pointer: text.  On failure *ret is of no use.
 */
int request_decode(struct reader *r, const struct policy_text *text,
    struct request *ret, struct error *e) MUST_CHECK;

/* One object inside a text that 'r' has open; -1 when faults were added. */
int request_read(
    struct reader *r, uint32_t node, struct request *ret) MUST_CHECK;

/* "limits" alone: sets asks->asks and asks->limits of those named. */
void request_read_limits(
    struct reader *r, uint32_t node, struct policy_request *asks);

/* The keys, for the manual's test and for schemas. */
extern const struct reader_keys request_keys;
extern const struct reader_keys request_input_keys;

#endif
