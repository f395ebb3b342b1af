/*
 * executor/picture_markup.h - numbers, HTML and SVG in the prefix of a file.
 * Private to picture*.c.  Pure; a span is never left.
 */
#ifndef EXECUTOR_PICTURE_MARKUP_H
#define EXECUTOR_PICTURE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct markup {
	const char *text; /* borrowed; any bytes */
	size_t len, at;
};

/* Stand behind the next 'word', which is not empty; false if there is none. */
bool markup_find(struct markup *m, const char *word);
void markup_skip_space(struct markup *m);

/* A decimal number, with sign and fraction, at most 32 characters of it. */
bool markup_number(struct markup *m, double *ret);

/* Rounded up to a whole; 0 for what is no length. */
uint32_t markup_extent(double length);

bool markup_is_html(struct markup m);
/* The size in px, both 0 if it does not say. */
bool markup_is_svg(struct markup m, uint32_t *ret_width, uint32_t *ret_height);

#endif
