/*
 * policy/parse_rules.c - code rules of one language.  Linked by bailiff-policy
 * and the supervisor; pure.  Patterns are compiled elsewhere: by `bailiff policy
 * check`, and by bailiff-screen when a service starts.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/shape.h"

/* "code.rule." and an id fit in a word of a decision. */
#define ID_MAX (POLICY_WORD_MAX - sizeof("code.rule.") + 1)

static void take_id(struct reader *r, uint32_t node, void *to)
{
	struct code_rule *rule = to;

	if (!reader_name(r, node, rule->id, sizeof(rule->id)))
		return;
	/* A record's ids are dotted lower-case words. */
	if (strchr(rule->id, '-') != NULL)
		reader_fault(r, node, "not an id; write a-z, 0-9, . and _");
	_Static_assert(sizeof(rule->id) <= ID_MAX, "code.rule.<id> is a word");
	/* What the screen itself says in a decision. */
	if (strcmp(rule->id, "limit") == 0 || strcmp(rule->id, "failed") == 0)
		reader_fault(r, node,
		    "code.rule.%s says something else; choose another id",
		    rule->id);
}

static void keep_place(struct reader *r, uint32_t node, struct code_rule *rule)
{
	scan_place(
	    &r->scan, r->scan.nodes[node].at, &rule->line, &rule->column);
}

static void take_pattern(struct reader *r, uint32_t node, void *to)
{
	struct code_rule *rule = to;

	if (!reader_text(r, node, rule->text, sizeof(rule->text)))
		return;
	keep_place(r, node, rule);
	for (const char *at = rule->text; *at != '\0'; at++)
		if ((unsigned char)*at >= 0x80) {
			reader_fault(r, node,
			    "patterns are matched byte by byte; write other "
			    "than ASCII as \\xHH, outside of []");
			return;
		}
}

static void take_module(struct reader *r, uint32_t node, void *to)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_./:@+-";
	struct code_rule *rule = to;

	if (rule->text[0] != '\0') {
		reader_fault(
		    r, node, "a rule has a pattern or a module, not both");
		return;
	}
	rule->is_module = true;
	if (!reader_text(r, node, rule->text, POLICY_NAME_MAX))
		return;
	keep_place(r, node, rule);
	if (strspn(rule->text, letters) != strlen(rule->text))
		reader_fault(r, node,
		    "not a module's name such as \"os.path\", \"fs\" or "
		    "\"sys/socket.h\"");
}

static void add_place(struct reader *r, uint32_t node, struct code_rule *rule)
{
	static const uint32_t places[] = { CODE_IN_CODE, CODE_IN_STRINGS,
		CODE_IN_COMMENTS, CODE_ANYWHERE };
	size_t which;

	if (!reader_word(r, node, shape_place.words, &which))
		return;
	if ((rule->places & places[which]) != 0)
		reader_fault(r, node, "this place stands here twice");
	rule->places |= places[which];
}

static void take_places(struct reader *r, uint32_t node, void *to)
{
	struct code_rule *rule = to;

	if (rule->is_module) {
		reader_fault(r, node,
		    "a module is looked for where it would be imported; "
		    "leave \"in\" out");
		return;
	}
	rule->places = 0;
	if (r->scan.nodes[node].kind != SCAN_ARRAY) {
		add_place(r, node, rule);
		return;
	}
	if (r->scan.nodes[node].n == 0)
		reader_fault(r, node, "it looks nowhere; write \"any\"");
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		add_place(r, i, rule);
}

static void take_action(struct reader *r, uint32_t node, void *to)
{
	struct code_rule *rule = to;
	size_t which;

	if (reader_word(r, node, shape_action.words, &which))
		rule->action = (enum code_action)which;
}

/* clang-format off */
static const struct reader_key keys[] = {
	{ "id",      take_id,      0, true,  &shape_rule_id },
	{ "pattern", take_pattern, 0, false, &shape_pattern },
	{ "module",  take_module,  0, false, &shape_imported },
	{ "in",      take_places,  0, false, &shape_places },
	{ "action",  take_action,  0, false, &shape_action },
};
/* clang-format on */
const struct reader_keys parse_rule_keys = { "a rule",
	sizeof(keys) / sizeof(keys[0]), keys };

static void take_rule(
    struct reader *r, uint32_t node, struct policy_language *l)
{
	struct code_rule *rule = &l->rules[l->n_rules++];

	rule->places = CODE_IN_CODE;
	reader_object(r, node, &parse_rule_keys, rule);
	if (r->scan.nodes[node].kind != SCAN_OBJECT)
		return;
	if (scan_member(&r->scan, node, "pattern") == SCAN_NONE &&
	    scan_member(&r->scan, node, "module") == SCAN_NONE)
		reader_fault(
		    r, node, "a rule needs the key \"pattern\" or \"module\"");
	for (size_t i = 0; i + 1 < l->n_rules; i++)
		if (rule->id[0] != '\0' &&
		    strcmp(l->rules[i].id, rule->id) == 0)
			reader_fault(
			    r, node, "two rules are called \"%s\"", rule->id);
}

void parse_rules(struct reader *r, uint32_t node, struct policy_language *l)
{
	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > POLICY_RULES_MAX) {
		reader_fault(r, node, "more than %d rules", POLICY_RULES_MAX);
		return;
	}
	/* The slot of a language that had faults serves the next one. */
	free(l->rules);
	l->n_rules = 0;
	l->rules = calloc(r->scan.nodes[node].n + 1u, sizeof(l->rules[0]));
	if (l->rules == NULL) {
		reader_fault(r, node, "no memory to keep it");
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_rule(r, i, l);
}
