/*
 * policy/effective_writer.h - pieces of the effective policy's text.  Private
 * to effective.c.
 */
#ifndef POLICY_EFFECTIVE_WRITER_H
#define POLICY_EFFECTIVE_WRITER_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "policy/limits.h"

/* 'failed' sticks: the caller then tries again with more room. */
struct writer {
	struct text_out out;
	struct error *e;
	bool failed;
};

static inline void put(struct writer *w, const char *text)
{
	if (text_printf(&w->out, w->e, "%s", text) < 0)
		w->failed = true;
}

static inline void put_string(struct writer *w, const char *text)
{
	if (text_json_string(text, strlen(text), &w->out, w->e) < 0)
		w->failed = true;
}

static inline void put_u64(struct writer *w, uint64_t value)
{
	if (value == LIMIT_UNLIMITED)
		put(w, "\"unlimited\"");
	else if (text_printf(&w->out, w->e, "%" PRIu64, value) < 0)
		w->failed = true;
}

static inline void put_bool(struct writer *w, const char *key, bool value)
{
	put(w, key);
	put(w, value ? "true" : "false");
}

/* 'n' texts in rows of 'width' bytes. */
struct rows {
	const char *at;
	size_t width, n;
};

static inline void put_rows(struct writer *w, const char *key, struct rows rows)
{
	put(w, key);
	put(w, "[");
	for (size_t i = 0; i < rows.n; i++) {
		put(w, i > 0 ? "," : "");
		put_string(w, rows.at + i * rows.width);
	}
	put(w, "]");
}

#define ROWS(member, count)                             \
	(struct rows)                                   \
	{                                               \
		(member)[0], sizeof((member)[0]), count \
	}

#endif
