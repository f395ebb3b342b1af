/*
 * policy/screening.c - what code rules find in a program text.  Linked by
 * bailiff-screen and bailiff-policy.  The text is hostile: every step is linear
 * in its length and writes only into room made before.
 */
#include "policy/screening.h"

#include <stdlib.h>
#include <string.h>

#include "policy/screening_state.h"

struct screening_room {
	size_t cap;
	hs_scratch_t *scratch; /* owned */
	uint8_t *text;         /* owned; as all below 'cap' and the padding */
	uint8_t *folded;       /* the text, some letters replaced */
	uint8_t *classes;
	uint8_t *view;
};

/* What one view's scan found; the context of the call-back. */
struct found {
	uint64_t seen; /* bit of a rule */
	struct {
		uint32_t rule;
		uint64_t end; /* in the view; behind the match */
	} items[POLICY_RULES_MAX];
	size_t n;
};

int screening_room(struct screening *const *of, size_t n, size_t cap,
    struct screening_room **ret, struct error *e)
{
	struct screening_room *room = calloc(1, sizeof(*room));
	int failed = 0;

	if (room == NULL)
		return FAIL_SYS(e, "allocate room to screen code");
	room->cap = cap;
	room->text = calloc(1, cap + LEXER_PAD);
	room->folded = calloc(1, cap + LEXER_PAD);
	room->classes = calloc(1, cap + LEXER_PAD);
	room->view = calloc(1, cap + LEXER_PAD);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; of[i] != NULL && j < of[i]->n; j++)
			failed |= hs_alloc_scratch(of[i]->views[j].database,
			              &room->scratch) != HS_SUCCESS;
	if (failed != 0 || room->text == NULL || room->folded == NULL ||
	    room->classes == NULL || room->view == NULL) {
		screening_room_free(room);
		return FAIL(e, ERROR_LIMIT, "no memory to screen code");
	}
	*ret = room;
	return 0;
}

void screening_room_free(struct screening_room *room)
{
	if (room == NULL)
		return;
	(void)hs_free_scratch(room->scratch);
	free(room->text);
	free(room->folded);
	free(room->classes);
	free(room->view);
	free(room);
}

uint8_t *screening_text(struct screening_room *room)
{
	return room->text;
}

static int on_match(unsigned rule, unsigned long long from,
    unsigned long long to, unsigned flags, void *context)
{
	struct found *f = context;

	(void)from;
	(void)flags;
	if (rule >= POLICY_RULES_MAX || (f->seen >> rule & 1) != 0)
		return 0;
	f->seen |= UINT64_C(1) << rule;
	f->items[f->n].rule = rule;
	f->items[f->n].end = to;
	f->n++;
	return 0;
}

static void add_hit(struct screening_hits *hits, uint32_t rule, uint64_t at)
{
	size_t i = 0;

	while (i < hits->n && hits->items[i].rule != rule)
		i++;
	if (i == POLICY_RULES_MAX)
		return; /* each rule once, so there is room for all */
	if (i == hits->n)
		hits->items[hits->n++] =
		    (struct screening_hit){ .rule = rule, .at = at };
	else if (at < hits->items[i].at)
		hits->items[i].at = at;
}

static int scan(const struct screening_view *view, const uint8_t *text,
    size_t n, struct screening_room *room, struct found *ret)
{
	ret->seen = 0;
	ret->n = 0;
	return hs_scan(view->database, (const char *)text, (unsigned)n, 0,
	           room->scratch, on_match, ret) == HS_SUCCESS
	           ? 0
	           : -1;
}

/* One reading of the text. */
struct reading {
	const uint8_t *text; /* what was marked */
	size_t n;
	const uint8_t *original; /* what it was made of, if it was */
	size_t n_original;
};

/* The byte of the request's text that byte 'at' of a view comes from. */
static uint64_t origin(
    const struct reading *r, const uint8_t *classes, bool dropped, uint64_t at)
{
	size_t from = (size_t)at;

	if (dropped)
		from = lexer_viewed_from(classes, r->n, from);
	if (r->original != NULL)
		from = lexer_unescaped_from(r->original, r->n_original, from);
	return from;
}

static int scan_views(const struct screening *s, struct screening_room *room,
    const struct reading *r, struct screening_hits *hits)
{
	bool dropped = memchr(room->classes, LEXER_DROP, r->n) != NULL;
	struct found found;
	size_t len = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct screening_view *view = &s->views[i];

		if (view->seen == SCREENING_ANY)
			continue;
		if (i == 0 || view->seen != s->views[i - 1].seen)
			len = lexer_view(r->text, r->n, room->classes,
			    view->seen, room->view);
		if (scan(view, room->view, len, room, &found) < 0)
			return -1;
		for (size_t j = 0; j < found.n; j++) {
			uint64_t end = found.items[j].end;

			add_hit(hits, found.items[j].rule,
			    origin(r, room->classes, dropped,
			        end > 0 ? end - 1 : 0));
		}
	}
	return 0;
}

/* Rules that look anywhere see the text as it came. */
static int scan_any(const struct screening *s, struct screening_room *room,
    size_t n, struct screening_hits *hits)
{
	struct found found;

	for (size_t i = 0; i < s->n; i++) {
		if (s->views[i].seen != SCREENING_ANY)
			continue;
		if (scan(&s->views[i], room->text, n, room, &found) < 0)
			return -1;
		for (size_t j = 0; j < found.n; j++)
			add_hit(hits, found.items[j].rule,
			    found.items[j].end > 0 ? found.items[j].end - 1
			                           : 0);
	}
	return 0;
}

static int scan_ways(const struct screening *s, struct screening_room *room,
    size_t n, struct screening_hits *hits)
{
	struct reading r = { .text = room->text, .n = n };
	size_t unescaped =
	    lexer_unescape(s->lexer, room->text, n, room->folded);
	unsigned ways;

	if (unescaped > 0)
		r = (struct reading){ room->folded, unescaped, room->text, n };
	ways = lexer_ways(s->lexer, r.text, r.n);
	for (unsigned way = 0; way < ways; way++) {
		lexer_mark(s->lexer, way, r.text, r.n, room->classes);
		if (lexer_folds(s->lexer, r.text, r.n)) {
			memcpy(room->folded, room->text, n);
			lexer_fold(s->lexer, room->folded, n, room->classes);
			r.text = room->folded;
		}
		if (scan_views(s, room, &r, hits) < 0)
			return -1;
		if (r.original == NULL)
			r.text = room->text;
	}
	return 0;
}

static int compare_hits(const void *a, const void *b)
{
	const struct screening_hit *hit_a = a;
	const struct screening_hit *hit_b = b;

	if (hit_a->at != hit_b->at)
		return hit_a->at < hit_b->at ? -1 : 1;
	return hit_a->rule < hit_b->rule ? -1 : 1;
}

static void count_lines(const uint8_t *text, struct screening_hits *hits)
{
	const uint8_t *at = text;
	uint64_t line = 1;

	qsort(hits->items, hits->n, sizeof(hits->items[0]), compare_hits);
	for (size_t i = 0; i < hits->n; i++) {
		const uint8_t *hit = text + hits->items[i].at;

		while (at < hit &&
		       (at = memchr(at, '\n', (size_t)(hit - at))) != NULL) {
			line++;
			at++;
		}
		at = hit;
		hits->items[i].line = line;
	}
}

int screening_scan(const struct screening *s, struct screening_room *room,
    size_t n, struct screening_hits *ret, struct error *e)
{
	ret->n = 0;
	ret->encoded = false;
	if (n > room->cap)
		return FAIL(e, ERROR_LIMIT, "%zu bytes of code, at most %zu", n,
		    room->cap);
	memset(room->text + n, 0, LEXER_PAD);
	if (scan_any(s, room, n, ret) < 0 ||
	    (s->lexer != NULL && scan_ways(s, room, n, ret) < 0))
		return FAIL(e, ERROR_STATE, "vectorscan cannot scan");
	if (s->lexer != NULL)
		ret->encoded = lexer_is_encoded(s->lexer, room->text, n);
	count_lines(room->text, ret);
	return 0;
}
