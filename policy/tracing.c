/*
 * policy/tracing.c - what a policy without the key "trace" means.  Linked by
 * bailiff-policy and the supervisor; pure.
 */
#include "policy/tracing.h"

#include "policy/shape.h"

enum trace_mode tracing_default(bool privileged)
{
	return privileged ? TRACE_REQUIRED : TRACE_OFF;
}

const char *tracing_word(const struct policy *p)
{
	return shape_trace.words->items[p->trace];
}

const char *tracing_why(const struct policy *p)
{
	if (p->trace_is_said)
		return "the policy says so";
	return p->trace == TRACE_OFF
	           ? "the default without root: a tracer needs CAP_BPF and "
	             "CAP_PERFMON"
	           : "the default as root";
}
