/*
 * audit/show.h - a record as text for people.  Pure.  Strings of a record that
 * entry_read accepted are printable ASCII, so nothing needs another escape.
 */
#ifndef AUDIT_SHOW_H
#define AUDIT_SHOW_H

#include "audit/entry.h"
#include "base/text.h"

/* One aligned line with its LF: seq, time, type, run, what. */
int show_line(const struct entry *entry, struct text_out *out,
    struct error *e) MUST_CHECK;
#define SHOW_LINE_MAX 66000 /* bytes of one such line */

/* All fields of the record, one a line, indented by depth. */
int show_fields(const struct entry *entry, struct text_out *out,
    struct error *e) MUST_CHECK;
#define SHOW_FIELDS_MAX ((size_t)2 << 20)

#endif
