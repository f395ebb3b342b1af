/*
 * executor/omit.h - layers of confinement that a build for tests leaves out, to
 * show that its probes see the layer and what holds without it.
 *
 * A product's build leaves out none: both functions are then constant.  A build
 * that was configured with BAILIFF_TEST_OMIT refuses to be installed; nothing
 * at run time can ask for it.
 */
#ifndef EXECUTOR_OMIT_H
#define EXECUTOR_OMIT_H

#include <stdbool.h>
#include <stdint.h>

/* 'layer' is a row of executor/confine.c or a name in tests/layers. */
bool omit_has(const char *layer);

/* 'flags', or 0 if the layer is left out. */
uint64_t omit_from(const char *layer, uint64_t flags);

#endif
