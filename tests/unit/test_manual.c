/*
 * tests/unit/test_manual.c - every key that the parser takes and every limit
 * is in man/bailiff-policy.5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/cases.h"
#include "policy/parse.h"
#include "policy/request.h"

static bool documents(const char *manual, const char *key)
{
	static const struct {
		const char *before, *behind;
	} shapes[] = { { ".It Cm ", "\n" }, { ".It Cm ", " Ta" },
		{ ".Cm ", "\n" }, { ".Cm ", " ." } };
	char line[128];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		(void)snprintf(line, sizeof(line), "%s%s%s", shapes[i].before,
		    key, shapes[i].behind);
		if (strstr(manual, line) != NULL)
			return true;
	}
	return false;
}

static size_t check_table(const char *manual, const struct reader_keys *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (!documents(manual, table->keys[i].name))
			fail_msg("no %s: %s", table->what, table->keys[i].name);
	return table->n;
}

static void every_key_and_limit_is_in_the_manual(void **state)
{
	AUTO_FD fd = open(TEST_SOURCE_DIR "/man/bailiff-policy.5", O_RDONLY);
	AUTO_FREE uint8_t *manual = NULL;
	struct error e;
	size_t n = 0;
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(file_read_all(fd, 1 << 20, &manual, &len, &e), 0);
	for (size_t i = 0; parse_tables[i] != NULL; i++)
		n += check_table((const char *)manual, parse_tables[i]);
	n += check_table((const char *)manual, &request_keys);
	n += check_table((const char *)manual, &request_input_keys);
	n += check_table((const char *)manual, &cases_keys);
	n += check_table((const char *)manual, &cases_case_keys);
	n += check_table((const char *)manual, &cases_expect_keys);
	assert_true(n > 40);
	for (size_t i = 0; i < LIMIT_N; i++) {
		char row[128];

		/* With the numbers that silence means. */
		(void)snprintf(row, sizeof(row), ".It Cm %s Ta %llu Ta %llu Ta",
		    limit_table[i].name,
		    (unsigned long long)limit_table[i].fallback_default,
		    (unsigned long long)limit_table[i].fallback_max);
		if (strstr((const char *)manual, row) == NULL)
			fail_msg("no row %s", row);
	}
	assert_false(documents((const char *)manual, "nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_and_limit_is_in_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
