/*
 * base/wire.c - walks the tables of base/wire.h.  Linked by every program that
 * has a channel.  The bytes are hostile; the tables are ours.
 */
#include "base/wire.h"

#include <string.h>

/* Lists may hold lists; the depth is that of our own tables. */
/* NOLINTBEGIN(misc-no-recursion) */

static const struct wire_message *find(
    const struct wire_protocol *protocol, uint16_t verb)
{
	for (size_t i = 0; i < protocol->n_messages; i++)
		if (protocol->messages[i].verb == verb)
			return &protocol->messages[i];
	return NULL;
}

const char *wire_verb_name(const struct wire_protocol *protocol, uint16_t verb)
{
	const struct wire_message *m = find(protocol, verb);

	return m != NULL ? m->name : "unknown";
}

static uint64_t count_at(const uint8_t *member)
{
	uint64_t n;

	memcpy(&n, member, sizeof(n));
	return n;
}

static int put_fields(const struct wire_layout *layout, const uint8_t *from,
    struct bytes_writer *out, struct error *e);

static int put_list(const struct wire_field *f, const uint8_t *member,
    struct bytes_writer *out, struct error *e)
{
	uint64_t n = count_at(member);

	if (n > f->size)
		return FAIL(e, ERROR_LIMIT, "%s: more than %u elements",
		    f->name, f->size);
	bytes_put_u32(out, (uint32_t)n);
	for (uint64_t i = 0; i < n; i++)
		if (put_fields(f->element,
		        member + sizeof(n) + i * f->element->size, out, e) < 0)
			return -1;
	return 0;
}

static int put_blob(const struct wire_field *f, const uint8_t *member,
    struct bytes_writer *out, struct error *e)
{
	uint64_t len = count_at(member);

	if (len > f->size)
		return FAIL(
		    e, ERROR_LIMIT, "%s: more than %u bytes", f->name, f->size);
	bytes_put_u32(out, (uint32_t)len);
	bytes_put(out, member + sizeof(len), (size_t)len);
	return 0;
}

static int put_text(const struct wire_field *f, const uint8_t *member,
    struct bytes_writer *out, struct error *e)
{
	size_t len = strnlen((const char *)member, f->size);

	if (len == f->size || len > UINT16_MAX)
		return FAIL(e, ERROR_LIMIT, "%s: text too long", f->name);
	bytes_put_u16(out, (uint16_t)len);
	bytes_put(out, member, len);
	return 0;
}

static int put_field(const struct wire_field *f, const uint8_t *member,
    struct bytes_writer *out, struct error *e)
{
	uint32_t u32;

	switch (f->kind) {
	case WIRE_U32:
		memcpy(&u32, member, sizeof(u32));
		bytes_put_u32(out, u32);
		return 0;
	case WIRE_U64:
		bytes_put_u64(out, count_at(member));
		return 0;
	case WIRE_FIXED:
		bytes_put(out, member, f->size);
		return 0;
	case WIRE_TEXT:
		return put_text(f, member, out, e);
	case WIRE_BLOB:
		return put_blob(f, member, out, e);
	case WIRE_LIST:
		return put_list(f, member, out, e);
	}
	return FAIL(e, ERROR_STATE, "%s: unknown kind of member", f->name);
}

static int put_fields(const struct wire_layout *layout, const uint8_t *from,
    struct bytes_writer *out, struct error *e)
{
	for (size_t i = 0; layout != NULL && i < layout->n_fields; i++)
		if (put_field(&layout->fields[i],
		        from + layout->fields[i].offset, out, e) < 0)
			return -1;
	return 0;
}

int wire_encode(const struct wire_protocol *protocol, uint16_t verb,
    const void *message, struct bytes_writer *out, struct error *e)
{
	const struct wire_message *m = find(protocol, verb);

	if (m == NULL)
		return FAIL(e, ERROR_STATE, "%s: no message has verb %u",
		    protocol->name, verb);
	bytes_put_u16(out, verb);
	if (put_fields(m->layout, message, out, e) < 0)
		return FAIL_IN(e, "%s %s", protocol->name, m->name);
	if (out->bad)
		return FAIL(e, ERROR_LIMIT, "%s %s: more than %zu bytes",
		    protocol->name, m->name, out->cap);
	return 0;
}

static int get_fields(const struct wire_layout *layout, uint8_t *to,
    struct bytes_reader *in, struct error *e);

static int get_list(const struct wire_field *f, uint8_t *member,
    struct bytes_reader *in, struct error *e)
{
	uint64_t n = bytes_get_u32(in);

	if (n > f->size)
		return FAIL(e, ERROR_MALFORMED, "%s: more than %u elements",
		    f->name, f->size);
	memcpy(member, &n, sizeof(n));
	for (uint64_t i = 0; i < n; i++)
		if (get_fields(f->element,
		        member + sizeof(n) + i * f->element->size, in, e) < 0)
			return -1;
	return 0;
}

static int get_blob(const struct wire_field *f, uint8_t *member,
    struct bytes_reader *in, struct error *e)
{
	uint64_t len = bytes_get_u32(in);

	if (len > f->size)
		return FAIL(e, ERROR_MALFORMED, "%s: more than %u bytes",
		    f->name, f->size);
	memcpy(member, &len, sizeof(len));
	bytes_get(in, member + sizeof(len), (size_t)len);
	return 0;
}

static int get_text(const struct wire_field *f, uint8_t *member,
    struct bytes_reader *in, struct error *e)
{
	size_t len = bytes_get_u16(in);

	if (len >= f->size)
		return FAIL(e, ERROR_MALFORMED, "%s: more than %u bytes",
		    f->name, f->size - 1);
	bytes_get(in, member, len);
	if (strnlen((const char *)member, len) != len && !in->bad)
		return FAIL(e, ERROR_MALFORMED, "%s: holds a NUL", f->name);
	return 0;
}

static int get_field(const struct wire_field *f, uint8_t *member,
    struct bytes_reader *in, struct error *e)
{
	uint32_t u32;
	uint64_t u64;

	switch (f->kind) {
	case WIRE_U32:
		u32 = bytes_get_u32(in);
		memcpy(member, &u32, sizeof(u32));
		return 0;
	case WIRE_U64:
		u64 = bytes_get_u64(in);
		memcpy(member, &u64, sizeof(u64));
		return 0;
	case WIRE_FIXED:
		bytes_get(in, member, f->size);
		return 0;
	case WIRE_TEXT:
		return get_text(f, member, in, e);
	case WIRE_BLOB:
		return get_blob(f, member, in, e);
	case WIRE_LIST:
		return get_list(f, member, in, e);
	}
	return FAIL(e, ERROR_STATE, "%s: unknown kind of member", f->name);
}

static int get_fields(const struct wire_layout *layout, uint8_t *to,
    struct bytes_reader *in, struct error *e)
{
	for (size_t i = 0; layout != NULL && i < layout->n_fields; i++) {
		const struct wire_field *f = &layout->fields[i];

		if (get_field(f, to + f->offset, in, e) < 0)
			return -1;
		if (in->bad)
			return FAIL(
			    e, ERROR_MALFORMED, "%s: missing bytes", f->name);
	}
	return 0;
}

int wire_decode(const struct wire_protocol *protocol, struct bytes_reader *in,
    uint16_t *ret_verb, struct wire_target to, struct error *e)
{
	uint16_t verb = bytes_get_u16(in);
	const struct wire_message *m = in->bad ? NULL : find(protocol, verb);

	if (m == NULL)
		return FAIL(e, ERROR_MALFORMED, "%s: no message has verb %u",
		    protocol->name, verb);
	if (m->layout != NULL && m->layout->size > to.cap)
		return FAIL(e, ERROR_STATE, "%s %s: buffer too small",
		    protocol->name, m->name);
	if (m->layout != NULL)
		memset(to.message, 0, m->layout->size);
	if (get_fields(m->layout, to.message, in, e) < 0)
		return FAIL_IN(e, "%s %s", protocol->name, m->name);
	if (in->at != in->len)
		return FAIL(e, ERROR_MALFORMED, "%s %s: %zu bytes left over",
		    protocol->name, m->name, in->len - in->at);
	*ret_verb = verb;
	return 0;
}

/* NOLINTEND(misc-no-recursion) */
