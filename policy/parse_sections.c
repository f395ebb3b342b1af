/*
 * policy/parse_sections.c - the sections of a policy text, by tables of keys.
 * Linked by bailiff-policy and the supervisor; pure.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/parse_layers.h"
#include "policy/path.h"
#include "policy/shape.h"

static void take_name(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	(void)reader_name(r, node, p->policy->name, sizeof(p->policy->name));
}

static void take_limits(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	parse_limits(r, node, p->limits);
}

static void take_capabilities(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	parse_capabilities(r, node, &p->capabilities);
}

static int compare_roots(const void *a, const void *b)
{
	const struct policy_root *root_a = a;
	const struct policy_root *root_b = b;

	return strcmp(root_a->path, root_b->path);
}

bool parse_root(struct reader *r, uint32_t node, char *ret)
{
	if (!reader_text(r, node, ret, POLICY_PATH_MAX))
		return false;
	if (path_judge(ret) == PATH_FINE)
		return true;
	reader_fault(r, node,
	    "not an absolute path without . and .., "
	    "// or a slash at the end");
	return false;
}

static void take_root(struct reader *r, uint32_t node, struct policy *p)
{
	struct policy_root *root = &p->read_roots[p->n_read_roots];

	if (!parse_root(r, node, root->path))
		return;
	for (size_t i = 0; i < p->n_read_roots; i++)
		if (strcmp(p->read_roots[i].path, root->path) == 0)
			reader_fault(r, node, "this root stands here twice");
	p->n_read_roots++;
}

static void take_read_roots(struct reader *r, uint32_t node, void *to)
{
	struct policy *p = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > POLICY_ROOTS_MAX) {
		reader_fault(r, node, "more than %d roots", POLICY_ROOTS_MAX);
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_root(r, i, p);
	qsort(p->read_roots, p->n_read_roots, sizeof(p->read_roots[0]),
	    compare_roots);
}

static int compare_globs(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void take_artifacts(struct reader *r, uint32_t node, void *to)
{
	struct policy *p = ((struct parse *)to)->policy;

	p->n_artifacts = parse_rows(r, node, PARSE_ROWS(p->artifacts, 0));
	for (size_t i = 0; i < p->n_artifacts; i++)
		if (!glob_is_fine(p->artifacts[i]))
			reader_fault(r, node,
			    "\"%s\" is no pattern: components of ASCII with * "
			    "and ?, ** only as a whole one, none of []{}\\",
			    p->artifacts[i]);
	qsort(p->artifacts, p->n_artifacts, sizeof(p->artifacts[0]),
	    compare_globs);
	for (size_t i = 1; i < p->n_artifacts; i++)
		if (strcmp(p->artifacts[i], p->artifacts[i - 1]) == 0)
			reader_fault(r, node, "\"%s\" stands here twice",
			    p->artifacts[i]);
}

static const struct reader_key path_keys[] = {
	{ "read", take_read_roots, 0, false, &shape_read_roots },
	{ "export", parse_future_list, 0, false, &shape_export_roots },
};
const struct reader_keys parse_path_keys = { "paths",
	sizeof(path_keys) / sizeof(path_keys[0]), path_keys };

static void take_paths(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	reader_object(r, node, &parse_path_keys, p->policy);
}

static const struct reader_key network_keys[] = {
	{ "allow", parse_future_list, 0, true, &shape_network_allow },
};
const struct reader_keys parse_network_keys = { "a network",
	sizeof(network_keys) / sizeof(network_keys[0]), network_keys };

static void take_network(struct reader *r, uint32_t node, void *to)
{
	size_t which;

	if (r->scan.nodes[node].kind == SCAN_OBJECT)
		reader_object(r, node, &parse_network_keys, to);
	else
		(void)reader_word(r, node, shape_network.words, &which);
}

static void take_trace(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (!reader_word(r, node, shape_trace.words, &which))
		return;
	p->policy->trace = (enum trace_mode)which;
	p->policy->trace_is_said = true;
}

static void take_trace_file(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (reader_word(r, node, shape_trace_file.words, &which))
		p->policy->trace_packed = which == 1;
}

static void take_durability(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (!reader_word(r, node, shape_durability.words, &which))
		return;
	p->policy->durability = (enum durability)which;
}

static void take_retention(struct reader *r, uint32_t node, void *to)
{
	size_t which;

	(void)to;
	if (r->scan.nodes[node].kind == SCAN_NUMBER)
		reader_fault(
		    r, node, "this is not built yet; write \"unlimited\"");
	else
		(void)reader_word(r, node, shape_retention.words, &which);
}

static const struct reader_key audit_keys[] = {
	{ "durability", take_durability, 0, false, &shape_durability },
	{ "args", parse_take_args, 0, false, &shape_args },
	{ "env", parse_take_env, 0, false, &shape_env },
	{ "stdin", parse_take_stdin, 0, false, &shape_stdin },
	{ "results", parse_take_results, 0, false, &shape_results },
	{ "access", parse_take_access, 0, false, &shape_access },
	{ "tick_s", parse_take_tick, 0, false, &shape_tick },
	{ "retention_days", take_retention, 0, false, &shape_retention },
};
const struct reader_keys parse_audit_keys = { "audit",
	sizeof(audit_keys) / sizeof(audit_keys[0]), audit_keys };

static void take_audit(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_audit_keys, to);
}

static void take_u32(
    struct reader *r, uint32_t node, struct number_range range, uint32_t *ret)
{
	uint64_t value;

	if (reader_number(r, node, range, &value))
		*ret = (uint32_t)value;
}

static void take_runs(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (r->scan.nodes[node].kind == SCAN_NUMBER)
		take_u32(r, node, shape_runs.range, &p->policy->runs_at_once);
	else if (reader_word(r, node, shape_runs.instead->words, &which))
		p->policy->runs_at_once = 0;
}

static void take_queue(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	take_u32(r, node, shape_queue.range, &p->policy->queue);
}

static void take_per_principal(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (r->scan.nodes[node].kind == SCAN_NUMBER)
		take_u32(r, node, shape_per_principal.range,
		    &p->policy->per_principal);
	else if (reader_word(
	             r, node, shape_per_principal.instead->words, &which))
		p->policy->per_principal = which == 0 ? 0 : POLICY_UNLIMITED;
}

static const struct reader_key concurrency_keys[] = {
	{ "runs", take_runs, 0, false, &shape_runs },
	{ "queue", take_queue, 0, false, &shape_queue },
	{ "per_principal", take_per_principal, 0, false, &shape_per_principal },
};
const struct reader_keys parse_concurrency_keys = { "concurrency",
	sizeof(concurrency_keys) / sizeof(concurrency_keys[0]),
	concurrency_keys };

static void take_concurrency(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_concurrency_keys, to);
}

static void take_min_abi(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	take_u32(r, node, shape_min_abi.range, &p->policy->landlock_min_abi);
}

static const struct reader_key landlock_keys[] = {
	{ "min_abi", take_min_abi, 0, false, &shape_min_abi },
};
const struct reader_keys parse_landlock_keys = { "landlock",
	sizeof(landlock_keys) / sizeof(landlock_keys[0]), landlock_keys };

static void take_landlock(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_landlock_keys, to);
}

static void take_linger(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	take_u32(r, node, shape_linger.range, &p->policy->linger_s);
}

static const struct reader_key service_keys[] = {
	{ "linger_s", take_linger, 0, false, &shape_linger },
};
const struct reader_keys parse_service_keys = { "service",
	sizeof(service_keys) / sizeof(service_keys[0]), service_keys };

static void take_service(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_service_keys, to);
}

static void take_degraded(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;
	size_t which;

	if (reader_word(r, node, shape_degraded.words, &which))
		p->policy->accept_degraded = which == 1;
}

static void take_unbuilt_text(struct reader *r, uint32_t node, void *to)
{
	(void)to;
	if (reader_is(r, node, SCAN_STRING))
		reader_fault(r, node, "this is not built yet; leave it out");
}

/* clang-format off */
/* "languages" comes last: it inherits from the others. */
static const struct reader_key keys[] = {
	{ "version",      parse_version,     0, true, &shape_version },
	{ "name",         take_name,         0, true, &shape_name },
	{ "limits",       take_limits,       0, false, &shape_limits },
	{ "capabilities", take_capabilities, 0, false, &shape_capabilities },
	{ "paths",        take_paths,        0, false, &shape_paths },
	{ "artifacts",    take_artifacts,    0, false, &shape_artifacts },
	{ "network",      take_network,      0, false, &shape_network },
	{ "trace",        take_trace,        0, false, &shape_trace },
	{ "trace_file",   take_trace_file,   0, false, &shape_trace_file },
	{ "audit",        take_audit,        0, false, &shape_audit },
	{ "concurrency",  take_concurrency,  0, false, &shape_concurrency },
	{ "landlock",     take_landlock,     0, false, &shape_landlock },
	{ "service",      take_service,      0, false, &shape_service },
	{ "degraded",     take_degraded,     0, false, &shape_degraded },
	{ "extends",      take_unbuilt_text, 0, false, &shape_extends },
	{ "rootfs",       take_unbuilt_text, 0, false, &shape_rootfs },
	{ "languages",    parse_languages,   0, true, &shape_languages },
};
/* clang-format on */
const struct reader_keys parse_policy_keys = { "a policy",
	sizeof(keys) / sizeof(keys[0]), keys };

const struct reader_keys *const parse_tables[] = {
	&parse_policy_keys,
	&parse_entry_keys,
	&parse_capability_keys,
	&parse_syscall_keys,
	&parse_limit_keys,
	&parse_path_keys,
	&parse_network_keys,
	&parse_audit_keys,
	&parse_results_keys,
	&parse_concurrency_keys,
	&parse_landlock_keys,
	&parse_service_keys,
	&parse_language_file_keys,
	&parse_module_keys,
	&parse_rule_keys,
	&parse_language_module_keys,
	&parse_installer_keys,
	&parse_library_keys,
	&parse_language_package_keys,
	&parse_plot_keys,
	NULL,
};
