/*
 * audit/recall.c - looks for one outcome.  Linked by the signer, which trusts
 * its own log: strings in it hold no quotation mark (profile c1), so a quoted
 * member stands in a line as these bytes or not at all.
 */
#include "audit/recall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/lines.h"
#include "base/sha256.h"

struct search {
	const struct recall *recall;
	struct event_stored *found;
	char run[64], manifest[96]; /* members, as they stand in the line */
	bool is_found;
	struct tree tree; /* before the record, once it is found */
	uint8_t *leaves;  /* owned; from the record on */
	size_t n_leaves, cap;
	uint8_t record_key[32];
};

static bool has(const struct lines_line *l, const char *member)
{
	return memmem(l->text, l->len, member, strlen(member)) != NULL;
}

static unsigned nibble(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 10u : (unsigned)(c - '0') & 15u;
}

/* log.open and epoch.open bring the key of the records from there on. */
static void note_key(struct search *s, const struct lines_line *l)
{
	static const char member[] = "\"reckey\":\"";
	const char *at = memmem(l->text, l->len, member, sizeof(member) - 1);

	if (at == NULL)
		return;
	at += sizeof(member) - 1;
	if ((size_t)(l->text + l->len - at) < 2 * sizeof(s->record_key))
		return;
	for (size_t i = 0; i < sizeof(s->record_key); i++)
		s->record_key[i] =
		    (uint8_t)(nibble(at[2 * i]) << 4 | nibble(at[2 * i + 1]));
}

static int keep_leaf(
    struct search *s, const uint8_t leaf[TREE_HASH], struct error *e)
{
	if (s->n_leaves == s->cap) {
		size_t cap = s->cap > 0 ? 2 * s->cap : 256;
		uint8_t *more = reallocarray(s->leaves, cap, TREE_HASH);

		if (more == NULL)
			return FAIL_SYS(e, "allocate leaves");
		s->leaves = more;
		s->cap = cap;
	}
	memcpy(s->leaves + s->n_leaves++ * TREE_HASH, leaf, TREE_HASH);
	return 0;
}

static void take(
    struct search *s, const struct lines_line *l, const uint8_t leaf[TREE_HASH])
{
	struct event_stored *m = s->found;

	s->is_found = true;
	m->seq = s->tree.size;
	memcpy(m->leaf, leaf, sizeof(m->leaf));
	memcpy(m->line.data, l->text, l->len);
	m->line.len = l->len;
	memcpy(m->record_key, s->record_key, sizeof(m->record_key));
}

static int look_at(
    struct search *s, const struct lines_line *l, struct error *e)
{
	uint8_t leaf[TREE_HASH];

	tree_leaf(l->text, l->len, leaf);
	note_key(s, l);
	if (!s->is_found && has(l, s->manifest) && has(l, s->run) &&
	    has(l, "\"type\":\"outcome\""))
		take(s, l, leaf);
	if (s->is_found)
		return keep_leaf(s, leaf, e);
	tree_add(&s->tree, leaf);
	return 0;
}

static int read_log(struct search *s, struct error *e)
{
	struct lines lines;
	struct lines_line line;
	int failed = lines_open(s->recall->log_dir_fd, &lines, e);

	while (failed == 0 && s->tree.size + s->n_leaves < s->recall->size) {
		failed = lines_next(&lines, &line, e);
		if (failed == 0 && line.kind != LINES_ONE)
			failed = FAIL(
			    e, ERROR_STATE, "the log is shorter than it was");
		if (failed == 0)
			failed = look_at(s, &line, e);
	}
	lines_close(&lines);
	return failed;
}

static void name_members(struct search *s)
{
	char hex[SHA256_HEX];
	const struct event_recall *what = s->recall->what;
	size_t n = (size_t)snprintf(s->run, sizeof(s->run), "\"req\":\"r_");

	for (size_t i = 0; i < sizeof(what->run); i++)
		n += (size_t)snprintf(
		    s->run + n, sizeof(s->run) - n, "%02x", what->run[i]);
	(void)snprintf(s->run + n, sizeof(s->run) - n, "\"");
	sha256_hex(what->manifest, hex);
	(void)snprintf(
	    s->manifest, sizeof(s->manifest), "\"manifest\":\"%s\"", hex);
}

int recall_find(const struct recall *r, struct event_stored *ret,
    struct tree_path *ret_path, struct error *e)
{
	struct search s = { .recall = r, .found = ret };
	struct tree_group group = { .before = &s.tree };
	int failed;

	tree_init(&s.tree);
	name_members(&s);
	failed = read_log(&s, e);
	if (failed == 0 && !s.is_found)
		failed = FAIL(e, ERROR_STATE,
		    "no outcome of that run commits to that manifest");
	group.leaves = s.leaves;
	group.n_leaves = s.n_leaves;
	if (failed == 0)
		failed = tree_prove(&group, ret->seq, ret_path, e);
	free(s.leaves);
	return failed;
}
