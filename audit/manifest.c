/*
 * audit/manifest.c - reads MANIFEST.  Linked by the audit reader; every byte is
 * hostile.
 */
#include "audit/manifest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/c1.h"

#define NAME_AT (2 * SHA256_BYTES + 2)

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order != 0)
		return order;
	return a_len < b_len ? -1 : a_len > b_len;
}

static bool name_is_good(const char *name, size_t len)
{
	const char *end = name + len;

	if (len == 0 || len >= MANIFEST_NAME_MAX)
		return false;
	for (const char *at = name; at < end; at++)
		if (*at <= 0x20 || *at > 0x7e || *at == '\\')
			return false;
	while (name <= end) {
		const char *slash = memchr(name, '/', (size_t)(end - name));
		size_t part = (size_t)((slash != NULL ? slash : end) - name);

		if (part == 0 || (part <= 2 && memcmp(name, "..", part) == 0))
			return false;
		name += part + 1;
	}
	return true;
}

static bool read_line(const char *text, size_t len, struct manifest_line *ret)
{
	struct c1_value digest = { C1_STRING, text, NAME_AT - 2 };

	if (len <= NAME_AT || memcmp(text + NAME_AT - 2, "  ", 2) != 0 ||
	    !c1_hex(&digest, ret->sha256, SHA256_BYTES))
		return false;
	ret->name = text + NAME_AT;
	ret->name_len = len - NAME_AT;
	return name_is_good(ret->name, ret->name_len);
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static int read_lines(
    const char *text, size_t len, struct manifest *m, struct error *e)
{
	const char *end = text + len;
	size_t n = 0;

	for (; text < end; n++) {
		struct manifest_line *l = &m->lines[n];
		const char *lf = memchr(text, '\n', (size_t)(end - text));

		if (lf == NULL)
			return FAIL(e, ERROR_MALFORMED,
			    "line %zu does not end in LF", n + 1);
		if (!read_line(text, (size_t)(lf - text), l))
			return FAIL(e, ERROR_MALFORMED,
			    "line %zu is not digest, two spaces, name", n + 1);
		if (n > 0 && compare(l[-1].name, l[-1].name_len, l->name,
		                 l->name_len) >= 0)
			return FAIL(e, ERROR_MALFORMED,
			    "line %zu is not sorted by name", n + 1);
		text = lf + 1;
	}
	m->n_lines = n;
	return 0;
}

int manifest_read(
    const char *text, size_t len, struct manifest *ret, struct error *e)
{
	struct manifest m = { NULL, 0 };

	/* One more for a last line without LF, which is then refused. */
	m.lines = calloc(count_lines(text, len) + 1, sizeof(m.lines[0]));
	if (m.lines == NULL)
		return FAIL_SYS(e, "allocate the lines of MANIFEST");
	if (read_lines(text, len, &m, e) < 0) {
		manifest_done(&m);
		return -1;
	}
	*ret = m;
	return 0;
}

void manifest_done(struct manifest *m)
{
	free(m->lines);
	*m = (struct manifest){ NULL, 0 };
}

const struct manifest_line *manifest_find(
    const struct manifest *m, const char *name, size_t len)
{
	size_t low = 0;
	size_t high = m->n_lines;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct manifest_line *l = &m->lines[middle];
		int order = compare(l->name, l->name_len, name, len);

		if (order == 0)
			return l;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
