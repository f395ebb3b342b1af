/*
 * tests/policy/golden_table.c - what the filter answers to every system call.
 *
 *   golden_table x86_64|aarch64
 *
 * One line per number: number, name, and the answer with the capabilities of
 * the default preset and of the strict one.  An answer is "allow", "EPERM",
 * "ENOSYS", "kill" or "once" (pid 1 of the run is asked); "arguments:X" if it
 * depends on the arguments, X being the answer to six of -1.
 */
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/answers.h"

static void show(const struct filter *f, uint32_t arch, int number)
{
	struct answer a;
	struct error e = { 0 };

	if (answer_find(f, arch, number, &a, &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	printf(
	    " %s%s", a.by_arguments ? "arguments:" : "", answer_word(a.word));
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
