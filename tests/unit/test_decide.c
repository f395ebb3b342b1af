/*
 * tests/unit/test_decide.c - decisions: each rule, and 100000 generated paths
 * against a slow model that shares no code with the product.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdbool.h>

#include "tests/unit/policy_texts.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define WITH_ROOTS                                                             \
	TEXTS_POLICY(                                                          \
	    ",\"paths\":{\"read\":[\"/srv/data\",\"/srv/data/deep\",\"/x\"]}," \
	    "\"limits\":{\"code\":{\"default\":100,\"max\":200},"              \
	    "\"stdin\":{\"default\":10},\"args\":{\"default\":10},"            \
	    "\"inputs\":{\"default\":3}}")

#define TEXTS_DENYING                                               \
	"{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{" \
	"\"modules\":{\"deny\":[\"xml.etree\",\"ctypes\"]}}}}"

struct fixture {
	struct texts_result *parsed;
	struct policy_request request;
	struct policy_decision decision;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return -1;
	f->parsed = texts_parse(WITH_ROOTS, strlen(WITH_ROOTS));
	f->request.language = "python";
	f->request.code_size = 10;
	*state = f;
	return f->parsed->policy != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	texts_free(f->parsed);
	free(f);
	return 0;
}

static void decide(struct fixture *f)
{
	policy_decide(f->parsed->policy, &f->request, &f->decision);
	assert_int_equal(f->decision.allow, f->decision.reasons.n == 0);
}

static void expect_denied(struct fixture *f, const char *reason)
{
	decide(f);
	assert_false(f->decision.allow);
	assert_int_equal(f->decision.reasons.n, 1);
	assert_string_equal(f->decision.reasons.items[0], reason);
}

static void ask_path(struct fixture *f, const char *host, const char *name)
{
	f->request.inputs[0] =
	    (struct policy_input){ .host = host, .name = name };
	f->request.n_inputs = 1;
	f->request.n_inputs_asked = 1;
}

static void a_plain_request_is_allowed_with_its_rule(void **state)
{
	struct fixture *f = *state;

	decide(f);
	assert_true(f->decision.allow);
	assert_int_equal(f->decision.rules.n, 1);
	assert_string_equal(f->decision.rules.items[0], "language.python");
	assert_non_null(f->decision.language);
	assert_int_equal(f->decision.limits[LIMIT_WALL_MS], 30000);
	f->request.language = "py";
	decide(f);
	assert_true(f->decision.allow);
	assert_string_equal(f->decision.rules.items[0], "language.python");
}

static void other_languages_are_denied(void **state)
{
	static const char *const others[] = { "bash", "", "Python", "python ",
		"py\n", "pythonx", "../python" };
	struct fixture *f = *state;

	for (size_t i = 0; i < N(others); i++) {
		f->request.language = others[i];
		expect_denied(f, "language.not_allowed");
		assert_int_equal(f->decision.rules.n, 0);
		assert_null(f->decision.language);
	}
}

static void limits_are_denied_not_clamped(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < LIMIT_N; i++) {
		const struct limit *l =
		    &f->parsed->policy->languages[0].limits[i];
		char reason[POLICY_WORD_MAX];

		f->request.asks[i] = true;
		f->request.limits[i] = l->max;
		decide(f);
		assert_int_equal(f->decision.limits[i], l->max);
		(void)snprintf(reason, sizeof(reason), "limit.%s.above_max",
		    limit_table[i].rule);
		f->request.limits[i] = l->max + 1;
		expect_denied(f, reason);
		f->request.limits[i] = LIMIT_UNLIMITED;
		expect_denied(f, reason);
		f->request.asks[i] = false;
	}
	f->request.asks[LIMIT_WALL_MS] = true;
	f->request.limits[LIMIT_WALL_MS] = 0;
	expect_denied(f, "limit.wall.below_min");
}

static void sizes_are_judged(void **state)
{
	struct fixture *f = *state;

	f->request.code_size = 0;
	expect_denied(f, "code.empty");
	f->request.code_size = 100;
	decide(f);
	assert_true(f->decision.allow);
	f->request.code_size = 101;
	expect_denied(f, "code.too_large");
	f->request.asks[LIMIT_CODE] = true;
	f->request.limits[LIMIT_CODE] = 150;
	decide(f);
	assert_true(f->decision.allow);
	f->request.stdin_size = 11;
	expect_denied(f, "stdin.too_large");
	f->request.stdin_size = 10;
	f->request.args_size = UINT64_MAX;
	expect_denied(f, "args.too_large");
	f->request.args_size = 0;
	f->request.n_inputs_asked = 4;
	expect_denied(f, "inputs.too_many");
	/* More than was handed over would go unjudged. */
	f->request.n_inputs_asked = 1;
	expect_denied(f, "inputs.too_many");
	f->request.n_inputs_asked = SIZE_MAX;
	expect_denied(f, "inputs.too_many");
}

static void paths_are_judged(void **state)
{
	static const struct {
		const char *path, *reason, *beneath;
		size_t root;
	} paths[] = {
		{ "/srv/data/a", NULL, "a", 0 },
		{ "/srv/data/a/b.csv", NULL, "a/b.csv", 0 },
		{ "/srv/data/%2e%2e/a", NULL, "%2e%2e/a", 0 },
		{ "/srv/data/...", NULL, "...", 0 },
		{ "/srv/data/.hidden", NULL, ".hidden", 0 },
		{ "/srv/data/deep/a", NULL, "a", 1 },
		{ "/srv/data/deeper", NULL, "deeper", 0 },
		{ "/x/a b", NULL, "a b", 2 },
		{ "/srv/data", "path.outside_root", NULL, 0 },
		{ "/srv/data2/x", "path.outside_root", NULL, 0 },
		{ "/srv/dat", "path.outside_root", NULL, 0 },
		{ "/srv", "path.outside_root", NULL, 0 },
		{ "/etc/passwd", "path.outside_root", NULL, 0 },
		{ "/SRV/data/a", "path.outside_root", NULL, 0 },
		{ "/srv/data/../../etc/passwd", "path.traversal", NULL, 0 },
		{ "/srv/data/..", "path.traversal", NULL, 0 },
		{ "/..", "path.traversal", NULL, 0 },
		{ "", "path.not_absolute", NULL, 0 },
		{ "a", "path.not_absolute", NULL, 0 },
		{ "~/a", "path.not_absolute", NULL, 0 },
		{ "srv/data/a", "path.not_absolute", NULL, 0 },
		{ "/", "path.component", NULL, 0 },
		{ "//srv/data/a", "path.component", NULL, 0 },
		{ "/srv//data/a", "path.component", NULL, 0 },
		{ "/srv/data/./a", "path.component", NULL, 0 },
		{ "/srv/data/a/", "path.component", NULL, 0 },
		{ "/srv/data/.", "path.component", NULL, 0 },
		{ "/srv/data/a\nb", "path.component", NULL, 0 },
		{ "/srv/data/a\x1b[2J", "path.component", NULL, 0 },
		{ "/srv/data/a\x7f", "path.component", NULL, 0 },
		{ "/srv/data/\xff", "path.component", NULL, 0 },
		{ "/srv/data/\xc0\xae\xc0\xae/a", "path.component", NULL, 0 },
		{ "/srv/data/\xe2\x80\xae_", "path.component", NULL, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N(paths); i++) {
		ask_path(f, paths[i].path, "n");
		if (paths[i].reason != NULL) {
			expect_denied(f, paths[i].reason);
			continue;
		}
		decide(f);
		if (!f->decision.allow)
			fail_msg("%s: %s", paths[i].path,
			    f->decision.reasons.items[0]);
		assert_int_equal(f->decision.input_root[0], paths[i].root);
		assert_string_equal(
		    f->decision.input_beneath[0], paths[i].beneath);
	}
}

/* Every fault of a path is told, not the first. */
static void all_faults_of_a_path_are_told(void **state)
{
	static const struct {
		const char *path, *reasons[3];
	} paths[] = {
		{ "..", { "path.not_absolute", "path.traversal" } },
		{ "../etc/passwd", { "path.not_absolute", "path.traversal" } },
		{ "/srv/data/./../x", { "path.component", "path.traversal" } },
		{ "/srv/data/..\n", { NULL } },
		{ "/srv/data/../a\n", { "path.component", "path.traversal" } },
		{ "./..//\x7f", { "path.component", "path.not_absolute",
		                    "path.traversal" } },
		{ "a/", { "path.component", "path.not_absolute" } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N(paths); i++) {
		size_t n = 0;

		ask_path(f, paths[i].path, "n");
		decide(f);
		assert_false(f->decision.allow);
		for (; n < N(paths[i].reasons) && paths[i].reasons[n]; n++)
			assert_string_equal(
			    f->decision.reasons.items[n], paths[i].reasons[n]);
		if (n > 0)
			assert_int_equal(f->decision.reasons.n, n);
	}
	/* A newline behind two dots makes another component of it. */
	ask_path(f, "/srv/data/..\n", "n");
	expect_denied(f, "path.component");
}

static void without_roots_no_path_is_allowed(void **state)
{
	struct texts_result *none =
	    texts_parse(TEXTS_POLICY(""), strlen(TEXTS_POLICY("")));
	struct fixture *f = *state;

	assert_non_null(none->policy);
	ask_path(f, "/srv/data/a", "n");
	policy_decide(none->policy, &f->request, &f->decision);
	assert_false(f->decision.allow);
	assert_string_equal(f->decision.reasons.items[0], "path.not_allowed");
	texts_free(none);
}

static void names_inside_are_judged(void **state)
{
	static const char *const bad[] = { "", ".", "..", ".bashrc", "a/b",
		"/a", "-rf", "--help", "a\nb", "a\x1b", "\xff", "main.py",
		"\xe2\x80\xae_" };
	static const char *const good[] = { "a", "a.csv", "main.py.txt", "a b",
		"\xc3\xa9", "%2e%2e", "a\\b", "Main.py" };
	struct fixture *f = *state;
	char name[300];

	for (size_t i = 0; i < N(bad); i++) {
		ask_path(f, "/x/a", bad[i]);
		expect_denied(f, "path.name");
	}
	for (size_t i = 0; i < N(good); i++) {
		ask_path(f, "/x/a", good[i]);
		decide(f);
		assert_true(f->decision.allow);
	}
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	ask_path(f, "/x/a", name);
	expect_denied(f, "path.name");
	name[255] = '\0';
	ask_path(f, "/x/a", name);
	decide(f);
	assert_true(f->decision.allow);
	/* The same name twice. */
	ask_path(f, "/x/a", "n");
	f->request.inputs[1] = f->request.inputs[0];
	f->request.n_inputs = 2;
	f->request.n_inputs_asked = 2;
	expect_denied(f, "path.name");
}

static void inline_inputs_need_a_name_and_room_but_no_root(void **state)
{
	struct fixture *f = *state;

	ask_path(f, "", "n");
	f->request.inputs[0].kind = POLICY_INPUT_INLINE;
	decide(f);
	assert_true(f->decision.allow);
	f->request.inline_size = f->decision.limits[LIMIT_INPUT_BYTES] + 1;
	expect_denied(f, "inputs.too_large");
	f->request.inline_size = 0;
	f->request.inputs[0].name = "../n";
	expect_denied(f, "path.name");
	f->request.inputs[0].name = "n";
	f->request.inputs[1] = f->request.inputs[0];
	f->request.n_inputs = 2;
	f->request.n_inputs_asked = 2;
	expect_denied(f, "path.name");
}

static void directories_may_be_a_root_and_have_short_names(void **state)
{
	struct fixture *f = *state;
	char name[62];

	memset(name, 'n', sizeof(name));
	name[60] = '\0';
	ask_path(f, "/srv/data", name);
	expect_denied(f, "path.outside_root");
	f->request.inputs[0].kind = POLICY_INPUT_DIRECTORY;
	decide(f);
	assert_true(f->decision.allow);
	assert_string_equal(f->decision.input_beneath[0], ".");
	f->request.inputs[0].host = "/srv/data/a";
	decide(f);
	assert_true(f->decision.allow);
	assert_string_equal(f->decision.input_beneath[0], "a");
	f->request.inputs[0].host = "/srv";
	expect_denied(f, "path.outside_root");
	f->request.inputs[0].host = "/srv/data/..";
	expect_denied(f, "path.traversal");
	f->request.inputs[0].host = "/srv/data";
	name[60] = 'n';
	name[61] = '\0';
	expect_denied(f, "path.name");
}

static void all_reasons_are_given_sorted_and_once(void **state)
{
	struct fixture *f = *state;

	ask_path(f, "/srv/data/../x", "-n");
	f->request.inputs[1] =
	    (struct policy_input){ .host = "/../y", .name = "m" };
	f->request.n_inputs = 2;
	f->request.n_inputs_asked = 2;
	f->request.asks[LIMIT_WALL_MS] = true;
	f->request.limits[LIMIT_WALL_MS] = 9000000;
	f->request.code_size = 0;
	decide(f);
	assert_int_equal(f->decision.reasons.n, 4);
	assert_string_equal(f->decision.reasons.items[0], "code.empty");
	assert_string_equal(
	    f->decision.reasons.items[1], "limit.wall.above_max");
	assert_string_equal(f->decision.reasons.items[2], "path.name");
	assert_string_equal(f->decision.reasons.items[3], "path.traversal");
	policy_decision_deny(&f->decision, "path.link");
	policy_decision_deny(&f->decision, "path.link");
	assert_int_equal(f->decision.reasons.n, 5);
	assert_string_equal(f->decision.reasons.items[2], "path.link");
}

static void more_reasons_than_fit_leave_a_word(void **state)
{
	struct fixture *f = *state;
	char reason[POLICY_WORD_MAX];

	decide(f);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(
		    reason, sizeof(reason), "%s.%02d", i % 2 ? "a" : "z", i);
		policy_decision_deny(&f->decision, reason);
		policy_decision_match(&f->decision, reason);
		assert_int_equal(f->decision.reasons.n,
		    i < POLICY_WORDS_MAX ? i + 1 : POLICY_WORDS_MAX);
	}
	for (size_t i = 1; i < POLICY_WORDS_MAX; i++)
		assert_true(strcmp(f->decision.reasons.items[i - 1],
		                f->decision.reasons.items[i]) < 0);
	assert_int_equal(f->decision.rules.n, POLICY_WORDS_MAX);
	for (size_t i = 0, n = 0; i < POLICY_WORDS_MAX; i++) {
		n += strcmp(f->decision.reasons.items[i], "rules.more") == 0;
		if (i == POLICY_WORDS_MAX - 1)
			assert_int_equal(n, 1);
	}
}

static void denied_modules_are_rules_that_matched(void **state)
{
	struct texts_result *r =
	    texts_parse(TEXTS_DENYING, strlen(TEXTS_DENYING));
	struct fixture *f = *state;

	assert_non_null(r->policy);
	policy_decide(r->policy, &f->request, &f->decision);
	assert_true(f->decision.allow);
	assert_int_equal(f->decision.rules.n, 3);
	assert_string_equal(f->decision.rules.items[0], "language.python");
	assert_string_equal(f->decision.rules.items[1], "module.ctypes");
	assert_string_equal(f->decision.rules.items[2], "module.xml.etree");
	f->request.language = "bash";
	policy_decide(r->policy, &f->request, &f->decision);
	assert_int_equal(f->decision.rules.n, 0);
	texts_free(r);
}

/* Modules are told as far as every code rule has room beside them. */
static void many_denied_modules_leave_room_for_code_rules(void **state)
{
	struct fixture *f = *state;
	struct policy *p = f->parsed->policy;
	struct policy_language *l = &p->languages[0];
	struct code_rule rule = { .action = CODE_FLAG };

	for (size_t i = 0; i < POLICY_DENIED_MAX; i++)
		(void)snprintf(l->denied[i], sizeof(l->denied[i]), "m%02zu", i);
	l->n_denied = POLICY_DENIED_MAX;
	ask_path(f, "/x/a", "n");
	decide(f);
	assert_true(f->decision.allow);
	for (int i = 0; i < POLICY_RULES_MAX; i++) {
		(void)snprintf(rule.id, sizeof(rule.id), "r%02d", i);
		policy_decision_hit(&f->decision, &rule);
	}
	assert_true(f->decision.allow);
	assert_int_equal(f->decision.rules.n, POLICY_WORDS_MAX);
	assert_string_equal(f->decision.rules.items[0], "code.rule.r00");
	assert_string_equal(
	    f->decision.rules.items[POLICY_RULES_MAX - 1], "code.rule.r47");
	assert_string_equal(
	    f->decision.rules.items[POLICY_WORDS_MAX - 1], "rules.more");
}

static void a_later_reason_denies(void **state)
{
	struct fixture *f = *state;

	decide(f);
	assert_true(f->decision.allow);
	policy_decision_deny(&f->decision, "path.link");
	assert_false(f->decision.allow);
}

/*
 * The model: split at slashes into words, look at the words, compare the words
 * with those of each root.  Slow, and nothing is shared with path.c.
 */
#define WORDS    40
#define ROOTS    6
#define WIDE_DOT "\xef\xbc\x8e" /* the one letter beyond ASCII */
struct words {
	size_t n;
	char items[WORDS][64];
};

static void split(const char *path, struct words *ret)
{
	size_t at = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; path[i] != '\0'; i++) {
		if (path[i] == '/') {
			ret->n++;
			at = 0;
		} else {
			ret->items[ret->n][at++] = path[i];
		}
	}
	ret->n++;
}

static bool any_word(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->items[i], word) == 0)
			return true;
	return false;
}

static bool inside(const struct words *w, const char *root)
{
	struct words r;

	split(root, &r);
	if (w->n <= r.n)
		return false;
	for (size_t i = 0; i < r.n; i++)
		if (strcmp(w->items[i], r.items[i]) != 0)
			return false;
	return true;
}

enum {
	TRAVERSAL = 1,
	NOT_ABSOLUTE = 2,
	COMPONENT = 4,
	OUTSIDE = 8
};
static const char *const model_words[] = { [TRAVERSAL] = "path.traversal",
	[NOT_ABSOLUTE] = "path.not_absolute",
	[COMPONENT] = "path.component",
	[OUTSIDE] = "path.outside_root" };

struct roots {
	size_t n;
	char items[ROOTS][64];
};

/* Bits; 0: allowed, and *ret_root is the deepest root. */
static int model(const struct roots *roots, const char *path, char *ret_root)
{
	struct words w;
	int faults = 0;

	ret_root[0] = '\0';
	split(path, &w);
	if (any_word(&w, ".."))
		faults |= TRAVERSAL;
	if (path[0] != '/')
		faults |= NOT_ABSOLUTE;
	if (any_word(&w, "."))
		faults |= COMPONENT;
	for (size_t i = 1; i < w.n; i++)
		if (w.items[i][0] == '\0')
			faults |= COMPONENT;
	for (size_t i = 0; path[i] != '\0'; i++) {
		if (strncmp(path + i, WIDE_DOT, strlen(WIDE_DOT)) == 0)
			i += strlen(WIDE_DOT) - 1;
		else if (path[i] < ' ' || path[i] > '~')
			faults |= COMPONENT;
	}
	if (faults != 0)
		return faults;
	for (size_t i = 0; i < roots->n; i++)
		if (inside(&w, roots->items[i]) &&
		    strlen(roots->items[i]) > strlen(ret_root))
			strcpy(ret_root, roots->items[i]);
	return ret_root[0] != '\0' ? 0 : OUTSIDE;
}

/* What the decision says, as the model's bits; anything else fails. */
static int decided(const struct policy_decision *d, const char *path)
{
	int faults = 0;

	for (size_t i = 0; i < d->reasons.n; i++) {
		int bit = TRAVERSAL;

		while (bit <= OUTSIDE &&
		       strcmp(model_words[bit], d->reasons.items[i]) != 0)
			bit *= 2;
		if (bit > OUTSIDE)
			fail_msg("\"%s\": %s", path, d->reasons.items[i]);
		faults |= bit;
	}
	return faults;
}

/* xorshift64: the same paths on every machine. */
static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* BAILIFF_TEST_SEED repeats a round; without it the same every time. */
static uint64_t seed_of_this_run(void)
{
	const char *given = getenv("BAILIFF_TEST_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 0;

	if (seed == 0)
		seed = 88172645463325252u;
	print_message("BAILIFF_TEST_SEED=%" PRIu64 "\n", seed);
	return seed;
}

static const char *pick(const char *const *from, size_t n, uint64_t *seed)
{
	return from[random_next(seed) % n];
}

/* Names that are prefixes of each other, and roots inside roots. */
static void draw_roots(struct roots *ret, uint64_t *seed)
{
	static const char *const names[] = { "/data", "/data2", "/dat", "/srv",
		"/x", "/deep", "/..a", "/a b" };
	size_t wanted = 1 + random_next(seed) % ROOTS;

	memset(ret, 0, sizeof(*ret));
	while (ret->n < wanted) {
		char *root = ret->items[ret->n];
		bool twice = false;

		root[0] = '\0';
		if (ret->n > 0 && random_next(seed) % 3 == 0)
			strcpy(root, ret->items[random_next(seed) % ret->n]);
		for (uint64_t n = 1 + random_next(seed) % 2; n > 0; n--)
			if (strlen(root) < 48)
				strcat(root, pick(names, N(names), seed));
		for (size_t i = 0; i < ret->n; i++)
			twice = twice || strcmp(ret->items[i], root) == 0;
		if (twice)
			wanted--;
		else
			ret->n++;
	}
}

static struct texts_result *policy_with(const struct roots *roots)
{
	char list[ROOTS * 72] = "";
	char text[ROOTS * 72 + 128];

	for (size_t i = 0; i < roots->n; i++) {
		strcat(list, i > 0 ? ",\"" : "\"");
		strcat(list, roots->items[i]);
		strcat(list, "\"");
	}
	(void)snprintf(text, sizeof(text),
	    TEXTS_POLICY(",\"paths\":{\"read\":[%s]}"), list);
	return texts_parse(text, strlen(text));
}

/* Pieces alone, or a root and pieces behind it. */
static void draw_path(const struct roots *roots, char path[256], uint64_t *seed)
{
	static const char *const pieces[] = { "/", "/", "/", "/", "srv", "data",
		"/srv/data", "/data", "/x", "/deep/", "deep", "x", "2", "..",
		".", "...", "a", "%2e", "\\", "~", "\n", "\x7f", "\xff", "/../",
		"//", "-", " ", WIDE_DOT };

	path[0] = '\0';
	if (random_next(seed) % 2 == 0)
		strcpy(path, roots->items[random_next(seed) % roots->n]);
	for (uint64_t n = random_next(seed) % 8; n > 0; n--)
		strcat(path, pick(pieces, N(pieces), seed));
}

/* One path; whether it was allowed. */
static bool agree(struct fixture *f, const struct roots *roots,
    const struct policy *p, const char *path)
{
	const struct policy_decision *d = &f->decision;
	char root[64];
	int want = model(roots, path, root);
	int got;

	ask_path(f, path, "n");
	policy_decide(p, &f->request, &f->decision);
	got = decided(d, path);
	if (got != want || d->allow != (want == 0))
		fail_msg("\"%s\": %d, the model says %d", path, got, want);
	if (got != 0)
		return false;
	/* The deepest root, and root and rest are the path that was asked. */
	assert_string_equal(p->read_roots[d->input_root[0]].path, root);
	assert_string_equal(d->input_beneath[0], path + strlen(root) + 1);
	return true;
}

/* 1,000 policies with up to six roots, 100 paths for each. */
static void generated_roots_and_paths_agree_with_a_slow_model(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = seed_of_this_run();
	size_t n_allowed = 0;

	for (int policy = 0; policy < 1000; policy++) {
		struct roots roots;
		struct texts_result *r;

		draw_roots(&roots, &seed);
		r = policy_with(&roots);
		if (r->policy == NULL)
			fail_msg("%s", r->e.text);
		for (int i = 0; i < 100; i++) {
			char path[256];

			draw_path(&roots, path, &seed);
			n_allowed += agree(f, &roots, r->policy, path);
		}
		texts_free(r);
	}
	print_message("100000 paths, %zu allowed\n", n_allowed);
	assert_true(n_allowed > 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plain_request_is_allowed_with_its_rule),
		TEST(other_languages_are_denied),
		TEST(limits_are_denied_not_clamped),
		TEST(sizes_are_judged),
		TEST(paths_are_judged),
		TEST(without_roots_no_path_is_allowed),
		TEST(names_inside_are_judged),
		TEST(directories_may_be_a_root_and_have_short_names),
		TEST(inline_inputs_need_a_name_and_room_but_no_root),
		TEST(all_reasons_are_given_sorted_and_once),
		TEST(all_faults_of_a_path_are_told),
		TEST(more_reasons_than_fit_leave_a_word),
		TEST(denied_modules_are_rules_that_matched),
		TEST(many_denied_modules_leave_room_for_code_rules),
		TEST(a_later_reason_denies),
		TEST(generated_roots_and_paths_agree_with_a_slow_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
