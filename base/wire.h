/*
 * base/wire.h - the one encoder and decoder of every message between our
 * programs.  A message is a plain struct; a table of rows says how its members
 * travel.  Adding a member is adding a row; no other code changes.
 *
 * Bytes of a message: verb (u16), then each member in the order of its rows:
 *   WIRE_U32    4 bytes, little-endian
 *   WIRE_U64    8 bytes, little-endian
 *   WIRE_FIXED  exactly 'size' bytes                        (uint8_t x[size])
 *   WIRE_TEXT   u16 length, then that many bytes, none NUL  (char x[size])
 *   WIRE_BLOB   u32 length, then that many bytes            (WIRE_BLOB_OF)
 *   WIRE_LIST   u32 count, then that many elements          (WIRE_LIST_OF)
 * A text or blob longer than its member, a list with more elements than its
 * member, a NUL in a text, an unknown verb, a missing byte and a left-over byte
 * are all ERROR_MALFORMED.
 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

enum wire_kind {
	WIRE_U32,
	WIRE_U64,
	WIRE_FIXED,
	WIRE_TEXT,
	WIRE_BLOB,
	WIRE_LIST,
};

struct wire_layout;

struct wire_field {
	const char *name;
	enum wire_kind kind;
	uint32_t offset;
	uint32_t size; /* capacity: bytes, or elements of a list */
	const struct wire_layout *element;
};

struct wire_layout {
	size_t size; /* of the struct */
	size_t n_fields;
	const struct wire_field *fields;
};

struct wire_message {
	uint16_t verb;
	const char *name;
	const struct wire_layout *layout; /* NULL: a verb alone */
};

/* What may be said on one kind of channel in one direction. */
struct wire_protocol {
	const char *name;
	size_t n_messages;
	const struct wire_message *messages;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): types and member names take none */

/* Members of a message that carry a count. */
#define WIRE_BLOB_OF(cap)          \
	struct {                   \
		uint64_t len;      \
		uint8_t data[cap]; \
	}
#define WIRE_LIST_OF(type, cap)  \
	struct {                 \
		uint64_t n;      \
		type items[cap]; \
	}

/* Rows of a table. */
#define WIRE_ROW(s, m, kind, size, element)                                  \
	{                                                                    \
#m, kind, (uint32_t)offsetof(struct s, m), (uint32_t)(size), \
		    element                                                  \
	}
#define WIRE_ROW_U32(s, m) WIRE_ROW(s, m, WIRE_U32, 4, NULL)
#define WIRE_ROW_U64(s, m) WIRE_ROW(s, m, WIRE_U64, 8, NULL)
#define WIRE_ROW_FIXED(s, m) \
	WIRE_ROW(s, m, WIRE_FIXED, sizeof(((struct s *)0)->m), NULL)
#define WIRE_ROW_TEXT(s, m) \
	WIRE_ROW(s, m, WIRE_TEXT, sizeof(((struct s *)0)->m), NULL)
#define WIRE_ROW_BLOB(s, m) \
	WIRE_ROW(s, m, WIRE_BLOB, sizeof(((struct s *)0)->m.data), NULL)
#define WIRE_ROW_LIST(s, m, layout)                  \
	WIRE_ROW(s, m, WIRE_LIST,                    \
	    sizeof(((struct s *)0)->m.items) /       \
	        sizeof(((struct s *)0)->m.items[0]), \
	    layout)
#define WIRE_LAYOUT(s, rows)                                           \
	{                                                              \
		sizeof(struct s), sizeof(rows) / sizeof(rows[0]), rows \
	}

/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Append the bytes of message 'verb' of 'protocol' to 'out'.  'message' is the
 * struct of its layout (NULL for a verb alone).
 */
int wire_encode(const struct wire_protocol *protocol, uint16_t verb,
    const void *message, struct bytes_writer *out, struct error *e) MUST_CHECK;

struct wire_target {
	void *message; /* borrowed; aligned for any object */
	size_t cap;
};

/*
 * Decode one whole message.  'in' must hold exactly one.  On success *ret_verb
 * says which and 'to' holds its struct, zeroed first.  On failure *ret_verb is
 * untouched and the content of 'to' is unspecified.
 */
int wire_decode(const struct wire_protocol *protocol, struct bytes_reader *in,
    uint16_t *ret_verb, struct wire_target to, struct error *e) MUST_CHECK;

/* The name of a verb, for errors and logs; "unknown" if there is none. */
const char *wire_verb_name(const struct wire_protocol *protocol, uint16_t verb);

#endif
