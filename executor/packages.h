/*
 * executor/packages.h - what the host's Debian package database says of the
 * languages of a policy: versions and libraries, to be told and nothing else.
 */
#ifndef EXECUTOR_PACKAGES_H
#define EXECUTOR_PACKAGES_H

#include <stdint.h>

#include "policy/policy.h"

#define PACKAGES_VERSIONS_MAX  4
#define PACKAGES_LIBRARIES_MAX 16384

struct packages_version {
	char star[32];    /* what stood for the '*' of the pattern */
	char version[80]; /* of upstream: "3.11.2" */
};

struct packages_of {
	size_t n_versions;
	struct packages_version versions[PACKAGES_VERSIONS_MAX];
	/* "NAME VERSION\n" of each, by name; 'more' did not fit. */
	size_t libraries_len;
	uint64_t libraries_more;
	char libraries[PACKAGES_LIBRARIES_MAX];
};

struct packages {
	int fd; /* owned; -1 once it was read */
	struct packages_of of[POLICY_LANGUAGES_MAX]; /* as in the policy */
};

/*
 * The database (dpkg(1), FILES), not read yet; NULL where there is none that
 * only root can write.  It lives as long as its process.
 */
struct packages *packages_open(void);

/* The first time: read it, at most 16 MiB, in some milliseconds. */
void packages_read(struct packages *p, const struct policy *policy);

/* The same of a text. */
void packages_take(struct packages *p, const char *text, size_t len,
    const struct policy *policy);

#endif
