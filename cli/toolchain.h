/*
 * cli/toolchain.h - whether the program of a language is on this host, and
 * which version it is.
 */
#ifndef CLI_TOOLCHAIN_H
#define CLI_TOOLCHAIN_H

#include <stdbool.h>

#include "base/error.h"
#include "policy/policy.h"

#define TOOLCHAIN_VERSION_MAX 128

struct toolchain {
	bool found;
	char path[POLICY_PATH_MAX];          /* symbolic links resolved */
	char version[TOOLCHAIN_VERSION_MAX]; /* "" before the probe */
};

/* Resolve the language's program; *ret says whether there is one. */
void toolchain_find(const struct language *l, struct toolchain *ret);

/*
 * Run the version probe and keep the first line it prints.  The probe is the
 * host's own program, started by execve with the language's environment, and
 * killed after some seconds.
 */
int toolchain_probe(
    struct language *l, struct toolchain *t, struct error *e) MUST_CHECK;

#endif
