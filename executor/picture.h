/*
 * executor/picture.h - what a file is, by its first bytes, and how large the
 * picture in it.  Pure: a function of a bounded prefix.  Linked by
 * bailiff-collect; its words (picture_type.c) by the supervisor, too.
 *
 * Sources: PNG 3rd ed. 11.2.1 (IHDR); JFIF/ITU T.81 B.2.2 (frame header);
 * GIF89a 18; RFC 9649 (WebP); PDF 1.7 7.7.3.3 (MediaBox); SVG 1.1 7.2, 7.7
 * (width, height, viewBox); RFC 1952, APPNOTE.TXT 4.3.7, SQLite file format 1.3,
 * Parquet format for the rest.
 */
#ifndef EXECUTOR_PICTURE_H
#define EXECUTOR_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/* As much as picture_look wants to see. */
#define PICTURE_PREFIX   65536
#define PICTURE_TYPE_MAX 48 /* a media type with its NUL */

/* Numbers of the protocol between collector and supervisor. */
enum picture_kind {
	PICTURE_BYTES, /* nothing that we know */
	PICTURE_TEXT,  /* well-formed UTF-8 without controls, so far */
	PICTURE_PNG,
	PICTURE_JPEG,
	PICTURE_GIF,
	PICTURE_WEBP,
	PICTURE_SVG,
	PICTURE_PDF,
	PICTURE_HTML,
	PICTURE_ZIP,
	PICTURE_GZIP,
	PICTURE_SQLITE,
	PICTURE_PARQUET,
	PICTURE_KIND_N,
};

struct picture {
	enum picture_kind kind;
	/* Pixels, of PDF points, of SVG px; both 0 when the prefix does not say.
	 * The file's own claim: nobody decoded it. */
	uint32_t width, height;
};

/* Total.  'len' may be 0; more than PICTURE_PREFIX is not looked at. */
void picture_look(const uint8_t *data, size_t len, struct picture *ret);

/*
 * The media type.  A text is refined by the end of 'name', which says nothing
 * about other kinds.  Never NULL.
 */
const char *picture_type(enum picture_kind kind, const char *name);

#endif
