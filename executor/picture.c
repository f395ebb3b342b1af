/*
 * executor/picture.c - looks at the first bytes of hostile files.  Linked by
 * bailiff-collect; pure.  Every read is bounded by a span; nothing is decoded.
 */
#include "executor/picture.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "executor/picture_markup.h"

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static uint32_t le16(const uint8_t *p)
{
	return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t le24(const uint8_t *p)
{
	return (uint32_t)p[2] << 16 | le16(p);
}

static void look_png(const uint8_t *data, size_t len, struct picture *ret)
{
	enum {
		IHDR = 12,
		WIDTH = 16,
		HEIGHT = 20,
		END = 24
	};

	if (len < END || memcmp(data + IHDR, "IHDR", 4) != 0)
		return;
	ret->width = be32(data + WIDTH);
	ret->height = be32(data + HEIGHT);
}

static void look_gif(const uint8_t *data, size_t len, struct picture *ret)
{
	enum {
		WIDTH = 6,
		HEIGHT = 8,
		END = 10
	};

	if (len < END)
		return;
	ret->width = le16(data + WIDTH);
	ret->height = le16(data + HEIGHT);
}

/* T.81 table B.1: SOF0 to SOF15 without DHT, JPG and DAC. */
static bool is_frame(uint8_t marker)
{
	return (marker & 0xf0) == 0xc0 && marker != 0xc4 && marker != 0xc8 &&
	       marker != 0xcc;
}

/* Segment by segment up to the frame header. */
static void look_jpeg(const uint8_t *data, size_t len, struct picture *ret)
{
	enum {
		FILL = 0xff,
		SOS = 0xda,
		HEIGHT = 3, /* behind length and precision */
		WIDTH = 5,
		FRAME = 7
	};
	size_t at = 2;

	while (at + 2 <= len && data[at] == FILL) {
		const uint8_t *segment = data + at + 2;
		size_t left = len - at - 2;
		uint8_t marker = data[at + 1];

		if (marker == FILL) {
			at++;
			continue;
		}
		if (marker == SOS || left < FRAME)
			return;
		if (is_frame(marker)) {
			ret->height = be16(segment + HEIGHT);
			ret->width = be16(segment + WIDTH);
			return;
		}
		if (be16(segment) < 2)
			return;
		at += 2 + be16(segment);
	}
}

/* RFC 9649 2.5 (lossy; RFC 6386 9.1), 2.6 (lossless), 2.7 (extended). */
static void look_webp(const uint8_t *data, size_t len, struct picture *ret)
{
	enum {
		CHUNK = 12,
		PAYLOAD = 20,
		END = 30,
		LOSSY_SIZE = 6,
		EXTENDED_SIZE = 4,
		BITS = 0x3fff
	};
	const uint8_t *at = data + PAYLOAD;

	if (len < END)
		return;
	if (memcmp(data + CHUNK, "VP8X", 4) == 0) {
		ret->width = le24(at + EXTENDED_SIZE) + 1;
		ret->height = le24(at + EXTENDED_SIZE + 3) + 1;
	} else if (memcmp(data + CHUNK, "VP8L", 4) == 0) {
		uint32_t bits = le16(at + 1) | le16(at + 3) << 16;

		ret->width = (bits & BITS) + 1;
		ret->height = (bits >> 14 & BITS) + 1;
	} else if (memcmp(data + CHUNK, "VP8 ", 4) == 0) {
		ret->width = le16(at + LOSSY_SIZE) & BITS;
		ret->height = le16(at + LOSSY_SIZE + 2) & BITS;
	}
}

/* The first page size that stands in the prefix uncompressed. */
static void look_pdf(const uint8_t *data, size_t len, struct picture *ret)
{
	static const char key[] = "/MediaBox";
	struct markup m = { (const char *)data, len, 0 };
	double box[4];

	if (!markup_find(&m, key))
		return;
	markup_skip_space(&m);
	if (m.at == m.len || m.text[m.at] != '[')
		return;
	m.at++;
	for (size_t i = 0; i < sizeof(box) / sizeof(box[0]); i++) {
		markup_skip_space(&m);
		if (!markup_number(&m, &box[i]))
			return;
	}
	ret->width = markup_extent(box[2] - box[0]);
	ret->height = markup_extent(box[3] - box[1]);
}

/* A character that the prefix cuts does not make bytes of a text. */
static bool is_text(const uint8_t *data, size_t len)
{
	static const char controls[] = "\t\n\r\f\x1b";
	size_t at = 0;

	while (at < len) {
		size_t n = text_utf8_length(data + at, len - at);

		if (n == 0)
			return len == PICTURE_PREFIX && len - at < 4 &&
			       data[at] >= 0xc2;
		if (data[at] == '\0' || data[at] == 0x7f ||
		    (data[at] < ' ' && strchr(controls, data[at]) == NULL))
			return false;
		at += n;
	}
	return len > 0;
}

static void look_text(const uint8_t *data, size_t len, struct picture *ret)
{
	const struct markup m = { (const char *)data, len, 0 };

	if (!is_text(data, len))
		return;
	ret->kind = PICTURE_TEXT;
	if (markup_is_html(m))
		ret->kind = PICTURE_HTML;
	else if (markup_is_svg(m, &ret->width, &ret->height))
		ret->kind = PICTURE_SVG;
}

void picture_look(const uint8_t *data, size_t len, struct picture *ret)
{
	/* clang-format off */
	static const struct {
		const char *magic;
		size_t len, at;
		enum picture_kind kind;
		void (*look)(const uint8_t *, size_t, struct picture *);
	} rows[] = {
		{ "\x89PNG\r\n\x1a\n",   8, 0, PICTURE_PNG,     look_png },
		{ "\xff\xd8\xff",        3, 0, PICTURE_JPEG,    look_jpeg },
		{ "GIF87a",              6, 0, PICTURE_GIF,     look_gif },
		{ "GIF89a",              6, 0, PICTURE_GIF,     look_gif },
		{ "WEBPVP8",             7, 8, PICTURE_WEBP,    look_webp },
		{ "%PDF-",               5, 0, PICTURE_PDF,     look_pdf },
		{ "PK\3\4",              4, 0, PICTURE_ZIP,     NULL },
		{ "\x1f\x8b\x08",        3, 0, PICTURE_GZIP,    NULL },
		{ "SQLite format 3",    16, 0, PICTURE_SQLITE,  NULL },
		{ "PAR1",                4, 0, PICTURE_PARQUET, NULL },
	};
	/* clang-format on */

	*ret = (struct picture){ PICTURE_BYTES, 0, 0 };
	if (len > PICTURE_PREFIX)
		len = PICTURE_PREFIX;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (len < rows[i].at + rows[i].len ||
		    memcmp(data + rows[i].at, rows[i].magic, rows[i].len) != 0)
			continue;
		ret->kind = rows[i].kind;
		if (rows[i].look != NULL)
			rows[i].look(data, len, ret);
		break;
	}
	if (ret->kind == PICTURE_BYTES)
		look_text(data, len, ret);
	if (ret->width == 0 || ret->height == 0)
		ret->width = ret->height = 0;
}
