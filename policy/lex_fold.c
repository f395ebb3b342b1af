/*
 * policy/lex_fold.c - one letter written as another.  Linked by bailiff-screen
 * and bailiff-policy; pure.
 *
 * Python compares names after NFKC, in which full-width, mathematical and some
 * other letters are the ASCII ones: whole alphabets here, the rest as a table.
 */
#include "policy/lex_fold.h"

#include <string.h>

#include "policy/lexer.h"

#define TOP_BIT 0x80
/* Thirteen alphabets, of both cases each. */
#define MATHEMATICAL 0x1d400u

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* Whole alphabets; 0: it is in none. */
static char alphabetic(uint32_t point)
{
	if (point >= 0xff10 && point <= 0xff19)
		return (char)('0' + (point - 0xff10));
	if (point >= 0xff21 && point <= 0xff3a)
		return (char)('A' + (point - 0xff21));
	if (point >= 0xff41 && point <= 0xff5a)
		return (char)('a' + (point - 0xff41));
	if (point >= MATHEMATICAL && point < MATHEMATICAL + 13 * 52)
		return letters[(point - MATHEMATICAL) % 52];
	if (point >= 0x1d7ce && point <= 0x1d7ff)
		return (char)('0' + (point - 0x1d7ce) % 10);
	return 0;
}

/* The ASCII that Python takes 'point' for in a name; its length, or 0. */
static size_t normalised(uint32_t point, char ret[LEX_ALIKE_MAX])
{
	size_t low = 0;
	size_t high = lex_n_alikes;

	ret[0] = alphabetic(point);
	if (ret[0] != 0)
		return 1;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lex_alikes[middle].point < point)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == lex_n_alikes || lex_alikes[low].point != point)
		return 0;
	memcpy(ret, lex_alikes[low].as, LEX_ALIKE_MAX);
	return strlen(lex_alikes[low].as);
}

/* A UTF-8 sequence of two to four bytes; its length, or 0. */
static size_t decode(const uint8_t *at, size_t n, uint32_t *ret)
{
	size_t len = at[0] >= 0xf0   ? 4
	             : at[0] >= 0xe0 ? 3
	             : at[0] >= 0xc2 ? 2
	                             : 0;

	if (len == 0 || len > n)
		return 0;
	*ret = at[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != TOP_BIT)
			return 0;
		*ret = *ret << 6 | (at[i] & 0x3f);
	}
	return len;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* 'n' hex digits at 'at'; false if one is none. */
static bool read_hex(const uint8_t *at, size_t n, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0 || *ret > 0xffffff)
			return false;
		*ret = *ret << 4 | (uint32_t)digit;
	}
	return n > 0;
}

/* JavaScript's \uXXXX and \u{X...} at 'at'; its length, or 0. */
static size_t escape(const uint8_t *at, size_t n, uint32_t *ret)
{
	const uint8_t *end;

	if (n < 6 || at[0] != '\\' || at[1] != 'u')
		return n >= 5 && memcmp(at, "\\u{", 3) == 0 && at[4] == '}' &&
		               read_hex(at + 3, 1, ret)
		           ? 5
		           : 0;
	if (at[2] != '{')
		return read_hex(at + 2, 4, ret) ? 6 : 0;
	end = memchr(at + 3, '}', n - 3 < 16 ? n - 3 : 16);
	return end != NULL && read_hex(at + 3, (size_t)(end - at) - 3, ret)
	           ? (size_t)(end - at) + 1
	           : 0;
}

bool fold_may(enum lex_folding f, const uint8_t *text, size_t n)
{
	uint8_t any = 0;

	if (f == FOLD_ESCAPES)
		return memmem(text, n, "\\u", 2) != NULL;
	for (size_t i = 0; f == FOLD_LOOK_ALIKE && i < n; i++)
		any |= text[i];
	return (any & TOP_BIT) != 0;
}

/* Bytes that stand for the 'ret_n' (at most as many) of 'ret', or 0. */
static size_t fold_one(enum lex_folding f, const uint8_t *at, size_t n,
    char ret[LEX_ALIKE_MAX], size_t *ret_n)
{
	uint32_t point = 0;
	size_t len;

	if (f == FOLD_LOOK_ALIKE) {
		len = at[0] >= TOP_BIT ? decode(at, n, &point) : 0;
		*ret_n = len > 0 ? normalised(point, ret) : 0;
		return *ret_n > 0 ? len : 0;
	}
	len = at[0] == '\\' ? escape(at, n, &point) : 0;
	*ret_n = 1;
	ret[0] = (char)point;
	return point != 0 && point < TOP_BIT ? len : 0;
}

void fold_names(enum lex_folding f, uint8_t *text, size_t n, uint8_t *classes)
{
	for (size_t i = 0; f != FOLD_NOTHING && i < n; i++) {
		char as[LEX_ALIKE_MAX];
		size_t n_as = 0;
		size_t len = 0;

		if ((classes[i] & LEXER_CODE) != 0)
			len = fold_one(f, text + i, n - i, as, &n_as);
		if (len == 0)
			continue;
		memcpy(text + i, as, n_as);
		memset(classes + i + n_as, LEXER_DROP, len - n_as);
		i += len - 1;
	}
}

/* One step of Java's reading: bytes taken, and what they stand for. */
struct step {
	size_t taken, n;
	uint8_t as[3];
};

static struct step read_step(const uint8_t *text, size_t n, size_t i)
{
	struct step s = { 1, 1, { text[i] } };
	uint32_t unit;
	size_t u = i + 1;

	if (text[i] != '\\' || i + 1 >= n)
		return s;
	if (text[u] != 'u')
		return (struct step){ 2, 2, { '\\', text[u] } };
	while (u < n && text[u] == 'u')
		u++;
	if (u + 4 > n || !read_hex(text + u, 4, &unit))
		return s;
	s.taken = u + 4 - i;
	if (unit < TOP_BIT) {
		s.as[0] = (uint8_t)unit;
		return s;
	}
	/* Halves of pairs too: nothing looks at them but as "not ASCII". */
	s.n = 3;
	s.as[0] = (uint8_t)(0xe0 | unit >> 12);
	s.as[1] = (uint8_t)(TOP_BIT | (unit >> 6 & 0x3f));
	s.as[2] = (uint8_t)(TOP_BIT | (unit & 0x3f));
	return s;
}

size_t fold_unescape(const uint8_t *text, size_t n, size_t max, uint8_t *to)
{
	size_t len = 0;

	for (size_t i = 0; i < n;) {
		struct step s = read_step(text, n, i);

		if (len + s.n > max)
			break;
		memcpy(to + len, s.as, s.n);
		len += s.n;
		i += s.taken;
	}
	return len;
}

size_t fold_unescaped_from(const uint8_t *text, size_t n, size_t at)
{
	size_t len = 0;
	size_t i = 0;

	while (i < n) {
		struct step s = read_step(text, n, i);

		if (len + s.n > at)
			break;
		len += s.n;
		i += s.taken;
	}
	return i;
}
