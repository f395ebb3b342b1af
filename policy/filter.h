/*
 * policy/filter.h - capabilities to a system-call filter, as data.
 *
 * Three answers (DESIGN.md section 5): ENOSYS for the unknown, so that libc
 * falls back; EPERM for the known and dangerous; kill for a foreign
 * architecture.  Nothing is loaded here.
 */
#ifndef POLICY_FILTER_H
#define POLICY_FILTER_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/policy.h"
#include "policy/syscalls.h"

#define FILTER_LEN_MAX 4096 /* BPF_MAXINSNS */

/* Of this machine. */
#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "only x86_64 and aarch64 have tables"
#endif

struct filter {
	size_t len;
	struct sock_filter code[FILTER_LEN_MAX];
};

/*
 * The number at which the program file stands when the filter is in force:
 * above every RLIMIT_NOFILE we set, so that the program can never make it
 * again; execveat of it with AT_EMPTY_PATH is the one exec that there is
 * without 'subprocess'.  A filter cannot see that the path beside it is empty,
 * and an absolute one would name any program.  So the answer is
 * SECCOMP_RET_USER_NOTIF: pid 1 says yes to the first, which is ours, and
 * closes the listener; whatever comes later is ENOSYS.
 */
#define FILTER_PROGRAM_FD 4095

int filter_compile(const struct capabilities *capabilities, struct filter *ret,
    struct error *e) MUST_CHECK;

/* Whether rows of that kind (policy/syscalls.h) are in force. */
bool filter_in_force(
    const struct capabilities *capabilities, enum syscall_when when);

/* The same of one row, with the set of calls that the capabilities name. */
bool filter_row_in_force(
    const struct capabilities *capabilities, const struct syscall_row *row);

/* What a compiler may do, whatever its language's programs may. */
extern const struct capabilities filter_compiler;

/* Of its instructions as the kernel gets them. */
void filter_sha256(const struct filter *f, uint8_t ret[SHA256_BYTES]);

/*
 * For another architecture (AUDIT_ARCH_X86_64 or _AARCH64) than this machine's,
 * to be looked at with simulate.h.
 */
int filter_compile_for(uint32_t arch, const struct capabilities *capabilities,
    struct filter *ret, struct error *e) MUST_CHECK;

/* The filter of pid 1 inside a run: wait, read, write, poll, exit. */
int filter_compile_init(struct filter *ret, struct error *e) MUST_CHECK;

#endif
