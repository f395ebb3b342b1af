/*
 * base/number.h - the one strict text-to-integer function.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

#include "base/error.h"

struct number_range {
	uint64_t min, max; /* both allowed */
};

/*
 * Read 'text' as a decimal number inside 'range'.  Digits only: no sign, no
 * space, no leading zero, nothing behind.  'what' names it in the error.
 */
int number_parse(const char *text, const char *what, struct number_range range,
    uint64_t *ret, struct error *e) MUST_CHECK;

#endif
