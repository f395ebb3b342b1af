/*
 * executor/picture_markup.c - just enough of XML to find the first element and
 * its size.  Linked by bailiff-collect; pure.  No entity, no nesting, no name
 * space is understood, and none has to be.
 */
#include "executor/picture_markup.h"

#include <string.h>
#include <strings.h>

#define NUMBER_MAX 32
#define EXTENT_MAX 1e9
#define VALUE_MAX  256 /* bytes of an attribute that is looked at */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void markup_skip_space(struct markup *m)
{
	while (m->at < m->len && is_space(m->text[m->at]))
		m->at++;
}

static bool begins(const struct markup *m, const char *word)
{
	size_t n = strlen(word);

	return m->len - m->at >= n &&
	       strncasecmp(m->text + m->at, word, n) == 0;
}

bool markup_find(struct markup *m, const char *word)
{
	size_t n = strlen(word);
	const char *at = memmem(m->text + m->at, m->len - m->at, word, n);

	if (at == NULL)
		return false;
	m->at = (size_t)(at - m->text) + n;
	return true;
}

bool markup_number(struct markup *m, double *ret)
{
	size_t end = m->len - m->at < NUMBER_MAX ? m->len : m->at + NUMBER_MAX;
	bool minus = m->at < end && m->text[m->at] == '-';
	double value = 0;
	double place = 1;
	size_t n = 0;

	if (m->at < end && (minus || m->text[m->at] == '+'))
		m->at++;
	for (; m->at < end && is_digit(m->text[m->at]); m->at++, n++)
		value = value * 10 + (m->text[m->at] - '0');
	if (m->at < end && m->text[m->at] == '.')
		for (m->at++; m->at < end && is_digit(m->text[m->at]);
		     m->at++, n++) {
			place /= 10;
			value += place * (m->text[m->at] - '0');
		}
	*ret = minus ? -value : value;
	return n > 0;
}

uint32_t markup_extent(double length)
{
	const double rest = 1e-6; /* of sums of fractions */
	uint32_t whole;

	if (!(length > 0 && length <= EXTENT_MAX))
		return 0;
	whole = (uint32_t)length;
	return whole + (length - whole > rest);
}

/* Byte order mark, declaration, document type, comments. */
static void skip_prolog(struct markup *m)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "<?", "?>" },
		{ "<!--", "-->" },
		{ "<!DOCTYPE svg", ">" },
	};
	bool again = true;

	if (begins(m, "\xef\xbb\xbf"))
		m->at += 3;
	while (again) {
		again = false;
		markup_skip_space(m);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (begins(m, rows[i].from)) {
				again = markup_find(m, rows[i].to);
				break;
			}
	}
}

bool markup_is_html(struct markup m)
{
	static const char *const starts[] = { "<!DOCTYPE html", "<html",
		"<head", "<body" };

	skip_prolog(&m);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t n = strlen(starts[i]);

		if (begins(&m, starts[i]) && m.len - m.at > n &&
		    (is_space(m.text[m.at + n]) || m.text[m.at + n] == '>'))
			return true;
	}
	return false;
}

/* One attribute of a start tag; false at its end, or at what is none. */
static bool next_attribute(
    struct markup *m, struct markup *ret_name, struct markup *ret_value)
{
	const char *end;
	char quote;

	markup_skip_space(m);
	*ret_name = (struct markup){ m->text + m->at, 0, 0 };
	while (m->at < m->len && !is_space(m->text[m->at]) &&
	       strchr("=<>/", m->text[m->at]) == NULL) {
		m->at++;
		ret_name->len++;
	}
	markup_skip_space(m);
	if (ret_name->len == 0 || m->at == m->len || m->text[m->at] != '=')
		return false;
	m->at++;
	markup_skip_space(m);
	if (m->at == m->len)
		return false;
	quote = m->text[m->at++];
	end = memchr(m->text + m->at, quote, m->len - m->at);
	if ((quote != '"' && quote != '\'') || end == NULL)
		return false;
	*ret_value = (struct markup){ m->text + m->at,
		(size_t)(end - m->text) - m->at, 0 };
	m->at = (size_t)(end - m->text) + 1;
	if (ret_value->len > VALUE_MAX)
		ret_value->len = VALUE_MAX;
	return true;
}

static bool is_named(const struct markup *name, const char *word)
{
	return name->len == strlen(word) &&
	       memcmp(name->text, word, name->len) == 0;
}

/* SVG 1.1 7.10: a length in absolute units, as px; 0 if it is another. */
static double length_of(struct markup value)
{
	static const struct {
		const char *unit;
		double px;
	} units[] = {
		{ "px", 1 },
		{ "pt", 96.0 / 72 },
		{ "pc", 16 },
		{ "in", 96 },
		{ "cm", 96 / 2.54 },
		{ "mm", 96 / 25.4 },
	};
	double number;

	markup_skip_space(&value);
	if (!markup_number(&value, &number))
		return 0;
	if (value.at == value.len)
		return number;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (begins(&value, units[i].unit))
			return number * units[i].px;
	return 0;
}

/* "min-x min-y width height", with spaces or commas. */
static void read_box(struct markup value, double ret[2])
{
	double box[4];

	for (size_t i = 0; i < 4; i++) {
		markup_skip_space(&value);
		if (i > 0 && value.at < value.len &&
		    value.text[value.at] == ',')
			value.at++;
		markup_skip_space(&value);
		if (!markup_number(&value, &box[i]))
			return;
	}
	ret[0] = box[2];
	ret[1] = box[3];
}

bool markup_is_svg(struct markup m, uint32_t *ret_width, uint32_t *ret_height)
{
	double size[2] = { 0, 0 };
	double box[2] = { 0, 0 };
	struct markup name;
	struct markup value;
	static const char start[] = "<svg";

	skip_prolog(&m);
	if (m.len - m.at < sizeof(start) ||
	    memcmp(m.text + m.at, start, 4) != 0)
		return false;
	m.at += sizeof(start) - 1;
	if (!is_space(m.text[m.at]) && m.text[m.at] != '>')
		return false;
	while (next_attribute(&m, &name, &value)) {
		if (is_named(&name, "width"))
			size[0] = length_of(value);
		else if (is_named(&name, "height"))
			size[1] = length_of(value);
		else if (is_named(&name, "viewBox"))
			read_box(value, box);
	}
	if (!(size[0] > 0 && size[1] > 0))
		memcpy(size, box, sizeof(size));
	*ret_width = markup_extent(size[0]);
	*ret_height = markup_extent(size[1]);
	return true;
}
