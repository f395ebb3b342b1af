/*
 * policy/numbers.c - system calls that are newer than libseccomp 2.5.4, by
 * number; the rest is libseccomp's.  Linked by bailiff-policy and the
 * supervisor.
 *
 * From 424 on a call has one number on x86_64 and aarch64
 * (arch/x86/entry/syscalls/syscall_64.tbl, scripts/syscall.tbl); the exception
 * says so.  tests/escape/golden holds the result.
 */
#include "policy/numbers.h"

#include <linux/audit.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct number {
	const char *name;
	int x86_64, aarch64;
};

/* clang-format off */
static const struct number newer[] = {
	{ "set_mempolicy_home_node", 450, 450 },
	{ "cachestat",               451, 451 },
	{ "fchmodat2",               452, 452 },
	{ "map_shadow_stack",        453, 453 },
	{ "futex_wake",              454, 454 },
	{ "futex_wait",              455, 455 },
	{ "futex_requeue",           456, 456 },
	{ "statmount",               457, 457 },
	{ "listmount",               458, 458 },
	{ "lsm_get_self_attr",       459, 459 },
	{ "lsm_set_self_attr",       460, 460 },
	{ "lsm_list_modules",        461, 461 },
	{ "mseal",                   462, 462 },
	{ "setxattrat",              463, 463 },
	{ "getxattrat",              464, 464 },
	{ "listxattrat",             465, 465 },
	{ "removexattrat",           466, 466 },
	{ "open_tree_attr",          467, 467 },
	{ "file_getattr",            468, 468 },
	{ "file_setattr",            469, 469 },
	{ "listns",                  470, 470 },
	/* Where the kernel puts its probes' own calls: x86_64 alone. */
	{ "uretprobe",               335,  -1 },
	{ "uprobe",                  336,  -1 },
};
/* clang-format on */
#define NEWER_N (sizeof(newer) / sizeof(newer[0]))

static int on(uint32_t arch, const struct number *n)
{
	return arch == AUDIT_ARCH_X86_64 ? n->x86_64 : n->aarch64;
}

bool number_of_name(uint32_t arch, const char *name, int *ret)
{
	/* libseccomp names an architecture by the same word. */
	int number = seccomp_syscall_resolve_name_arch(arch, name);

	for (size_t i = 0; number == __NR_SCMP_ERROR && i < NEWER_N; i++) {
		if (strcmp(newer[i].name, name) != 0)
			continue;
		*ret = on(arch, &newer[i]);
		return true;
	}
	if (number == __NR_SCMP_ERROR || number > NUMBER_LAST)
		return false;
	*ret = number;
	return true;
}

void number_name(uint32_t arch, int number, char ret[NUMBER_NAME_MAX])
{
	char *known = seccomp_syscall_resolve_num_arch(arch, number);
	const char *name = known;

	for (size_t i = 0; name == NULL && i < NEWER_N; i++)
		if (on(arch, &newer[i]) == number)
			name = newer[i].name;
	(void)snprintf(ret, NUMBER_NAME_MAX, "%s", name != NULL ? name : "-");
	free(known);
}
