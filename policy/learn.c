/*
 * policy/learn.c - the least capabilities and calls that let through what was
 * seen.  Linked by bailiff-policy.  Every answer is read from a compiled filter,
 * not from the tables it was made of.
 */
#include "policy/learn_parts.h"

#include <inttypes.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/answers.h"
#include "policy/numbers.h"
#include "policy/parse.h"
#include "policy/simulate.h"
#include "policy/syscalls.h"

#define NAMES_MAX 3072

/* clang-format off */
/*
 * What may come at any time, whatever was seen: signals and what they
 * interrupt, allocation, locks, threads that start and end, clocks without a
 * vDSO, the way out, and the message of an abort.
 */
static const char *const any_time[] = {
	"brk", "clock_gettime", "clock_nanosleep", "close", "exit",
	"exit_group", "fstat", "futex", "getcpu", "getpid", "getrandom",
	"gettid", "gettimeofday", "lseek", "madvise", "membarrier", "mmap",
	"mprotect", "mremap", "munmap", "nanosleep", "newfstatat", "read",
	"restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask",
	"rt_sigreturn", "sched_getaffinity", "sched_yield", "set_robust_list",
	"sigaltstack", "tgkill", "time", "write", "writev",
};
/* Told only where they ask for executable memory: the others were made with
 * arguments that ask for none. */
static const char *const told_in_part[] = { "mmap", "mprotect",
	"pkey_mprotect" };
/* clang-format on */

/* Which calls of which language are asked about, and by which filter. */
struct asked {
	struct learn *l;
	struct learn_language *of;
	/* Of the filter in l->filter, and one known to be enough or NULL. */
	const struct capabilities *is, *enough;
	struct error *e;
};

static bool is_told_in_part(const char *name)
{
	for (size_t i = 0; i < sizeof(told_in_part) / sizeof(told_in_part[0]);
	     i++)
		if (strcmp(told_in_part[i], name) == 0)
			return true;
	return false;
}

static int ask(const struct asked *a, int number,
    const uint64_t args[LEARN_ARGS], bool *ret)
{
	struct seccomp_data call = { .nr = number, .arch = FILTER_ARCH };
	uint32_t word;

	memcpy(call.args, args, sizeof(call.args));
	if (simulate_call(a->l->filter, &call, &word, a->e) < 0)
		return -1;
	*ret = word == SECCOMP_RET_ALLOW;
	return 0;
}

/* By every combination of arguments that was told. */
static int ask_tuples(
    const struct asked *a, size_t call, int number, bool *ret, bool *ret_any)
{
	for (size_t i = 0; *ret && i < a->of->n_tuples; i++) {
		const struct learn_tuple *t = &a->of->tuples[i];

		if (t->call != call)
			continue;
		*ret_any = true;
		if (ask(a, number, t->args, ret) < 0)
			return -1;
	}
	return 0;
}

/* Of a call whose arguments are not told: every way that it had is left. */
static bool has_all_rows(const struct asked *a, const char *name)
{
	for (size_t i = 0; a->enough != NULL && i < syscall_n_rows; i++) {
		const struct syscall_row *row = &syscall_rows[i];

		if (strcmp(row->call, name) == 0 &&
		    filter_row_in_force(a->enough, row) &&
		    !filter_row_in_force(a->is, row))
			return false;
	}
	return true;
}

/* Whether the filter lets one call through, as it was seen. */
static int lets_through(
    const struct asked *a, size_t call, const char *name, bool *ret)
{
	static const uint64_t none[LEARN_ARGS] = { 0 };
	struct answer answer;
	bool any = false;
	int number;

	*ret = true;
	if (!number_of_name(FILTER_ARCH, name, &number) || number < 0)
		return 0; /* not on this machine, hence never made */
	if (answer_find(a->l->filter, FILTER_ARCH, number, &answer, a->e) < 0)
		return -1;
	if (!answer.by_arguments) {
		*ret = answer.word == SECCOMP_RET_ALLOW;
		return 0;
	}
	if (is_told_in_part(name)) {
		any = true;
		if (ask(a, number, none, ret) < 0)
			return -1;
	}
	if (ask_tuples(a, call, number, ret, &any) < 0)
		return -1;
	if (!any)
		*ret = has_all_rows(a, name);
	return 0;
}

/* The first call that is refused, or "" in *ret. */
static int find_refused(const struct asked *a, const char **ret)
{
	const char *names[CALLSET_MAX];
	size_t n = callset_names(&a->of->seen, names);

	*ret = "";
	if (filter_compile(a->is, a->l->filter, a->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool through;

		if (lets_through(
		        a, callset_find(names[i]), names[i], &through) < 0)
			return -1;
		if (!through) {
			*ret = names[i];
			return 0;
		}
	}
	return 0;
}

/* What this policy would not have let through: recorded under another one. */
static int drop_refused(struct asked *a)
{
	const char *names[CALLSET_MAX];
	size_t n = callset_names(&a->of->seen, names);
	struct callset left = { .given = true };

	if (filter_compile(a->is, a->l->filter, a->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t call = callset_find(names[i]);
		bool through;

		if (lets_through(a, call, names[i], &through) < 0)
			return -1;
		if (through)
			callset_add(&left, call);
		else
			learn_note(a->l,
			    "%s: left out: %s, as the policy %s does not allow "
			    "it as it was made",
			    a->of->of->language.name, names[i],
			    a->l->policy->name);
	}
	a->of->seen = left;
	return 0;
}

/* The set of calls: those seen and those of any time, never more than the
 * policy's own set. */
static void make_set(const struct learn_language *of, struct callset *ret)
{
	const struct callset *had = &of->of->capabilities.only;
	struct callset set = of->seen;

	set.given = true;
	for (size_t i = 0; i < sizeof(any_time) / sizeof(any_time[0]); i++)
		if (callset_allow(had, any_time[i]))
			callset_add(&set, callset_find(any_time[i]));
	*ret = set;
}

static bool *capability(struct capabilities *c, size_t which)
{
	bool *const of[] = { &c->subprocess, &c->threads, &c->loopback,
		&c->network, &c->exec_memory, &c->ipc };

	return of[which];
}

/* Take away each capability that nothing seen needs. */
static int shrink(struct learn *l, struct learn_language *of, struct error *e)
{
	const struct capabilities *needs = &of->of->language.needs;
	struct capabilities enough = of->least;
	const char *refused;

	for (size_t i = 0; i < parse_capability_names.n; i++) {
		struct capabilities less = of->least;
		const struct asked a = { l, of, &less, &enough, e };
		bool *had = capability(&less, i);

		if (!*had || parse_capability(needs, i) ||
		    (had == &less.exec_memory && of->own_code))
			continue;
		*had = false;
		if (find_refused(&a, &refused) < 0)
			return -1;
		if (refused[0] == '\0')
			of->least = less;
	}
	return 0;
}

static void append(char *list, const char *name)
{
	size_t len = strlen(list);

	(void)snprintf(
	    list + len, NAMES_MAX - len, "%s%s", len > 0 ? ", " : "", name);
}

static void tell_denied(struct learn *l, const struct learn_language *of)
{
	char list[NAMES_MAX] = "";

	for (size_t i = 0; i < of->n_denied; i++) {
		char text[NUMBER_NAME_MAX + 32];

		(void)snprintf(text, sizeof(text), "%s (%" PRIu64 ")",
		    of->denied[i].call, of->denied[i].n);
		append(list, text);
	}
	if (list[0] != '\0')
		learn_note(l, "%s: was denied, and is left out: %s",
		    of->of->language.name, list);
}

static void tell_rare(struct learn *l, const struct learn_language *of)
{
	const char *names[CALLSET_MAX];
	size_t n = callset_names(&of->seen, names);
	char list[NAMES_MAX] = "";

	for (size_t i = 0; i < n; i++)
		if (of->runs_of[callset_find(names[i])] == 1)
			append(list, names[i]);
	if (of->n_runs > 1 && list[0] != '\0')
		learn_note(l, "%s: made in one run alone: %s",
		    of->of->language.name, list);
	if (of->n_runs < 3)
		learn_note(l,
		    "%s: %zu run%s; record at least three, with every input "
		    "that matters",
		    of->of->language.name, of->n_runs,
		    of->n_runs == 1 ? "" : "s");
}

static int find_least(
    struct learn *l, struct learn_language *of, struct error *e)
{
	struct asked a = { l, of, &of->least, NULL, e };
	const char *refused;

	of->least = of->of->capabilities;
	if (drop_refused(&a) < 0)
		return -1;
	make_set(of, &of->least.only);
	if (shrink(l, of, e) < 0 || find_refused(&a, &refused) < 0)
		return -1;
	if (refused[0] != '\0')
		return FAIL(e, ERROR_STATE,
		    "%s: the fragment would refuse %s, which was made; report "
		    "this",
		    of->of->language.name, refused);
	learn_modules_least(l, of);
	tell_denied(l, of);
	tell_rare(l, of);
	return 0;
}

int learn_least(struct learn *l, struct error *e)
{
	for (size_t i = 0; i < l->policy->n_languages; i++)
		if (l->languages[i].n_runs > 0 &&
		    find_least(l, &l->languages[i], e) < 0)
			return -1;
	return 0;
}

static int check_language(
    struct learn *l, struct learn_language *of, size_t *n, struct error *e)
{
	const struct asked a = { l, of, &of->of->capabilities, NULL, e };
	const char *names[CALLSET_MAX];
	size_t n_names = callset_names(&of->seen, names);

	if (filter_compile(a.is, l->filter, e) < 0)
		return -1;
	for (size_t i = 0; i < n_names; i++) {
		bool through;

		if (lets_through(
		        &a, callset_find(names[i]), names[i], &through) < 0)
			return -1;
		if (through)
			continue;
		++*n;
		learn_note(l, "%s: would be refused: %s", of->of->language.name,
		    names[i]);
	}
	*n += learn_modules_check(l, of);
	if (of->own_code && !a.is->exec_memory) {
		++*n;
		learn_note(l,
		    "%s: would be refused: code from a file that a program can "
		    "write (exec_memory)",
		    of->of->language.name);
	}
	return 0;
}

int learn_check(struct learn *l, size_t *ret_n, struct error *e)
{
	size_t n = 0;

	for (size_t i = 0; i < l->policy->n_languages; i++)
		if (l->languages[i].n_runs > 0 &&
		    check_language(l, &l->languages[i], &n, e) < 0)
			return -1;
	*ret_n = n;
	return 0;
}
