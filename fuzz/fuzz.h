/*
 * fuzz/fuzz.h - what every harness defines: one call of one parser.  libFuzzer
 * or fuzz/replay.c calls it.  An invariant that does not hold aborts.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* assert(3), but never compiled out. */
#define MUST(holds) ((holds) ? (void)0 : fuzz_abort(__FILE__, __LINE__, #holds))

/* clang-format off */
_Noreturn static inline void fuzz_abort(
    const char *file, int line, const char *what)
{
	(void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}
/* clang-format on */

/* The name is libFuzzer's.  Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
