/*
 * executor/trace/calls.c - which calls are told one by one.  Linked by
 * bailiff-tracer.  The numbers are the kernel headers' (asm/unistd.h), so an
 * architecture that lacks a call lacks the row.
 *
 * stat, access and readlink are not among them: three of four events of an
 * interpreter's start would be theirs.  They are counted, and told when they
 * are refused for lack of permission, as every call is.
 */
#include "executor/trace/calls.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define TELL    TRACE_DO_EVENT
#define PATH_0  (TELL | 1u)
#define PATH_1  (TELL | 2u)
#define OPENS   TRACE_DO_OPEN
#define ADDRESS (TELL | TRACE_DO_ADDRESS)

struct row {
	int nr;
	uint32_t what;
};

/* clang-format off */
static const struct row rows[] = {
#ifdef __NR_open
	{ __NR_open,       PATH_0 | OPENS },
	{ __NR_creat,      PATH_0 | OPENS },
	{ __NR_unlink,     PATH_0 },
	{ __NR_rmdir,      PATH_0 },
	{ __NR_mkdir,      PATH_0 },
	{ __NR_rename,     PATH_0 },
	{ __NR_link,       PATH_0 },
	{ __NR_symlink,    PATH_0 },
	{ __NR_chmod,      PATH_0 },
	{ __NR_chown,      PATH_0 },
	{ __NR_lchown,     PATH_0 },
	{ __NR_mknod,      PATH_0 },
	{ __NR_fork,       TELL },
	{ __NR_vfork,      TELL },
#endif
	{ __NR_openat,     PATH_1 | OPENS },
	{ __NR_openat2,    PATH_1 | OPENS },
	{ __NR_open_by_handle_at, TELL | OPENS },
	{ __NR_unlinkat,   PATH_1 },
	{ __NR_mkdirat,    PATH_1 },
	{ __NR_mknodat,    PATH_1 },
	{ __NR_renameat,   PATH_1 },
	{ __NR_renameat2,  PATH_1 },
	{ __NR_linkat,     PATH_1 },
	{ __NR_symlinkat,  PATH_0 },
	{ __NR_fchmodat,   PATH_1 },
	{ __NR_fchownat,   PATH_1 },
	{ __NR_fchmod,     TELL },
	{ __NR_fchown,     TELL },
	{ __NR_truncate,   PATH_0 },
	{ __NR_execve,     PATH_0 },
	{ __NR_execveat,   PATH_1 },
	{ __NR_clone,      TELL },
	{ __NR_clone3,     TELL },
	{ __NR_socket,     TELL },
	{ __NR_connect,    ADDRESS },
	{ __NR_bind,       ADDRESS | TRACE_DO_LOCAL },
	{ __NR_listen,     TELL },
	{ __NR_accept,     TELL },
	{ __NR_accept4,    TELL },
	{ __NR_kill,       TELL },
	{ __NR_tkill,      TELL },
	{ __NR_tgkill,     TELL },
	{ __NR_pidfd_open, TELL },
	{ __NR_pidfd_send_signal, TELL },
	{ __NR_mmap,       TELL | TRACE_DO_CODE },
	{ __NR_mprotect,   TELL | TRACE_DO_CODE },
	{ __NR_pkey_mprotect, TELL | TRACE_DO_CODE },
	{ __NR_memfd_create, PATH_0 },
	{ __NR_ptrace,     TELL },
	{ __NR_process_vm_readv, TELL },
	{ __NR_process_vm_writev, TELL },
	{ __NR_mount,      PATH_1 },
	{ __NR_umount2,    PATH_0 },
	{ __NR_pivot_root, PATH_0 },
	{ __NR_chroot,     PATH_0 },
	{ __NR_setns,      TELL },
	{ __NR_unshare,    TELL },
	{ __NR_bpf,        TELL },
	{ __NR_io_uring_setup, TELL },
	{ __NR_io_uring_enter, TELL },
	{ __NR_io_uring_register, TELL },
	{ __NR_seccomp,    TELL },
	{ __NR_userfaultfd, TELL },
	{ __NR_setuid,     TELL },
	{ __NR_setresuid,  TELL },
	{ __NR_capset,     TELL },
};
/* clang-format on */

void calls_todo(uint32_t ret[TRACE_CALLS])
{
	memset(ret, 0, TRACE_CALLS * sizeof(ret[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ret[rows[i].nr] = rows[i].what;
}

void calls_read(struct calls *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int nr = 0; nr < TRACE_CALLS - 1; nr++) {
		char *name =
		    seccomp_syscall_resolve_num_arch(seccomp_arch_native(), nr);

		if (name != NULL)
			(void)snprintf(
			    ret->names[nr], CALL_NAME_MAX, "%s", name);
		free(name);
	}
}

const char *calls_name(const struct calls *c, int64_t nr)
{
	return nr >= 0 && nr < TRACE_CALLS - 1 ? c->names[nr] : "";
}
