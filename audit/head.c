/*
 * audit/head.c - state/head.  Linked by the signer.
 */
#include "audit/head.h"

#include <stdlib.h>
#include <string.h>

#include "audit/c1.h"
#include "audit/chain_notes.h"
#include "audit/entry.h"
#include "audit/json.h"
#include "base/own.h"

#define HEAD_NAME "head"

static void put_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_number(j, value);
}

static void put_hash(struct json *j, const char *key, const uint8_t *hash)
{
	json_key(j, key);
	json_hex(j, hash, TREE_HASH);
}

static void put_intents(struct json *j, const struct chain_state *s)
{
	json_key(j, "intents");
	json_array(j);
	for (size_t i = 0; i < s->n_open; i++) {
		json_object(j);
		put_hash(j, "leaf", s->open[i].leaf);
		json_key(j, "req");
		json_prefixed(j, "r_",
		    (struct json_bytes){ s->open[i].run, EVENT_RUN_BYTES });
		put_number(j, "seq", s->open[i].seq);
		json_end(j);
	}
	json_end(j);
}

static void put_policies(struct json *j, const struct chain_state *s)
{
	json_key(j, "policies");
	json_array(j);
	for (size_t i = 0; i < CHAIN_POLICIES; i++) {
		if (s->policies[i].name[0] == '\0')
			continue;
		json_object(j);
		json_key(j, "name");
		json_string(j, s->policies[i].name);
		put_hash(j, "sha256", s->policies[i].sha256);
		json_end(j);
	}
	json_end(j);
}

int head_format(
    const struct chain_state *s, struct text_out *out, struct error *e)
{
	uint8_t root[TREE_HASH];
	struct json j;

	tree_root(&s->tree, root);
	json_init(&j, out->data + out->len, out->cap - out->len, 0);
	json_object(&j);
	json_key(&j, "boot");
	json_hex(&j, s->boot, sizeof(s->boot));
	put_hash(&j, "builds", s->builds);
	put_number(&j, "bytes", s->bytes);
	json_key(&j, "ended");
	json_truth(&j, s->ended);
	put_number(&j, "epoch", s->epoch);
	json_key(&j, "final");
	json_truth(&j, s->final);
	put_number(&j, "first", s->epoch_first);
	json_key(&j, "frontier");
	json_array(&j);
	for (size_t i = 0; i < tree_frontier_count(s->tree.size); i++)
		json_hex(&j, s->tree.frontier[i], TREE_HASH);
	json_end(&j);
	put_intents(&j, s);
	put_number(&j, "mono", s->mono_us);
	put_hash(&j, "next", s->next);
	put_policies(&j, s);
	put_hash(&j, "prev", s->prev);
	put_hash(&j, "reckey", s->record_key);
	put_hash(&j, "root", root);
	put_number(&j, "size", s->tree.size);
	put_number(&j, "wall", s->wall_us);
	json_end(&j);
	if (json_done(&j, e) < 0)
		return -1;
	out->len += j.len;
	return text_printf(out, e, "\n");
}

static bool read_number(
    const struct c1_value *from, const char *key, uint64_t *ret)
{
	struct c1_value v = c1_member(from, key);

	return c1_number(&v, ret);
}

static bool read_hash(
    const struct c1_value *from, const char *key, uint8_t *ret)
{
	struct c1_value v = c1_member(from, key);

	return c1_hex(&v, ret, TREE_HASH);
}

static bool read_truth(const struct c1_value *from, const char *key, bool *ret)
{
	struct c1_value v = c1_member(from, key);

	*ret = v.kind == C1_TRUE;
	return v.kind == C1_TRUE || v.kind == C1_FALSE;
}

static bool read_tree(const struct c1_value *from, struct tree *ret)
{
	struct c1_value list = c1_member(from, "frontier");
	uint8_t hashes[TREE_LEVELS][TREE_HASH];
	uint8_t root[TREE_HASH], said[TREE_HASH];
	struct c1_member m;
	struct c1_walk w;
	struct error ignored;
	uint64_t size;
	size_t n = 0;

	c1_walk(&list, &w);
	while (c1_next(&w, &m))
		if (n == TREE_LEVELS ||
		    !c1_hex(&m.value, hashes[n++], TREE_HASH))
			return false;
	if (!read_number(from, "size", &size) ||
	    !read_hash(from, "root", said) ||
	    tree_restore(ret, size, hashes[0], n, &ignored) < 0)
		return false;
	tree_root(ret, root);
	return memcmp(root, said, sizeof(root)) == 0;
}

static bool read_intents(const struct c1_value *from, struct chain_state *s)
{
	struct c1_value list = c1_member(from, "intents");
	struct c1_member m;
	struct c1_walk w;

	c1_walk(&list, &w);
	while (c1_next(&w, &m)) {
		struct c1_value req = c1_member(&m.value, "req");
		struct chain_intent *in = &s->open[s->n_open];

		if (s->n_open++ == CHAIN_OPEN_MAX ||
		    !entry_run_id(&req, in->run) ||
		    !read_hash(&m.value, "leaf", in->leaf) ||
		    !read_number(&m.value, "seq", &in->seq) ||
		    in->seq >= s->tree.size)
			return false;
	}
	return list.kind == C1_ARRAY;
}

/*
 * What only saves a needless record or adds one: an older head does not have
 * it, and then nothing is known.
 */
static void read_config(const struct c1_value *from, struct chain_state *s)
{
	struct c1_value list = c1_member(from, "policies");
	struct c1_value boot = c1_member(from, "boot");
	struct c1_member m;
	struct c1_walk w;

	(void)c1_hex(&boot, s->boot, sizeof(s->boot));
	(void)read_hash(from, "builds", s->builds);
	(void)read_number(from, "mono", &s->mono_us);
	(void)read_number(from, "wall", &s->wall_us);
	c1_walk(&list, &w);
	while (c1_next(&w, &m)) {
		struct c1_value name = c1_member(&m.value, "name");
		char text[EVENT_WORD_MAX];
		uint8_t sha256[TREE_HASH];

		if (name.kind != C1_STRING || name.len >= sizeof(text) ||
		    !read_hash(&m.value, "sha256", sha256))
			continue;
		memcpy(text, name.at, name.len);
		text[name.len] = '\0';
		chain_keep_policy(s, text, sha256);
	}
}

int head_parse(
    const char *text, size_t len, struct chain_state *ret, struct error *e)
{
	struct c1_value v;

	memset(ret, 0, sizeof(*ret));
	if (len == 0 || text[len - 1] != '\n')
		return FAIL(e, ERROR_MALFORMED, "state/head is cut off");
	if (c1_check(text, len - 1, &v, e) < 0)
		return FAIL_IN(e, "state/head");
	if (!read_tree(&v, &ret->tree) || !read_intents(&v, ret) ||
	    !read_number(&v, "bytes", &ret->bytes) ||
	    !read_number(&v, "epoch", &ret->epoch) ||
	    !read_number(&v, "first", &ret->epoch_first) ||
	    !read_hash(&v, "next", ret->next) ||
	    !read_hash(&v, "prev", ret->prev) ||
	    !read_hash(&v, "reckey", ret->record_key) ||
	    !read_truth(&v, "ended", &ret->ended) ||
	    !read_truth(&v, "final", &ret->final))
		return FAIL(e, ERROR_MALFORMED, "state/head is damaged");
	read_config(&v, ret);
	return 0;
}

int head_write(int state_fd, const struct chain_state *s, enum store_sync sync,
    struct error *e)
{
	const struct store_file file = { state_fd, HEAD_NAME };
	AUTO_FREE char *text = malloc(HEAD_MAX);
	struct text_out out = { text, HEAD_MAX, 0 };

	if (text == NULL)
		return FAIL_SYS(e, "allocate");
	if (head_format(s, &out, e) < 0)
		return FAIL_IN(e, "state/head");
	return store_replace(
	    &file, (struct store_bytes){ text, out.len }, sync, e);
}

int head_read(int state_fd, struct chain_state *ret, struct error *e)
{
	const struct store_file file = { state_fd, HEAD_NAME };
	AUTO_FREE char *text = malloc(HEAD_MAX);
	size_t len;

	if (text == NULL)
		return FAIL_SYS(e, "allocate");
	if (store_read(&file, text, HEAD_MAX, &len, e) < 0)
		return -1;
	return head_parse(text, len, ret, e);
}
