/*
 * executor/sources.h - what libraries of a language are installed from: a copy
 * of the allowed files in the policy's directory, made once when the service
 * starts.  Linked by the supervisor.
 */
#ifndef EXECUTOR_SOURCES_H
#define EXECUTOR_SOURCES_H

#include "executor/layers.h"
#include "executor/result_inputs.h"
#include "policy/policy.h"

#define SOURCES_MAX 256 /* files */

struct sources {
	struct layer layer; /* their copy; its digest is that of all of them */
	struct result_input *files; /* owned; sorted by name */
	size_t n;
};

/*
 * Files that are no regular ones, not allowed by name or by the language's
 * pattern are left out.  ERROR_SYSTEM names the policy's key and what to do.
 */
int sources_copy(int layers_fd, const char *id, const struct policy_language *l,
    struct sources *ret, struct error *e) MUST_CHECK;

#endif
