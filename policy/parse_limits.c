/*
 * policy/parse_limits.c - "limits" and "capabilities".  Linked by
 * bailiff-policy and the supervisor; pure.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/shape.h"

/* One "name": {"default": n, "max": n} while it is read. */
struct amounts {
	const struct limit_info *info;
	uint32_t default_node;
	bool has_default, has_max;
	uint64_t value, max;
};

void parse_limits_init(struct limit limits[LIMIT_N])
{
	for (size_t i = 0; i < LIMIT_N; i++)
		limits[i] = (struct limit){ limit_table[i].fallback_default,
			limit_table[i].fallback_max };
}

static bool take_amount(struct reader *r, uint32_t node,
    const struct limit_info *info, uint64_t *ret)
{
	struct number_range range = { info->floor, info->ceiling };
	char word[sizeof("unlimited")];
	size_t len;

	if (r->scan.nodes[node].kind != SCAN_STRING)
		return reader_number(r, node, range, ret);
	if (scan_string(&r->scan, node, word, sizeof(word), &len) < 0 ||
	    strcmp(word, "unlimited") != 0) {
		reader_fault(r, node,
		    "expected a number, %" PRIu64 " to %" PRIu64, info->floor,
		    info->ceiling);
		return false;
	}
	if (!info->may_be_unlimited) {
		reader_fault(r, node,
		    "%s cannot be unlimited; write at most %" PRIu64,
		    info->name, info->ceiling);
		return false;
	}
	*ret = LIMIT_UNLIMITED;
	return true;
}

static void take_default(struct reader *r, uint32_t node, void *to)
{
	struct amounts *a = to;

	a->default_node = node;
	a->has_default = take_amount(r, node, a->info, &a->value);
}

static void take_max(struct reader *r, uint32_t node, void *to)
{
	struct amounts *a = to;

	a->has_max = take_amount(r, node, a->info, &a->max);
}

static const struct reader_key limit_keys[] = {
	{ "default", take_default, 0, false, NULL },
	{ "max", take_max, 0, false, NULL },
};
const struct reader_keys parse_limit_keys = { "a limit",
	sizeof(limit_keys) / sizeof(limit_keys[0]), limit_keys };

static void take_limit(struct reader *r, uint32_t node,
    const struct limit_info *info, struct limit *limit)
{
	struct amounts a = { .info = info, .default_node = node };
	size_t before = r->faults->n + r->faults->more;

	reader_object(r, node, &parse_limit_keys, &a);
	if (r->faults->n + r->faults->more != before)
		return;
	if (a.has_max)
		limit->max = a.max;
	if (a.has_default && a.value > limit->max)
		reader_fault(r, a.default_node,
		    "the default is above max, which is %" PRIu64
		    "; raise \"max\" as well",
		    limit->max);
	if (a.has_default)
		limit->value = a.value;
	/* A max alone lowers the default that was inherited. */
	if (limit->value > limit->max)
		limit->value = limit->max;
}

void parse_limits(struct reader *r, uint32_t node, void *limits)
{
	struct limit *table = limits;
	struct reader_names names = { .n = 0 };

	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	for (size_t i = 0; i < LIMIT_N; i++)
		names.items[names.n++] = limit_table[i].name;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char key[SCAN_KEY_MAX + 1] = "";
		enum limit_id id;

		if (scan_key(&r->scan, i, key, sizeof(key)) < 0)
			continue;
		id = limit_find(key);
		if (id == LIMIT_N)
			reader_unknown_key(r, i, "limit", &names);
		else
			take_limit(r, i, &limit_table[id], &table[id]);
	}
}

/* Those that bind a step whose code, input and results are not a request's. */
static const enum limit_id of_compiler[] = { LIMIT_WALL_MS, LIMIT_CPU_MS,
	LIMIT_MEMORY, LIMIT_PIDS, LIMIT_OPEN_FILES, LIMIT_FILE_SIZE,
	LIMIT_SCRATCH_BYTES, LIMIT_SCRATCH_INODES, LIMIT_OUTPUT };

bool parse_binds_compiler(enum limit_id id)
{
	for (size_t i = 0; i < sizeof(of_compiler) / sizeof(of_compiler[0]);
	     i++)
		if (of_compiler[i] == id)
			return true;
	return false;
}

void parse_compile_limits(
    struct reader *r, uint32_t node, struct compile_limits *to)
{
	struct reader_names names = { .n = 0 };

	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	for (size_t i = 0; i < LIMIT_N; i++)
		if (parse_binds_compiler((enum limit_id)i))
			names.items[names.n++] = limit_table[i].name;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char key[SCAN_KEY_MAX + 1] = "";
		enum limit_id id;

		if (scan_key(&r->scan, i, key, sizeof(key)) < 0)
			continue;
		id = limit_find(key);
		if (id == LIMIT_N || !parse_binds_compiler(id))
			reader_unknown_key(r, i, "limit of a compiler", &names);
		else if (take_amount(r, i, &limit_table[id], &to->value[id]))
			to->is_said[id] = true;
	}
}

void parse_capabilities_init(struct capabilities *ret)
{
	*ret = (struct capabilities){ .threads = true, .loopback = true };
}

static void take_bool(struct reader *r, uint32_t node, void *to)
{
	(void)reader_bool(r, node, to);
}

static void take_network(struct reader *r, uint32_t node, void *to)
{
	bool *network = to;

	if (reader_bool(r, node, network) && *network)
		reader_fault(
		    r, node, "network access is not built yet; write false");
}

void parse_future_list(struct reader *r, uint32_t node, void *unused)
{
	(void)unused;
	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		(void)reader_is(r, i, SCAN_STRING);
	if (r->scan.nodes[node].n > 0)
		reader_fault(
		    r, node, "this is not built yet; leave it out or write []");
}

#define FIELD(name) offsetof(struct capabilities, name)
/* clang-format off */
static const struct reader_key capability_keys[] = {
	{ "subprocess",  take_bool,     FIELD(subprocess),  false, &shape_subprocess },
	{ "threads",     take_bool,     FIELD(threads),     false, &shape_threads },
	{ "loopback",    take_bool,     FIELD(loopback),    false, &shape_loopback },
	{ "network",     take_network,  FIELD(network),     false, &shape_network_capability },
	{ "exec_memory", take_bool,     FIELD(exec_memory), false, &shape_exec_memory },
	{ "ipc",         take_bool,     FIELD(ipc),         false, &shape_ipc },
	{ "syscalls",    parse_syscalls, 0,                 false, &shape_syscalls },
};
/* clang-format on */
const struct reader_keys parse_capability_keys = { "capabilities",
	sizeof(capability_keys) / sizeof(capability_keys[0]), capability_keys };

/* In the order of the keys above, without "syscalls". */
const struct reader_names parse_capability_names = { 6,
	{ "subprocess", "threads", "loopback", "network", "exec_memory",
	    "ipc" } };

bool parse_capability(const struct capabilities *c, size_t index)
{
	const bool given[] = { c->subprocess, c->threads, c->loopback,
		c->network, c->exec_memory, c->ipc };

	return index < sizeof(given) / sizeof(given[0]) && given[index];
}

void parse_capabilities(struct reader *r, uint32_t node, void *capabilities)
{
	reader_object(r, node, &parse_capability_keys, capabilities);
}

void parse_version(struct reader *r, uint32_t node, void *unused)
{
	uint64_t version;

	(void)unused;
	if (!reader_is(r, node, SCAN_NUMBER))
		return;
	if (!scan_u64(&r->scan, node, &version) || version != PARSE_VERSION)
		reader_fault(
		    r, node, "this program reads version %d", PARSE_VERSION);
}
