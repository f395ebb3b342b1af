/*
 * fuzz/fuzz_picture.c - the first bytes of files that programs leave.  Nothing
 * outside the prefix is read, a size is whole or absent, and what is told does
 * not depend on what lies behind the prefix.
 */
#include <string.h>

#include "executor/picture.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct picture is;
	struct picture again;

	picture_look(data, size, &is);
	MUST(is.kind < PICTURE_KIND_N);
	MUST((is.width == 0) == (is.height == 0));
	MUST(is.width == 0 ||
	     (is.kind >= PICTURE_PNG && is.kind <= PICTURE_PDF));
	MUST(strlen(picture_type(is.kind, "a.csv")) < PICTURE_TYPE_MAX);
	if (size > PICTURE_PREFIX) {
		picture_look(data, PICTURE_PREFIX, &again);
		MUST(again.kind == is.kind && again.width == is.width &&
		     again.height == is.height);
	}
	return 0;
}
