/*
 * policy/schema.h - the published JSON Schema (2020-12) of a policy, printed
 * from the parser's own tables of keys, limits and shapes.
 */
#ifndef POLICY_SCHEMA_H
#define POLICY_SCHEMA_H

#include "base/text.h"

/* Enough for schema_print, with much to spare. */
#define SCHEMA_TEXT_MAX 262144

/* Append the schema, indented, with a newline at its end. */
int schema_print(struct text_out *out, struct error *e) MUST_CHECK;

#endif
