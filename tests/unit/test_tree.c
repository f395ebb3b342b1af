/*
 * tests/unit/test_tree.c - the Merkle tree against the golden vectors, against
 * the definition of RFC 6962 for every small size, and against lying proofs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "audit/tree.h"
#include "base/sha256.h"

#define VECTORS TEST_SOURCE_DIR "/tests/audit/vectors/"
#define SMALL   70

struct fixture {
	json_t *vectors;
	uint8_t leaves[SMALL][TREE_HASH];
};

static void unhex(const json_t *text, uint8_t ret[TREE_HASH])
{
	const char *from = json_string_value(text);
	unsigned byte;

	assert_non_null(from);
	for (size_t i = 0; i < TREE_HASH; i++) {
		assert_int_equal(sscanf(from + 2 * i, "%2x", &byte), 1);
		ret[i] = (uint8_t)byte;
	}
}

static int set_up(void **state)
{
	static struct fixture f;
	json_error_t why;

	f.vectors = json_load_file(VECTORS "vectors.json", 0, &why);
	for (uint8_t i = 0; i < SMALL; i++)
		tree_leaf(&i, 1, f.leaves[i]);
	*state = &f;
	return f.vectors == NULL;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	json_decref(f->vectors);
	return 0;
}

/* RFC 6962, 2.1: the definition, as it stands. */
static void defined_root(
    const uint8_t (*leaves)[TREE_HASH], size_t n, uint8_t ret[TREE_HASH])
{
	uint8_t left[TREE_HASH], right[TREE_HASH];
	size_t k = 1;

	if (n == 0) {
		sha256_of("", 0, ret);
		return;
	}
	if (n == 1) {
		memcpy(ret, leaves[0], TREE_HASH);
		return;
	}
	while (k * 2 < n)
		k *= 2;
	defined_root(leaves, k, left);
	defined_root(leaves + k, n - k, right);
	tree_node(left, right, ret);
}

/* RFC 6962, 2.1.2. */
static void defined_consistency(const uint8_t (*leaves)[TREE_HASH], size_t m,
    size_t n, int whole, struct tree_path *ret)
{
	size_t k = 1;

	if (m == n) {
		if (!whole)
			defined_root(leaves, n, ret->hashes[ret->n_hashes++]);
		return;
	}
	while (k * 2 < n)
		k *= 2;
	if (m <= k) {
		defined_consistency(leaves, m, k, whole, ret);
		defined_root(leaves + k, n - k, ret->hashes[ret->n_hashes++]);
	} else {
		defined_consistency(leaves + k, m - k, n - k, 0, ret);
		defined_root(leaves, k, ret->hashes[ret->n_hashes++]);
	}
}

static const uint8_t (*leaves_of(const struct fixture *f))[TREE_HASH]
{
	return (const uint8_t(*)[TREE_HASH])f->leaves;
}

static void golden_leaves_and_roots_come_out(void **state)
{
	struct fixture *f = *state;
	json_t *leaves = json_object_get(f->vectors, "leaf");
	json_t *roots = json_object_get(f->vectors, "root");
	FILE *log = fopen(VECTORS "log.jsonl", "r");
	char line[4096], name[16];
	uint8_t want[TREE_HASH], got[TREE_HASH];
	struct tree t;

	assert_non_null(log);
	tree_init(&t);
	for (size_t i = 0; i <= json_array_size(leaves); i++) {
		(void)snprintf(name, sizeof(name), "%zu", i);
		unhex(json_object_get(roots, name), want);
		tree_root(&t, got);
		assert_memory_equal(got, want, TREE_HASH);
		if (fgets(line, sizeof(line), log) == NULL)
			break;
		tree_leaf(line, strlen(line) - 1, got);
		unhex(json_array_get(leaves, i), want);
		assert_memory_equal(got, want, TREE_HASH);
		tree_add(&t, got);
	}
	assert_int_equal(t.size, json_array_size(leaves));
	assert_int_equal(fclose(log), 0);
}

static void golden_head_restores(void **state)
{
	struct fixture *f = *state;
	json_t *head = json_object_get(f->vectors, "head");
	json_t *frontier = json_object_get(head, "frontier");
	uint8_t hashes[TREE_LEVELS][TREE_HASH];
	uint8_t want[TREE_HASH], got[TREE_HASH];
	uint64_t size =
	    (uint64_t)json_integer_value(json_object_get(head, "size"));
	struct tree t;
	struct error e;

	for (size_t i = 0; i < json_array_size(frontier); i++)
		unhex(json_array_get(frontier, i), hashes[i]);
	assert_int_equal(
	    tree_restore(&t, size, hashes[0], json_array_size(frontier), &e),
	    0);
	unhex(json_object_get(head, "root"), want);
	tree_root(&t, got);
	assert_memory_equal(got, want, TREE_HASH);
	assert_int_equal(tree_restore(&t, size + 1, hashes[0],
	                     json_array_size(frontier), &e),
	    -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
}

/* "m/n": [hashes] */
static void read_proof(const char *name, json_t *hashes, uint64_t *ret_m,
    uint64_t *ret_n, struct tree_path *ret)
{
	unsigned long m, n;

	assert_int_equal(sscanf(name, "%lu/%lu", &m, &n), 2);
	*ret_m = m;
	*ret_n = n;
	ret->n_hashes = json_array_size(hashes);
	for (size_t i = 0; i < ret->n_hashes; i++)
		unhex(json_array_get(hashes, i), ret->hashes[i]);
}

static void golden_proofs_hold_and_altered_ones_do_not(void **state)
{
	struct fixture *f = *state;
	json_t *roots = json_object_get(f->vectors, "root");
	json_t *leaves = json_object_get(f->vectors, "leaf");
	json_t *proof;
	const char *name;
	struct tree_path path;
	uint64_t m, n;
	char text[16];

	json_object_foreach(
	    json_object_get(f->vectors, "inclusion"), name, proof)
	{
		struct tree_head head;
		uint8_t leaf[TREE_HASH];

		read_proof(name, proof, &m, &n, &path);
		(void)snprintf(text, sizeof(text), "%lu", (unsigned long)n);
		unhex(json_object_get(roots, text), head.root);
		unhex(json_array_get(leaves, m), leaf);
		head.size = n;
		assert_true(tree_includes(&head, m, leaf, &path));
		assert_false(tree_includes(&head, m ^ 1, leaf, &path));
		path.hashes[path.n_hashes - 1][0] ^= 1;
		assert_false(tree_includes(&head, m, leaf, &path));
	}
	json_object_foreach(
	    json_object_get(f->vectors, "consistency"), name, proof)
	{
		struct tree_head old, new;

		read_proof(name, proof, &old.size, &new.size, &path);
		(void)snprintf(
		    text, sizeof(text), "%lu", (unsigned long)old.size);
		unhex(json_object_get(roots, text), old.root);
		(void)snprintf(
		    text, sizeof(text), "%lu", (unsigned long)new.size);
		unhex(json_object_get(roots, text), new.root);
		assert_true(tree_extends(&old, &new, &path));
		path.hashes[0][5] ^= 1;
		assert_false(tree_extends(&old, &new, &path));
	}
}

static void every_small_tree_follows_the_definition(void **state)
{
	struct fixture *f = *state;
	uint8_t want[TREE_HASH], got[TREE_HASH];
	struct tree t;

	tree_init(&t);
	for (size_t n = 0; n < SMALL; n++) {
		defined_root(leaves_of(f), n, want);
		tree_root(&t, got);
		assert_memory_equal(got, want, TREE_HASH);
		tree_add(&t, f->leaves[n]);
	}
}

/* All groups of all small trees: each record of a group is proven. */
static void any_record_of_a_group_is_proven_from_the_frontier(void **state)
{
	struct fixture *f = *state;
	struct tree before;
	struct error e;

	tree_init(&before);
	for (size_t old = 0; old < SMALL; old++) {
		for (size_t k = 1; old + k <= SMALL; k++) {
			struct tree_group group = { &before, f->leaves[old],
				k };
			struct tree_head head = { old + k, { 0 } };
			struct tree_path path;

			defined_root(leaves_of(f), old + k, head.root);
			for (size_t i = old; i < old + k; i++) {
				assert_int_equal(
				    tree_prove(&group, i, &path, &e), 0);
				assert_true(tree_includes(
				    &head, i, f->leaves[i], &path));
			}
			assert_int_equal(
			    tree_prove(&group, old + k, &path, &e), -1);
			assert_int_equal(e.kind, ERROR_STATE);
		}
		tree_add(&before, f->leaves[old]);
	}
}

static void consistency_holds_for_every_pair_of_small_trees(void **state)
{
	struct fixture *f = *state;

	for (size_t n = 1; n < SMALL; n++) {
		for (size_t m = 1; m < n; m++) {
			struct tree_head old = { m, { 0 } };
			struct tree_head new = { n, { 0 } };
			struct tree_path path = { .n_hashes = 0 };

			defined_root(leaves_of(f), m, old.root);
			defined_root(leaves_of(f), n, new.root);
			defined_consistency(leaves_of(f), m, n, 1, &path);
			assert_true(tree_extends(&old, &new, &path));
			path.n_hashes++;
			assert_false(tree_extends(&old, &new, &path));
			path.n_hashes -= 2;
			assert_false(tree_extends(&old, &new, &path));
		}
	}
}

static void malformed_proofs_are_refused(void **state)
{
	struct fixture *f = *state;
	struct tree_head empty = { 0, { 0 } };
	struct tree_head one = { 1, { 0 } };
	struct tree_head two = { 2, { 0 } };
	struct tree_path path;

	memset(&path, 0, sizeof(path));
	memcpy(one.root, f->leaves[0], TREE_HASH);
	tree_node(f->leaves[0], f->leaves[1], two.root);
	assert_true(tree_includes(&one, 0, f->leaves[0], &path));
	assert_false(tree_includes(&one, 1, f->leaves[0], &path));
	assert_false(tree_includes(&one, UINT64_MAX, f->leaves[0], &path));
	assert_false(tree_includes(&empty, 0, f->leaves[0], &path));
	assert_false(tree_extends(&one, &two, &path));
	path.n_hashes = 1;
	memcpy(path.hashes[0], f->leaves[1], TREE_HASH);
	assert_true(tree_extends(&one, &two, &path));
	assert_false(tree_extends(&empty, &two, &path));
	assert_false(tree_extends(&two, &two, &path));
	assert_false(tree_extends(&two, &one, &path));
	path.n_hashes = TREE_PROOF_MAX + 1;
	assert_false(tree_includes(&two, 0, f->leaves[0], &path));
	assert_false(tree_extends(&one, &two, &path));
	/* The largest size there is walks 64 levels and stops. */
	path.n_hashes = TREE_PROOF_MAX;
	two.size = UINT64_MAX;
	assert_false(tree_includes(&two, 5, f->leaves[0], &path));
	assert_false(tree_extends(&one, &two, &path));
}

/* Bitcoin's CVE-2012-2459: doubling the last leaf must change the root. */
static void an_odd_leaf_is_never_doubled(void **state)
{
	struct fixture *f = *state;
	uint8_t three[TREE_HASH], four[TREE_HASH];
	struct tree t;

	tree_init(&t);
	for (size_t i = 0; i < 3; i++)
		tree_add(&t, f->leaves[i]);
	tree_root(&t, three);
	tree_add(&t, f->leaves[2]);
	tree_root(&t, four);
	assert_memory_not_equal(three, four, TREE_HASH);
}

static void a_leaf_that_looks_like_a_node_is_another_hash(void **state)
{
	struct fixture *f = *state;
	uint8_t node[1 + 2 * TREE_HASH] = { 0x01 };
	uint8_t as_leaf[TREE_HASH], as_node[TREE_HASH];

	memcpy(node + 1, f->leaves[0], TREE_HASH);
	memcpy(node + 1 + TREE_HASH, f->leaves[1], TREE_HASH);
	tree_leaf(node + 1, 2 * TREE_HASH, as_leaf);
	tree_node(f->leaves[0], f->leaves[1], as_node);
	assert_memory_not_equal(as_leaf, as_node, TREE_HASH);
	tree_leaf(node, sizeof(node), as_leaf);
	assert_memory_not_equal(as_leaf, as_node, TREE_HASH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_leaves_and_roots_come_out),
		cmocka_unit_test(golden_head_restores),
		cmocka_unit_test(golden_proofs_hold_and_altered_ones_do_not),
		cmocka_unit_test(every_small_tree_follows_the_definition),
		cmocka_unit_test(
		    any_record_of_a_group_is_proven_from_the_frontier),
		cmocka_unit_test(
		    consistency_holds_for_every_pair_of_small_trees),
		cmocka_unit_test(malformed_proofs_are_refused),
		cmocka_unit_test(an_odd_leaf_is_never_doubled),
		cmocka_unit_test(a_leaf_that_looks_like_a_node_is_another_hash),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
