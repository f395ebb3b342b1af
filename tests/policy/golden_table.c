/*
 * tests/policy/golden_table.c - what the filter answers to every system call.
 *
 *   golden_table x86_64|aarch64
 *
 * One line per number: number, name, and the answer with the capabilities of
 * the default preset and of the strict one.  An answer is "allow", "EPERM",
 * "ENOSYS", "kill" or "once" (pid 1 of the run is asked); "arguments:X" if it
 * depends on the arguments, X being the answer to six of -1.
 *
 * That it depends on them is found by following every branch that looks at one.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/filter.h"
#include "policy/numbers.h"
#include "policy/simulate.h"

#define ARGS_FROM offsetof(struct seccomp_data, args)

struct follow {
	const struct filter *f;
	struct seccomp_data call;
	uint32_t first; /* answer that was met first */
	bool met, differs;
};

static void meet(struct follow *w, uint32_t answer)
{
	w->differs = w->differs || (w->met && answer != w->first);
	if (!w->met)
		w->first = answer;
	w->met = true;
}

static bool taken(const struct sock_filter *i, uint32_t a)
{
	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return a == i->k;
	case BPF_JGT:
		return a > i->k;
	case BPF_JGE:
		return a >= i->k;
	default:
		return (a & i->k) != 0;
	}
}

/* Jumps only go forward, so this ends. */
static void follow(struct follow *w, size_t at, uint32_t a, bool known)
{
	for (; at < w->f->len && !w->differs; at++) {
		const struct sock_filter *i = &w->f->code[at];

		if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
			known = i->k < ARGS_FROM;
			if (known)
				memcpy(&a, (const char *)&w->call + i->k, 4);
		} else if (i->code == (BPF_RET | BPF_K)) {
			meet(w, i->k);
			return;
		} else if (i->code == (BPF_JMP | BPF_JA)) {
			at += i->k;
		} else if (BPF_CLASS(i->code) == BPF_JMP && known) {
			at += taken(i, a) ? i->jt : i->jf;
		} else if (BPF_CLASS(i->code) == BPF_JMP) {
			follow(w, at + 1 + i->jt, a, known);
			at += i->jf;
		}
	}
}

static const char *word(uint32_t answer)
{
	switch (answer) {
	case SECCOMP_RET_ALLOW:
		return "allow";
	case SECCOMP_RET_ERRNO | EPERM:
		return "EPERM";
	case SECCOMP_RET_ERRNO | ENOSYS:
		return "ENOSYS";
	case SECCOMP_RET_KILL_PROCESS:
		return "kill";
	case SECCOMP_RET_USER_NOTIF:
		return "once";
	default:
		return "another";
	}
}

static void show(const struct filter *f, uint32_t arch, int number)
{
	struct follow w = { .f = f, .call = { .nr = number, .arch = arch } };
	struct error e = { 0 };
	uint32_t bad = 0;

	follow(&w, 0, 0, true);
	memset(w.call.args, 0xff, sizeof(w.call.args));
	if (simulate_call(f, &w.call, &bad, &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	printf(" %s%s", w.differs ? "arguments:" : "", word(bad));
}

int main(int argc, char **argv)
{
	/* As in examples/policies. */
	static const struct capabilities normal = { .subprocess = true,
		.threads = true,
		.loopback = true,
		.exec_memory = true };
	static const struct capabilities strict = { .ipc = false };
	static const int beyond[] = { 512, 1023, 0x3fffffff, 0x40000000,
		0x40000027, -1 };
	struct filter *f = calloc(2, sizeof(*f));
	uint32_t arch = AUDIT_ARCH_X86_64;
	struct error e = { 0 };

	if (argc == 2 && strcmp(argv[1], "aarch64") == 0)
		arch = AUDIT_ARCH_AARCH64;
	else if (argc != 2 || strcmp(argv[1], "x86_64") != 0)
		return 2;
	if (f == NULL || filter_compile_for(arch, &normal, &f[0], &e) < 0 ||
	    filter_compile_for(arch, &strict, &f[1], &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	printf("# number name default strict: see README\n");
	for (int i = 0; i <= NUMBER_LAST + (int)(sizeof(beyond) / 4); i++) {
		int n = i <= NUMBER_LAST ? i : beyond[i - NUMBER_LAST - 1];
		char name[NUMBER_NAME_MAX];

		number_name(arch, n, name);
		printf("%d %s", n, name);
		show(&f[0], arch, n);
		show(&f[1], arch, n);
		printf("\n");
	}
	free(f);
	return 0;
}
