/*
 * audit/trace_flags.h - the arguments of calls in words: flags of open, memory
 * protections, families of sockets, signals.  Linked by bailiff-audit; pure.
 */
#ifndef AUDIT_TRACE_FLAGS_H
#define AUDIT_TRACE_FLAGS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Append what is known of the arguments of a call; nothing if nothing is. */
int trace_flags(const char *call, const uint64_t args[6], struct text_out *out,
    struct error *e) MUST_CHECK;

#endif
