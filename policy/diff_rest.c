/*
 * policy/diff_rest.c - two policies compared outside of their languages.  Linked
 * by bailiff-policy; pure.
 */
#include "policy/diff_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/path.h"
#include "policy/shape.h"

static bool has_root(const struct policy *p, const char *root)
{
	for (size_t i = 0; i < p->n_read_roots; i++)
		if (strcmp(p->read_roots[i].path, root) == 0)
			return true;
	return false;
}

static bool covers(const struct policy *p, const char *root)
{
	for (size_t i = 0; i < p->n_read_roots; i++)
		if (path_beneath(p->read_roots[i].path, root) != NULL)
			return true;
	return has_root(p, root);
}

static void tell_roots(struct diff *d)
{
	const struct policy *of[] = { d->a, d->b };

	diff_name(d, "paths.read");
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_read_roots; i++) {
			const char *root = of[side]->read_roots[i].path;

			if (!covers(of[1 - side], root))
				diff_tell(d,
				    side == 0 ? DIFF_DENIED : DIFF_ALLOWED,
				    "%s", root);
			else if (!has_root(of[1 - side], root))
				diff_tell(d, DIFF_CHANGED,
				    "%s %s, within another root", root,
				    side == 0 ? "is gone" : "is new");
		}
}

static bool has_glob(const struct policy *p, const char *glob)
{
	for (size_t i = 0; i < p->n_artifacts; i++)
		if (strcmp(p->artifacts[i], glob) == 0)
			return true;
	return false;
}

/* Pattern by pattern: which of two is the wider is not asked. */
static void tell_artifacts(struct diff *d)
{
	const struct policy *of[] = { d->a, d->b };

	diff_name(d, "artifacts");
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_artifacts; i++) {
			const char *glob = of[side]->artifacts[i];

			if (!has_glob(of[1 - side], glob))
				diff_tell(d,
				    side == 0 ? DIFF_DENIED : DIFF_ALLOWED,
				    "%s", glob);
		}
}

static void tell_number(
    struct diff *d, const char *what, uint64_t was, uint64_t is)
{
	diff_name(d, "%s", what);
	if (was != is)
		diff_amounts(d, DIFF_CHANGED, was, is);
}

/* 0 and POLICY_UNLIMITED have words of their own. */
static void tell_count(
    struct diff *d, const char *what, uint32_t was, uint32_t is)
{
	char words[2][24];
	const uint32_t values[] = { is, was };

	diff_name(d, "%s", what);
	if (was == is)
		return;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(
		    words[i], sizeof(words[i]), "%" PRIu32, values[i]);
		if (values[i] == 0 || values[i] == POLICY_UNLIMITED)
			(void)snprintf(words[i], sizeof(words[i]), "%s",
			    values[i] == 0 ? "auto" : "unlimited");
	}
	diff_tell(d, DIFF_CHANGED, "%s, was %s", words[0], words[1]);
}

static void tell_word(struct diff *d, const char *what,
    const struct reader_names *words, const size_t of[2])
{
	diff_name(d, "%s", what);
	if (of[0] != of[1])
		diff_tell(d, DIFF_CHANGED, "%s, was %s", words->items[of[1]],
		    words->items[of[0]]);
}

static void tell_most(
    struct diff *d, const char *what, uint64_t was, uint64_t is)
{
	char words[2][24];
	const uint64_t values[] = { is, was };

	diff_name(d, "%s", what);
	if (was == is)
		return;
	for (size_t i = 0; i < 2; i++)
		if (values[i] == UINT64_MAX)
			(void)snprintf(words[i], sizeof(words[i]), "unlimited");
		else
			(void)snprintf(
			    words[i], sizeof(words[i]), "%" PRIu64, values[i]);
	diff_tell(d, DIFF_CHANGED, "%s, was %s", words[0], words[1]);
}

static void tell_audit(
    struct diff *d, const struct policy_audit *a, const struct policy_audit *b)
{
	const uint32_t every[] = { a->tick_s, b->tick_s };

	tell_word(d, "audit.args", shape_args.words,
	    (const size_t[]){ a->args, b->args });
	tell_word(d, "audit.env", shape_env.words,
	    (const size_t[]){ a->env, b->env });
	tell_word(d, "audit.stdin", shape_stdin.words,
	    (const size_t[]){ a->standard_input, b->standard_input });
	tell_word(d, "audit.access", shape_access.words,
	    (const size_t[]){ a->access, b->access });
	tell_most(d, "audit.results.keep_days",
	    a->keep_days == POLICY_UNLIMITED ? UINT64_MAX : a->keep_days,
	    b->keep_days == POLICY_UNLIMITED ? UINT64_MAX : b->keep_days);
	tell_most(d, "audit.results.max_bytes", a->max_bytes, b->max_bytes);
	diff_name(d, "audit.tick_s");
	if (every[0] != every[1] && every[1] == 0)
		diff_tell(d, DIFF_CHANGED, "none, was %" PRIu32, every[0]);
	else if (every[0] != every[1] && every[0] == 0)
		diff_tell(d, DIFF_CHANGED, "%" PRIu32 ", was none", every[1]);
	else
		tell_number(d, "audit.tick_s", every[0], every[1]);
}

void diff_rest(struct diff *d)
{
	const struct policy *a = d->a;
	const struct policy *b = d->b;

	tell_roots(d);
	tell_artifacts(d);
	diff_name(d, "degraded");
	if (a->accept_degraded != b->accept_degraded)
		diff_tell(d, b->accept_degraded ? DIFF_ALLOWED : DIFF_DENIED,
		    "%s",
		    b->accept_degraded ? "accept, was refuse"
		                       : "refuse, was accept");
	tell_word(d, "trace", shape_trace.words,
	    (const size_t[]){ a->trace, b->trace });
	tell_word(d, "trace_file", shape_trace_file.words,
	    (const size_t[]){ a->trace_packed, b->trace_packed });
	tell_word(d, "audit.durability", shape_durability.words,
	    (const size_t[]){ a->durability, b->durability });
	tell_audit(d, &a->audit, &b->audit);
	tell_count(d, "concurrency.runs", a->runs_at_once, b->runs_at_once);
	tell_number(d, "concurrency.queue", a->queue, b->queue);
	tell_count(
	    d, "concurrency.per_principal", a->per_principal, b->per_principal);
	tell_number(
	    d, "landlock.min_abi", a->landlock_min_abi, b->landlock_min_abi);
	tell_number(d, "service.linger_s", a->linger_s, b->linger_s);
	diff_name(d, "name");
	if (strcmp(a->name, b->name) != 0)
		diff_tell(d, DIFF_CHANGED, "%s, was %s", b->name, a->name);
}
