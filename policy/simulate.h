/*
 * policy/simulate.h - what a filter would answer to a call, by interpreting its
 * instructions as the kernel does (seccomp(2), the classic BPF subset).  For
 * tests and `bailiff policy explain`; no product decision depends on it.
 */
#ifndef POLICY_SIMULATE_H
#define POLICY_SIMULATE_H

#include <linux/seccomp.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/filter.h"

/*
 * *ret is the SECCOMP_RET_* word with its data, as the kernel would see it.
 * ERROR_MALFORMED for a program that the kernel would not load.
 */
int simulate_call(const struct filter *f, const struct seccomp_data *call,
    uint32_t *ret, struct error *e) MUST_CHECK;

#endif
