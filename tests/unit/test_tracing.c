/* tests/unit/test_tracing.c - what a policy that is silent about tracing means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/tracing.h"
#include "tests/unit/policy_texts.h"

static struct texts_result *parse(bool privileged, const char *text)
{
	struct texts_result *r =
	    texts_parse_for(privileged, text, strlen(text));

	assert_non_null(r->policy);
	return r;
}

static void silence_means_required_as_root_and_off_without(void **state)
{
	struct texts_result *root = parse(true, TEXTS_POLICY(""));
	struct texts_result *other = parse(false, TEXTS_POLICY(""));

	(void)state;
	assert_int_equal(root->policy->trace, TRACE_REQUIRED);
	assert_string_equal(tracing_why(root->policy), "the default as root");
	assert_int_equal(other->policy->trace, TRACE_OFF);
	assert_non_null(strstr(tracing_why(other->policy), "CAP_BPF"));
	/* What is digested and kept says what is done. */
	assert_non_null(
	    strstr(root->policy->effective, "\"trace\":\"required\""));
	assert_non_null(strstr(other->policy->effective, "\"trace\":\"off\""));
	assert_memory_not_equal(
	    root->policy->sha256, other->policy->sha256, SHA256_BYTES);
	texts_free(root);
	texts_free(other);
}

static void a_word_means_the_same_for_everybody(void **state)
{
	static const char *const words[] = { "off", "best-effort", "required" };
	static const char *const texts[] = {
		TEXTS_POLICY(",\"trace\":\"off\""),
		TEXTS_POLICY(",\"trace\":\"best-effort\""),
		TEXTS_POLICY(",\"trace\":\"required\""),
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct texts_result *root = parse(true, texts[i]);
		struct texts_result *other = parse(false, texts[i]);

		assert_string_equal(tracing_word(root->policy), words[i]);
		assert_string_equal(
		    tracing_why(root->policy), "the policy says so");
		assert_memory_equal(
		    root->policy->sha256, other->policy->sha256, SHA256_BYTES);
		texts_free(root);
		texts_free(other);
	}
}

/* What is said is what silence means: the same policy, another reason. */
static void silence_and_its_meaning_have_one_digest(void **state)
{
	struct texts_result *silent = parse(true, TEXTS_POLICY(""));
	struct texts_result *said =
	    parse(true, TEXTS_POLICY(",\"trace\":\"required\""));

	(void)state;
	assert_memory_equal(
	    silent->policy->sha256, said->policy->sha256, SHA256_BYTES);
	texts_free(silent);
	texts_free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    silence_means_required_as_root_and_off_without),
		cmocka_unit_test(a_word_means_the_same_for_everybody),
		cmocka_unit_test(silence_and_its_meaning_have_one_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
