/*
 * policy/simulate.c - interprets a filter.  Linked by tests and
 * bailiff-policy; trusts nothing in the program it runs.
 */
#include "policy/simulate.h"

#include <stdbool.h>
#include <string.h>

struct machine {
	uint32_t accumulator;
	size_t at;
	bool done;
	uint32_t answer;
};

/* The kernel loads only aligned words inside struct seccomp_data. */
static bool load(
    const struct seccomp_data *call, uint32_t offset, uint32_t *ret)
{
	if (offset % 4 != 0 || offset > sizeof(*call) - sizeof(*ret))
		return false;
	memcpy(ret, (const char *)call + offset, sizeof(*ret));
	return true;
}

static bool compare(uint16_t code, uint32_t a, uint32_t k, bool *ret)
{
	switch (code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		*ret = a == k;
		return true;
	case BPF_JMP | BPF_JGT | BPF_K:
		*ret = a > k;
		return true;
	case BPF_JMP | BPF_JGE | BPF_K:
		*ret = a >= k;
		return true;
	case BPF_JMP | BPF_JSET | BPF_K:
		*ret = (a & k) != 0;
		return true;
	default:
		return false;
	}
}

static bool step(const struct sock_filter *i, const struct seccomp_data *call,
    struct machine *m)
{
	bool taken;

	m->at++;
	switch (i->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return load(call, i->k, &m->accumulator);
	case BPF_ALU | BPF_AND | BPF_K:
		m->accumulator &= i->k;
		return true;
	case BPF_JMP | BPF_JA:
		m->at += i->k;
		return true;
	case BPF_RET | BPF_K:
		m->done = true;
		m->answer = i->k;
		return true;
	default:
		if (!compare(i->code, m->accumulator, i->k, &taken))
			return false;
		m->at += taken ? i->jt : i->jf;
		return true;
	}
}

int simulate_call(const struct filter *f, const struct seccomp_data *call,
    uint32_t *ret, struct error *e)
{
	struct machine m = { .at = 0 };

	/* Jumps only go forward, so this ends. */
	while (!m.done) {
		if (m.at >= f->len || f->len > FILTER_LEN_MAX)
			return FAIL(e, ERROR_MALFORMED,
			    "filter runs past its end at %zu", m.at);
		if (!step(&f->code[m.at], call, &m))
			return FAIL(e, ERROR_MALFORMED,
			    "filter has a foreign instruction at %zu",
			    m.at - 1);
	}
	*ret = m.answer;
	return 0;
}
