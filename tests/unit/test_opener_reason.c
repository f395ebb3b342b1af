/*
 * tests/unit/test_opener_reason.c - errno to reason, as a table.
 */
#include "executor/opener_reason.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void each_errno_has_its_word(void **state)
{
	/* clang-format off */
	static const struct {
		enum opener_stage stage;
		int saved_errno;
		const char *reason;
	} rows[] = {
		{ OPENER_STAGE_FILE, ELOOP,        "path.link"         },
		{ OPENER_STAGE_FILE, EXDEV,        "path.outside_root" },
		{ OPENER_STAGE_FILE, ENOENT,       "path.missing"      },
		{ OPENER_STAGE_FILE, ENOTDIR,      "path.missing"      },
		{ OPENER_STAGE_FILE, ENAMETOOLONG, "path.missing"      },
		{ OPENER_STAGE_FILE, EACCES,       "path.unreadable"   },
		{ OPENER_STAGE_FILE, EPERM,        "path.unreadable"   },
		{ OPENER_STAGE_FILE, ENXIO,        "path.not_regular"  },
		{ OPENER_STAGE_FILE, ENODEV,       "path.not_regular"  },
		{ OPENER_STAGE_ROOT, ELOOP,        "path.root_changed" },
		{ OPENER_STAGE_ROOT, ENOENT,       "path.root_changed" },
		{ OPENER_STAGE_ROOT, ENOTDIR,      "path.root_changed" },
		{ OPENER_STAGE_ROOT, EACCES,       "path.unreadable"   },
		{ OPENER_STAGE_COPY, EACCES,       "path.failed"       },
		{ OPENER_STAGE_COPY, EIO,          "path.failed"       },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(
		    opener_reason(rows[i].stage, rows[i].saved_errno),
		    rows[i].reason);
}

static void what_says_nothing_of_the_path_is_failed(void **state)
{
	static const int others[] = { 0, -1, EIO, EMFILE, ENOMEM, EAGAIN, EINTR,
		EINVAL, ESTALE, 9999 };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_string_equal(
		    opener_reason(OPENER_STAGE_FILE, others[i]), "path.failed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_errno_has_its_word),
		cmocka_unit_test(what_says_nothing_of_the_path_is_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
