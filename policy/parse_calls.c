/*
 * policy/parse_calls.c - "syscalls" of the capabilities.  Linked by
 * bailiff-policy and the supervisor; pure.
 */
#include <string.h>

#include "policy/numbers.h"
#include "policy/parse.h"
#include "policy/shape.h"

static void take_call(struct reader *r, uint32_t node, struct callset *to)
{
	char name[NUMBER_NAME_MAX];
	struct callset before = *to;
	size_t call;

	if (!reader_text(r, node, name, sizeof(name)))
		return;
	call = callset_find(name);
	if (call == CALLSET_MAX) {
		reader_fault(r, node,
		    "no policy allows a call of that name; bailiff policy "
		    "explain lists the calls");
		return;
	}
	callset_add(to, call);
	if (before.given && callset_equal(&before, to))
		reader_fault(r, node, "this call stands here twice");
}

/* Replaces the set that is inherited; [] leaves what no set takes away. */
static void take_only(struct reader *r, uint32_t node, void *to)
{
	struct capabilities *c = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > shape_only.range.max) {
		reader_fault(r, node, "more than %d calls", CALLSET_MAX);
		return;
	}
	c->only = (struct callset){ .given = true };
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_call(r, i, &c->only);
}

static const struct reader_key keys[] = {
	{ "only", take_only, 0, false, &shape_only },
	{ "allow", parse_future_list, 0, false, &shape_syscalls_list },
	{ "deny", parse_future_list, 0, false, &shape_syscalls_list },
};
const struct reader_keys parse_syscall_keys = { "syscalls",
	sizeof(keys) / sizeof(keys[0]), keys };

void parse_syscalls(struct reader *r, uint32_t node, void *capabilities)
{
	reader_object(r, node, &parse_syscall_keys, capabilities);
}
