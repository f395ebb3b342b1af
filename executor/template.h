/*
 * executor/template.h - the file view of every run, compiled from the policy
 * and this host once at start: what the launcher is told to build, its digest,
 * and the mount table that the read-back must find.
 */
#ifndef EXECUTOR_TEMPLATE_H
#define EXECUTOR_TEMPLATE_H

#include "base/sha256.h"
#include "executor/launch.h"
#include "executor/posture_text.h"
#include "policy/load.h"
#include "policy/policy.h"

#define TEMPLATE_ENTRIES_MAX 1024

struct template_item {
	struct launch_entry entry;
	int fd; /* owned; -1 for what needs none */
};

struct template
{
	struct template_item *items; /* owned; parents before children */
	size_t n;
	uint8_t sha256[SHA256_BYTES]; /* of kinds, modes, paths, contents */
	struct posture_mount mounts[POSTURE_MOUNTS_MAX];
	size_t n_mounts;
	bool rootless; /* set by the caller: as view.h has it */
	/* Set by the caller: files of ours; borrowed while it is made. */
	const struct policy_part *parts;
	size_t n_parts;
};

/*
 * Open what the policy's languages need of this host: /usr, the links of a
 * merged /usr, files of /etc that their data name; take out what makes a denied
 * module.  A file that the host does
 * not have is left out; one that not everybody may read is ERROR_DENIED.
 */
int template_make(const struct policy *policy, struct template *ret,
    struct error *e) MUST_CHECK;

/* The interpreter's own file as the view has it: links resolved, beneath a
 * tree.  ERROR_UNAVAILABLE if the host has none. */
int template_program(const struct template *t, const char *path,
    char ret[LAUNCH_PATH_MAX], struct error *e) MUST_CHECK;

/* One more line of the table; a tree's is read-only and without devices. */
int template_add_own(struct template *t, const struct posture_mount *mount,
    struct error *e) MUST_CHECK;
int template_add_mount(struct template *t, const char *point, const char *type,
    struct error *e) MUST_CHECK;

bool template_is_beneath(const char *path, const char *tree);

void template_done(struct template *t); /* a zeroed struct is fine */

#endif
