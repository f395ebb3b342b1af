/*
 * policy/parse_audit.c - "audit" of a policy but its durability: what the log
 * says of a run, how long results are kept, what else is recorded.  Linked by
 * bailiff-policy and the supervisor.
 */
#include "policy/parse.h"
#include "policy/shape.h"

static struct policy_audit *audit_of(void *to)
{
	struct parse *p = to;

	return &p->policy->audit;
}

static void take_content(struct reader *r, uint32_t node,
    const struct reader_names *words, enum policy_content *ret)
{
	size_t which;

	if (reader_word(r, node, words, &which))
		*ret = (enum policy_content)which;
}

void parse_take_args(struct reader *r, uint32_t node, void *to)
{
	take_content(r, node, shape_args.words, &audit_of(to)->args);
}

void parse_take_env(struct reader *r, uint32_t node, void *to)
{
	take_content(r, node, shape_env.words, &audit_of(to)->env);
}

void parse_take_stdin(struct reader *r, uint32_t node, void *to)
{
	take_content(r, node, shape_stdin.words, &audit_of(to)->standard_input);
}

void parse_take_access(struct reader *r, uint32_t node, void *to)
{
	size_t which;

	if (reader_word(r, node, shape_access.words, &which))
		audit_of(to)->access = which == 1;
}

/* A number in the range of 'shape', or its one word, which is 'word'. */
static void take_most(struct reader *r, uint32_t node,
    const struct shape *shape, uint64_t word, uint64_t *ret)
{
	size_t which;

	if (r->scan.nodes[node].kind == SCAN_NUMBER)
		(void)reader_number(r, node, shape->range, ret);
	else if (reader_word(r, node, shape->instead->words, &which))
		*ret = word;
}

void parse_take_tick(struct reader *r, uint32_t node, void *to)
{
	uint64_t value = audit_of(to)->tick_s;

	take_most(r, node, &shape_tick, 0, &value);
	audit_of(to)->tick_s = (uint32_t)value;
}

static void take_keep_days(struct reader *r, uint32_t node, void *to)
{
	uint64_t value = audit_of(to)->keep_days;

	take_most(r, node, &shape_keep_days, POLICY_UNLIMITED, &value);
	audit_of(to)->keep_days = (uint32_t)value;
}

static void take_max_bytes(struct reader *r, uint32_t node, void *to)
{
	take_most(
	    r, node, &shape_max_bytes, UINT64_MAX, &audit_of(to)->max_bytes);
}

static const struct reader_key results_keys[] = {
	{ "keep_days", take_keep_days, 0, false, &shape_keep_days },
	{ "max_bytes", take_max_bytes, 0, false, &shape_max_bytes },
};
const struct reader_keys parse_results_keys = { "results",
	sizeof(results_keys) / sizeof(results_keys[0]), results_keys };

void parse_take_results(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_results_keys, to);
}
