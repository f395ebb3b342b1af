/*
 * policy/filter.c - compiles the tables of syscalls.c and rows.c for a set of
 * capabilities.  Linked by bailiff-policy and the supervisor.
 *
 * libseccomp has one default answer; we need two, since a call that we know and
 * whose arguments do not match is EPERM, and a call that we do not know is
 * ENOSYS.  So its default is EPERM, every number that no table names gets
 * ENOSYS as a rule, and a preamble of ours answers for the numbers beyond.
 * The preamble also settles the architecture before anything else is read.
 *
 * Not quite pure: libseccomp 2.5 can write a program only to a descriptor, so
 * one memory file is made, read back and closed.
 */
#include "policy/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/numbers.h"
#include "policy/syscalls.h"

/* Numbers up to NUMBER_LAST are settled one by one, in a table or by ENOSYS. */
/* asm/unistd.h: the mark of an x32 call; -1 is what a tracer leaves behind. */
#define NUMBER_X32          0x40000000u
#define NUMBER_NONE         0xffffffffu

#define ANSWER_NO_SUCH_CALL (SECCOMP_RET_ERRNO | ENOSYS)

#define WORD(offset)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define ANSWER(word)        BPF_STMT(BPF_RET | BPF_K, word)
#define TEST(how, value, yes, no) \
	BPF_JUMP(BPF_JMP | BPF_##how | BPF_K, value, yes, no)

static const struct sock_filter preamble[] = {
	WORD(offsetof(struct seccomp_data, arch)),
	TEST(JEQ, FILTER_ARCH, 1, 0),
	ANSWER(SECCOMP_RET_KILL_PROCESS),
	WORD(offsetof(struct seccomp_data, nr)),
	TEST(JGT, NUMBER_LAST, 0, 4),
	TEST(JEQ, NUMBER_NONE, 2, 0),
	TEST(JGE, NUMBER_X32, 0, 1),
	ANSWER(SECCOMP_RET_KILL_PROCESS),
	ANSWER(ANSWER_NO_SUCH_CALL),
};
#define PREAMBLE_LEN (sizeof(preamble) / sizeof(preamble[0]))

struct compiler {
	scmp_filter_ctx context;
	uint32_t arch;
	bool in_force[WHEN_N];
	const struct callset *only;    /* borrowed */
	bool known[NUMBER_LAST + 1];   /* some table names it */
	bool allowed[NUMBER_LAST + 1]; /* whatever its arguments */
};

/*
 * *ret is negative when the architecture has no such call.  A name that nobody
 * knows is a mistake in our tables.
 */
static int number_of(
    const struct compiler *c, const char *call, int *ret, struct error *e)
{
	if (!number_of_name(c->arch, call, ret))
		return FAIL(e, ERROR_UNAVAILABLE,
		    "libseccomp does not know the call %s", call);
	return 0;
}

static int take_group(
    struct compiler *c, const struct syscall_group *group, struct error *e)
{
	for (size_t i = 0; group->calls[i] != NULL; i++) {
		int number;
		int failed;

		if (number_of(c, group->calls[i], &number, e) < 0)
			return -1;
		if (number < 0)
			continue;
		c->known[number] = true;
		if (!c->in_force[group->when] || c->allowed[number] ||
		    !callset_allow(c->only, group->calls[i]))
			continue;
		failed = seccomp_rule_add_array(
		    c->context, SCMP_ACT_ALLOW, number, 0, NULL);
		if (failed != 0)
			return FAIL(e, ERROR_UNAVAILABLE, "filter %s: error %d",
			    group->calls[i], -failed);
		c->allowed[number] = true;
	}
	return 0;
}

/* Our own exec is not the program's, so no set takes it away. */
static bool row_in_force(
    const struct compiler *c, const struct syscall_row *row)
{
	return c->in_force[row->when] &&
	       (row->when == WHEN_ONCE || callset_allow(c->only, row->call));
}

static uint32_t action_of(enum syscall_when when)
{
	return when == WHEN_ONCE ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW;
}

static int take_rows(struct compiler *c, const struct syscall_row *rows,
    size_t n, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct syscall_row *row = &rows[i];
		int number;
		int failed;

		if (number_of(c, row->call, &number, e) < 0)
			return -1;
		if (number < 0)
			continue;
		c->known[number] = true;
		if (!row_in_force(c, row) || c->allowed[number])
			continue;
		failed = seccomp_rule_add_array(c->context,
		    action_of(row->when), number, row->n, row->conditions);
		if (failed != 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "filter row %zu, %s: error %d", i, row->call,
			    -failed);
	}
	return 0;
}

static int take_unknown(struct compiler *c, struct error *e)
{
	for (int number = 0; number <= NUMBER_LAST; number++) {
		int failed;

		if (c->known[number])
			continue;
		failed = seccomp_rule_add_array(
		    c->context, SCMP_ACT_ERRNO(ENOSYS), number, 0, NULL);
		if (failed != 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "filter call %d: error %d", number, -failed);
	}
	return 0;
}

static int export(scmp_filter_ctx context, struct filter *ret, struct error *e)
{
	AUTO_FD fd = memfd_create("filter", MFD_CLOEXEC);
	const size_t room = sizeof(ret->code) - sizeof(preamble);
	ssize_t got;
	int failed;

	if (fd < 0)
		return FAIL_SYS(e, "make a memory file");
	failed = seccomp_export_bpf(context, fd);
	if (failed != 0)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "write filter: error %d", -failed);
	memcpy(ret->code, preamble, sizeof(preamble));
	got = pread(fd, ret->code + PREAMBLE_LEN, room, 0);
	if (got < 0)
		return FAIL_SYS(e, "read filter");
	/* A program that just fills the room may have been cut. */
	if ((size_t)got == room || (size_t)got % sizeof(ret->code[0]) != 0)
		return FAIL(
		    e, ERROR_LIMIT, "filter is longer than %d", FILTER_LEN_MAX);
	ret->len = PREAMBLE_LEN + (size_t)got / sizeof(ret->code[0]);
	return 0;
}

static int context_open(scmp_filter_ctx *ret, struct error *e)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (context == NULL)
		return FAIL(e, ERROR_UNAVAILABLE, "make a filter");
	/* A binary tree: a call costs the same wherever its number lies. */
	if (seccomp_attr_set(
	        context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0 ||
	    seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0) {
		seccomp_release(context);
		return FAIL(e, ERROR_UNAVAILABLE,
		    "libseccomp is too old; version 2.5 is needed");
	}
	*ret = context;
	return 0;
}

/*
 * libseccomp takes calls by the numbers of the machine it runs on and passes
 * over those that have none.  So another machine's numbers are given to it as
 * if they were ours, and the word for the architecture is put right after.
 */
static void aim(uint32_t arch, struct filter *f)
{
	for (size_t i = 0; i < f->len; i++)
		if (BPF_CLASS(f->code[i].code) == BPF_JMP &&
		    f->code[i].k == FILTER_ARCH)
			f->code[i].k = arch;
}

int filter_compile(const struct capabilities *capabilities, struct filter *ret,
    struct error *e)
{
	return filter_compile_for(FILTER_ARCH, capabilities, ret, e);
}

const struct capabilities filter_compiler = {
	.subprocess = true, /* assemblers and linkers */
	.threads = true,
};

bool filter_in_force(
    const struct capabilities *capabilities, enum syscall_when when)
{
	const bool in_force[WHEN_N] = {
		[WHEN_ALWAYS] = true,
		[WHEN_ONCE] = true,
		[WHEN_SUBPROCESS] = capabilities->subprocess,
		[WHEN_THREADS] = capabilities->threads,
		[WHEN_LOOPBACK] = capabilities->loopback,
		[WHEN_EXEC_MEMORY] = capabilities->exec_memory,
		[WHEN_NO_EXEC_MEMORY] = !capabilities->exec_memory,
		[WHEN_IPC] = capabilities->ipc,
	};

	return in_force[when];
}

bool filter_row_in_force(
    const struct capabilities *capabilities, const struct syscall_row *row)
{
	struct compiler c = { .only = &capabilities->only };

	c.in_force[row->when] = filter_in_force(capabilities, row->when);
	return row_in_force(&c, row);
}

void filter_sha256(const struct filter *f, uint8_t ret[SHA256_BYTES])
{
	sha256_of(f->code, f->len * sizeof(f->code[0]), ret);
}

int filter_compile_for(uint32_t arch, const struct capabilities *capabilities,
    struct filter *ret, struct error *e)
{
	struct compiler c = { .arch = arch, .only = &capabilities->only };
	int result = 0;

	for (size_t i = 0; i < WHEN_N; i++)
		c.in_force[i] =
		    filter_in_force(capabilities, (enum syscall_when)i);
	if (context_open(&c.context, e) < 0)
		return -1;
	for (size_t i = 0; result == 0 && i < syscall_n_groups; i++)
		result = take_group(&c, &syscall_groups[i], e);
	if (result == 0)
		result = take_rows(&c, syscall_rows, syscall_n_rows, e);
	if (result == 0)
		result = take_unknown(&c, e);
	if (result == 0)
		result = export(c.context, ret, e);
	if (result == 0 && arch != FILTER_ARCH)
		aim(arch, ret);
	seccomp_release(c.context);
	return result;
}

int filter_compile_init(struct filter *ret, struct error *e)
{
	static const struct callset all = { .given = false };
	struct compiler c = { .arch = FILTER_ARCH,
		.only = &all,
		.in_force = { [WHEN_ALWAYS] = true } };
	int result;

	if (context_open(&c.context, e) < 0)
		return -1;
	result = take_group(&c, &syscall_init_group, e);
	if (result == 0)
		result =
		    take_rows(&c, syscall_init_rows, syscall_n_init_rows, e);
	if (result == 0)
		result = export(c.context, ret, e);
	seccomp_release(c.context);
	return result;
}
