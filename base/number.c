/*
 * base/number.c - strict numbers.  Linked by every program.
 */
#include "base/number.h"

#include <inttypes.h>
#include <string.h>

int number_parse(const char *text, const char *what, struct number_range range,
    uint64_t *ret, struct error *e)
{
	uint64_t value = 0;
	size_t len = strlen(text);

	if (len == 0 || strspn(text, "0123456789") != len ||
	    (text[0] == '0' && len > 1))
		return FAIL(e, ERROR_USAGE,
		    "%s: not a whole number; write digits only", what);
	for (size_t i = 0; i < len; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return FAIL(e, ERROR_USAGE,
			    "%s: too large; at most %" PRIu64, what, range.max);
		value = value * 10 + digit;
	}
	if (value < range.min || value > range.max)
		return FAIL(e, ERROR_USAGE,
		    "%s: %" PRIu64 " is outside %" PRIu64 " to %" PRIu64, what,
		    value, range.min, range.max);
	*ret = value;
	return 0;
}
