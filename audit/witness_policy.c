/*
 * audit/witness_policy.c - reads a tlog-policy and judges cosignatures by it.
 * Linked by the audit reader; the policy is the verifier's own, the note is
 * hostile.
 */
#include "audit/witness_policy.h"

#include <string.h>

#include "base/number.h"

#define WORDS_MAX (WITNESS_PARTS_MAX + 3)

struct words {
	size_t n;
	const char *at[WORDS_MAX];
	size_t len[WORDS_MAX];
};

static bool split_line(const char *line, size_t len, struct words *ret)
{
	size_t i = 0;

	ret->n = 0;
	for (;;) {
		while (i < len && (line[i] == ' ' || line[i] == '\t'))
			i++;
		if (i == len)
			return true;
		if (ret->n == WORDS_MAX)
			return false;
		ret->at[ret->n] = line + i;
		while (i < len && line[i] != ' ' && line[i] != '\t')
			i++;
		ret->len[ret->n] = (size_t)(line + i - ret->at[ret->n]);
		ret->n++;
	}
}

static bool word_is(const struct words *w, size_t i, const char *text)
{
	return i < w->n && w->len[i] == strlen(text) &&
	       memcmp(w->at[i], text, w->len[i]) == 0;
}

/* The index of the part with that name, n_parts if there is none. */
static size_t find_part(
    const struct witness_policy *p, const struct words *w, size_t i)
{
	size_t at = 0;

	while (at < p->n_parts && !word_is(w, i, p->parts[at].name))
		at++;
	return at;
}

static int add_part(struct witness_policy *p, const struct words *w,
    struct witness_part **ret, struct error *e)
{
	struct witness_part *part = &p->parts[p->n_parts];

	if (w->n < 3 || w->len[1] >= WITNESS_NAME_MAX)
		return FAIL(e, ERROR_MALFORMED,
		    "a name and what it means are "
		    "missing, or the name is long");
	if (word_is(w, 1, "none") || find_part(p, w, 1) < p->n_parts)
		return FAIL(e, ERROR_MALFORMED, "the name is taken");
	if (p->n_parts == WITNESS_PARTS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d witnesses and groups",
		    WITNESS_PARTS_MAX);
	memset(part, 0, sizeof(*part));
	memcpy(part->name, w->at[1], w->len[1]);
	*ret = part;
	return 0;
}

static int read_witness(
    struct witness_policy *p, const struct words *w, struct error *e)
{
	struct witness_part *part;

	if (add_part(p, w, &part, e) < 0 ||
	    note_key_parse(w->at[2], w->len[2], &part->key, e) < 0)
		return -1;
	if (part->key.type != NOTE_WITNESS)
		return FAIL(e, ERROR_MALFORMED, "the key is not a witness's");
	for (size_t i = 0; i < p->n_parts; i++)
		if (memcmp(p->parts[i].key.public_key, part->key.public_key,
		        ED25519_PUBLIC) == 0)
			return FAIL(e, ERROR_MALFORMED,
			    "the key of %s again: a witness counts once",
			    p->parts[i].name);
	p->n_parts++;
	return 0;
}

static int read_threshold(
    const struct words *w, size_t n_members, size_t *ret, struct error *e)
{
	char text[32] = "";
	uint64_t n;

	if (word_is(w, 2, "any")) {
		*ret = 1;
		return 0;
	}
	if (word_is(w, 2, "all")) {
		*ret = n_members;
		return 0;
	}
	if (w->len[2] < sizeof(text))
		memcpy(text, w->at[2], w->len[2]);
	if (number_parse(text, "threshold",
	        (struct number_range){ 1, n_members }, &n, e) < 0)
		return -1;
	*ret = (size_t)n;
	return 0;
}

static int read_group(
    struct witness_policy *p, const struct words *w, struct error *e)
{
	struct witness_part *part;

	if (w->n < 4)
		return FAIL(e, ERROR_MALFORMED, "a group without members");
	if (add_part(p, w, &part, e) < 0 ||
	    read_threshold(w, w->n - 3, &part->threshold, e) < 0)
		return -1;
	part->group = true;
	for (size_t i = 3; i < w->n; i++) {
		size_t at = find_part(p, w, i);

		if (at == p->n_parts ||
		    (part->members & (uint64_t)1 << at) != 0)
			return FAIL(e, ERROR_MALFORMED,
			    "member %zu is not named above, or twice", i - 2);
		part->members |= (uint64_t)1 << at;
	}
	p->n_parts++;
	return 0;
}

static int read_quorum(struct witness_policy *p, const struct words *w,
    bool *ret_seen, struct error *e)
{
	if (w->n != 2 || *ret_seen)
		return FAIL(e, ERROR_MALFORMED, "one quorum with one name");
	p->none = word_is(w, 1, "none");
	p->quorum = find_part(p, w, 1);
	if (!p->none && p->quorum == p->n_parts)
		return FAIL(
		    e, ERROR_MALFORMED, "the quorum is not named above");
	*ret_seen = true;
	return 0;
}

int witness_policy_read(
    const char *text, size_t len, struct witness_policy *ret, struct error *e)
{
	const char *end = text + len;
	bool quorum = false;

	memset(ret, 0, sizeof(*ret));
	for (size_t line = 1; text < end; line++) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((lf != NULL ? lf : end) - text);
		struct words w;
		int done = 0;

		if (!split_line(text, n, &w))
			return FAIL(e, ERROR_MALFORMED,
			    "line %zu: too many words", line);
		if (word_is(&w, 0, "witness"))
			done = read_witness(ret, &w, e);
		else if (word_is(&w, 0, "group"))
			done = read_group(ret, &w, e);
		else if (word_is(&w, 0, "quorum"))
			done = read_quorum(ret, &w, &quorum, e);
		else if (w.n > 0 && w.at[0][0] != '#' && !word_is(&w, 0, "log"))
			done = FAIL(e, ERROR_MALFORMED,
			    "not log, witness, group or quorum");
		if (done < 0)
			return FAIL_IN(e, "line %zu", line);
		text += n + (lf != NULL);
	}
	if (!quorum)
		return FAIL(e, ERROR_MALFORMED, "no quorum line");
	return 0;
}

bool witness_policy_holds(
    const struct witness_policy *p, const void *note, size_t len)
{
	uint64_t good = 0;

	/* Members stand above their group, so one pass settles all. */
	for (size_t i = 0; i < p->n_parts; i++) {
		const struct witness_part *part = &p->parts[i];
		struct error ignored; /* a bad cosignature counts as none */
		uint64_t when;
		bool holds = part->group
		                 ? (size_t)__builtin_popcountll(
		                       part->members & good) >= part->threshold
		                 : note_cosigned(note, len, &part->key, &when,
		                       &ignored) == 0;

		good |= (uint64_t)holds << i;
	}
	return !p->none && (good & (uint64_t)1 << p->quorum) != 0;
}
