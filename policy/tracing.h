/*
 * policy/tracing.h - what a policy without the key "trace" means.  Pure.
 *
 * A tracer needs CAP_BPF and CAP_PERFMON, so only root's service can have one;
 * there silence means that nothing runs unseen.  It is resolved here, once,
 * when a policy is parsed: the effective policy and its digest say the word.
 */
#ifndef POLICY_TRACING_H
#define POLICY_TRACING_H

#include "policy/policy.h"

enum trace_mode tracing_default(bool privileged);

const char *tracing_word(const struct policy *p);
/* Why a policy traces as it does, for a person. */
const char *tracing_why(const struct policy *p);

#endif
