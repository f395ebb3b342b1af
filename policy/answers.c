/*
 * policy/answers.c - a filter as a table of answers.  Linked by bailiff-policy;
 * pure.
 */
#include "policy/answers.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "policy/simulate.h"

/* Whether an instruction can be reached, and with which accumulator. */
struct spot {
	bool reached, known;
	uint32_t a;
};

struct walk {
	const struct filter *f;
	const struct seccomp_data *call;
	bool met, differs;
	uint32_t first; /* answer that was met first */
	struct spot spots[FILTER_LEN_MAX + 1];
};

/* One more way to the instruction at 'at'. */
static void arrive(struct walk *w, size_t at, struct spot from)
{
	struct spot *to = &w->spots[at <= FILTER_LEN_MAX ? at : FILTER_LEN_MAX];

	if (to->reached && (to->a != from.a || !from.known))
		to->known = false;
	else if (!to->reached)
		*to = from;
	to->reached = true;
}

static bool is_taken(const struct sock_filter *i, uint32_t a)
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

static void branch(
    struct walk *w, size_t at, const struct sock_filter *i, struct spot from)
{
	bool taken = is_taken(i, from.a);

	if (!from.known || taken)
		arrive(w, at + 1 + i->jt, from);
	if (!from.known || !taken)
		arrive(w, at + 1 + i->jf, from);
}

static void step(struct walk *w, size_t at)
{
	const struct sock_filter *i = &w->f->code[at];
	struct spot from = w->spots[at];

	if (i->code == (BPF_RET | BPF_K)) {
		w->differs = w->differs || (w->met && i->k != w->first);
		w->first = w->met ? w->first : i->k;
		w->met = true;
	} else if (i->code == (BPF_JMP | BPF_JA)) {
		arrive(w, at + 1 + i->k, from);
	} else if (BPF_CLASS(i->code) == BPF_JMP) {
		branch(w, at, i, from);
	} else {
		/* Number and architecture are given; the rest is not. */
		from.known =
		    i->code == (BPF_LD | BPF_W | BPF_ABS) &&
		    i->k < offsetof(struct seccomp_data, instruction_pointer);
		if (from.known)
			memcpy(&from.a, (const char *)w->call + i->k,
			    sizeof(from.a));
		arrive(w, at + 1, from);
	}
}

int answer_find(const struct filter *f, uint32_t arch, int number,
    struct answer *ret, struct error *e)
{
	struct seccomp_data call = { .nr = number, .arch = arch };
	struct walk *w = calloc(1, sizeof(*w));
	uint32_t word = 0;

	if (w == NULL)
		return FAIL_SYS(e, "follow a filter");
	w->f = f;
	w->call = &call;
	w->spots[0] = (struct spot){ .reached = true };
	/* Jumps only go forward: each instruction is settled when its turn
	 * comes. */
	for (size_t at = 0; at < f->len; at++)
		if (w->spots[at].reached)
			step(w, at);
	ret->by_arguments = w->differs;
	free(w);
	memset(call.args, 0xff, sizeof(call.args));
	if (simulate_call(f, &call, &word, e) < 0)
		return -1;
	ret->word = word;
	return 0;
}

const char *answer_word(uint32_t word)
{
	switch (word) {
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

int answers_find(const struct filter *f, struct answers *ret, struct error *e)
{
	for (int i = 0; i <= NUMBER_LAST; i++)
		if (answer_find(f, FILTER_ARCH, i, &ret->of[i], e) < 0)
			return -1;
	return 0;
}
