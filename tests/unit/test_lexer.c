/*
 * tests/unit/test_lexer.c - policy/lexer.h: what is code, string, comment.
 *
 * Rows are lines of a text with a line of marks below each: . code, s string, n
 * a string that is a name, # comment, _ stands for a space, - dropped, * code
 * and something else as well.  The new line itself has a mark too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/lexer.h"

#define TEXT_MAX 1024

static char mark_of(uint8_t class)
{
	switch (class) {
	case LEXER_CODE:
		return '.';
	case LEXER_STRING:
		return 's';
	case LEXER_STRING | LEXER_NAME:
		return 'n';
	case LEXER_COMMENT:
		return '#';
	case LEXER_SPACE:
		return '_';
	case LEXER_DROP:
		return '-';
	default:
		return '*';
	}
}

/* One way of reading 'text', as marks. */
static void read_as(
    const char *language, unsigned way, const char *text, char *to)
{
	size_t n = strlen(text);
	uint8_t padded[TEXT_MAX + LEXER_PAD] = { 0 };
	uint8_t classes[TEXT_MAX];

	assert_true(n < TEXT_MAX);
	memcpy(padded, text, n);
	lexer_mark(lexer_find(language), way, padded, n, classes);
	for (size_t i = 0; i < n; i++)
		to[i] = mark_of(classes[i]);
	to[n] = '\0';
}

/* Pairs of a line and its marks, to the end of the list. */
static void check(const char *language, unsigned way, const char *const *rows)
{
	char text[TEXT_MAX] = "";
	char marks[TEXT_MAX] = "";
	char is[TEXT_MAX];

	for (size_t i = 0; rows[i] != NULL; i += 2) {
		strncat(text, rows[i], TEXT_MAX - strlen(text) - 1);
		strncat(marks, rows[i + 1], TEXT_MAX - strlen(marks) - 1);
		assert_int_equal(strlen(rows[i]), strlen(rows[i + 1]));
	}
	read_as(language, way, text, is);
	if (strcmp(is, marks) != 0)
		fail_msg("%s\n%s\nis:\n%s\nexpected:\n%s", language, text, is,
		    marks);
}

#define CHECK(language, ...)                                             \
	do {                                                             \
		static const char *const rows[] = { __VA_ARGS__, NULL }; \
		check(language, 0, rows);                                \
	} while (0)

/* clang-format off */
static void python_strings_and_comments_are_told_apart(void **state)
{
	(void)state;
	CHECK("python",
	    "import os # x\n",
	    "..........###.",
	    "x='#'; import os\n",
	    "...s.............",
	    "a=\"'''\"\n",
	    "...sss..",
	    "import os\n",
	    "..........",
	    "b=\"'''\"\n",
	    "...sss..",
	    "'''a\n",
	    "...ss",
	    "#b''' c\n",
	    "ss......",
	    "r'\\'' # q\n",
	    "..ss..###.",
	    "bR\"a\" 'b c'\n",
	    "...n...sss..");
}

static void python_joins_lines_by_a_backslash(void **state)
{
	(void)state;
	CHECK("python",
	    "import \\\n",
	    ".......__",
	    " os\n",
	    "....",
	    "x = 'a\\\n",
	    ".....sss",
	    "b' # c\n",
	    "s..###.");
}

static void python_code_inside_an_f_string_is_code(void **state)
{
	(void)state;
	CHECK("python",
	    "f\"a{b+'c d'}d\" # e\n",
	    "..s....sss..s..###.",
	    "f'{x:>{w}#}' + y # z\n",
	    ".....s...s.......###.",
	    "f'{{x}}{d[\"a\"]!r:x}' f\n",
	    "..sssss....n.....s.....",
	    "f'''{\n",
	    "......",
	    "# c\n",
	    "###.",
	    "os}''' g\n",
	    ".........",
	    "f'\\{os}\\N{DASH}' h\n",
	    "..s....ssssssss....",
	    "rf'\\{os}' i\n",
	    "...s........");
}

static void python_strings_end_with_their_line(void **state)
{
	(void)state;
	CHECK("python",
	    "'abc\n",
	    ".nnn.",
	    "import os\rimport sys # a\rb\n",
	    ".....................###...");
}

static void python_without_an_end_is_code_as_well(void **state)
{
	(void)state;
	CHECK("python",
	    "'''x\n",
	    "...**",
	    "import os\n",
	    "**********");
}

static void c_comments_may_be_cut_by_a_joint(void **state)
{
	(void)state;
	CHECK("c",
	    "int a = 1'000; // x \\\n",
	    "...............#######",
	    " still\n",
	    "######.",
	    "\"a\\\n",
	    ".sss",
	    "b\" sys\\\n",
	    "s.....--",
	    "tem(); /\\\n",
	    ".......###",
	    "* c *\\\n",
	    "#######",
	    "/ d\n",
	    "#...");
}

static void c_header_names_hold_no_comments(void **state)
{
	(void)state;
	CHECK("c",
	    "#include <a//b>\n",
	    "................",
	    "x /* y */\n",
	    "..#######.",
	    "'\\'' g \"/*\" h\n",
	    ".ss.....ss....");
}

static void cpp_raw_strings_end_by_their_own_mark(void **state)
{
	(void)state;
	CHECK("cpp",
	    "u8R\"x(a\"b)x\" e R\"(\n",
	    "......sss.........s",
	    ")\" 'd' 1'000 // c\n",
	    "....n........####.");
}

static void java_text_blocks_and_returns(void **state)
{
	(void)state;
	CHECK("java",
	    "s = \"\"\"\n",
	    ".......s",
	    " a \"b\" \\\"\"\" c\n",
	    "ssssssssssssss",
	    "\"\"\"; // d\rcode /* e */ f\n",
	    ".....####......#######...");
}

static void go_back_quotes_hold_anything(void **state)
{
	(void)state;
	CHECK("go",
	    "import `os`; a := `x\n",
	    "........nn.........ss",
	    "//\"` // c\n",
	    "sss..####.",
	    "'\\'' d\n",
	    ".ss....");
}

static void javascript_templates_hold_code(void **state)
{
	(void)state;
	CHECK("javascript",
	    "`t ${ f(`n ${q} {`) + {a:1}.a } e` + 'x'\n",
	    ".ss......ss....ss..............ss.....n..",
	    "const u='http://x'; f()\n",
	    ".........nnnnnnnn.......");
}

static void javascript_regular_expressions_are_no_divisions(void **state)
{
	(void)state;
	CHECK("javascript",
	    "const r = /['\"`]/g; let y = a / b / c; // d\n",
	    "...........sssss.......................####.",
	    "if (x) /`/.test(y); evil();\n",
	    "........*...................",
	    "return /[/]'/.x\n",
	    "........ssss....",
	    "x++ / 2; y / 3\n",
	    "...............");
}

static void javascript_scripts_have_html_comments(void **state)
{
	(void)state;
	CHECK("javascript",
	    "f() <!-- html ` '\n",
	    "....#############.",
	    "--> also `\n",
	    "##########.",
	    "z --> 0; k\n",
	    "...........");
}

static void r_raw_strings_names_and_operators(void **state)
{
	(void)state;
	CHECK("r",
	    "x <- 'a#b' # c\n",
	    "......sss..###.",
	    "r\"---(a)--\" )---\" ; `system`('l'); a %'% b %% c\n",
	    "......ssssss........-......-..n.................",
	    "'a\\'b\n",
	    ".sssss",
	    "c' library(p)\n",
	    "s.............");
}

static void ruby_code_inside_a_string_is_code(void **state)
{
	(void)state;
	CHECK("ruby",
	    "x=1;require 'open3' # c\n",
	    ".............nnnnn..###.",
	    "puts \"a#{system('id') + \"b c\"}c\" + 'd#{e}'\n",
	    "......s..........nn......sss..n.....sssss..",
	    "%q(a(b)c)\n",
	    "...sssss..",
	    "x = %w[x y]\n",
	    ".......sss..");
}

static void ruby_heredocs_and_blocks_of_comment(void **state)
{
	(void)state;
	CHECK("ruby",
	    "=begin\n",
	    "#######",
	    "require 'x'\n",
	    "############",
	    "=end\n",
	    "####.",
	    "foo(<<~A, <<'B')\n",
	    ".................",
	    "  text #{code 'x'} more\n",
	    "sssssss........n..ssssss",
	    "A\n",
	    "..",
	    "raw #{no}\n",
	    "ssssssssss",
	    "B\n",
	    "..",
	    "y = ?\" ; $' ; x\n",
	    "................",
	    "__END__\n",
	    "########",
	    "z\n",
	    "##");
}

static void ruby_divisions_are_no_regular_expressions(void **state)
{
	(void)state;
	CHECK("ruby",
	    "a / b / c; d =~ /x#y'/i\n",
	    ".................ssss...");
}

static void bash_substitutions_inside_quotes_are_code(void **state)
{
	(void)state;
	CHECK("bash",
	    "echo a#b \"c $(curl x # d\n",
	    "..........ss.........###.",
	    ") e\" 'f' $'g\\'h' # i\n",
	    ".ss...n....ssss..###.");
}

static void bash_heredocs_hold_code_unless_quoted(void **state)
{
	(void)state;
	CHECK("bash",
	    "cat <<EOT; cat <<-'E2'\n",
	    ".......................",
	    "a $(b 'c d') `d` e # no\n",
	    "ss.....sss..s...ssssssss",
	    "EOT\n",
	    "....",
	    "raw $(x)\n",
	    "sssssssss",
	    "\tE2\n",
	    "sss.",
	    "ls\n",
	    "...");
}

static void bash_shifts_are_no_heredocs(void **state)
{
	(void)state;
	CHECK("bash",
	    "x=$((1<<2)) ; ((y<<=1)); ${a#b} ${#a} $# # c\n",
	    ".........................................###.");
}

static void bash_backslashes_are_not_there(void **state)
{
	(void)state;
	CHECK("bash",
	    "cu\\\n",
	    "..--",
	    "rl c\\url a <<< 'x'\n",
	    "....-...........n..");
}

/* clang-format on */

static void a_trigraph_may_be_a_backslash(void **state)
{
	static const char text[] = "\"?\?/\" system(); \"a\" h";
	char is[TEXT_MAX];

	(void)state;
	assert_int_equal(lexer_ways(lexer_find("c"), (const uint8_t *)text,
	                     sizeof(text) - 1),
	    2);
	read_as("c", 0, text, is);
	assert_string_equal(is, ".sss.............n...");
	read_as("c", 1, text, is);
	assert_string_equal(is, ".sssssssssssssss...ss");
}

static void a_module_has_no_html_comments(void **state)
{
	char is[TEXT_MAX];

	(void)state;
	read_as("javascript", 1, "f() <!-- ' x'\n", is);
	assert_string_equal(is, "..........ss..");
}

static void a_ruby_variable_may_be_divided(void **state)
{
	char is[TEXT_MAX];

	(void)state;
	read_as("ruby", 0, "a /x/\n", is);
	assert_string_equal(is, "...n..");
	read_as("ruby", 1, "a /x/\n", is);
	assert_string_equal(is, "......");
}

/* What rules of 'seen' get to see of a text. */
static void view_of(
    const char *language, const char *text, unsigned seen, char ret[TEXT_MAX])
{
	const struct lexer *l = lexer_find(language);
	uint8_t padded[TEXT_MAX + LEXER_PAD] = { 0 };
	uint8_t from[TEXT_MAX + LEXER_PAD] = { 0 };
	uint8_t classes[TEXT_MAX];
	size_t n = strlen(text);
	size_t unescaped;

	memcpy(from, text, n);
	memcpy(padded, text, n);
	unescaped = lexer_unescape(l, from, n, padded);
	n = unescaped > 0 ? unescaped : n;
	lexer_mark(l, 0, padded, n, classes);
	if (lexer_folds(l, padded, n))
		lexer_fold(l, padded, n, classes);
	n = lexer_view(padded, n, classes, seen, (uint8_t *)ret);
	ret[n] = '\0';
}

static void a_view_keeps_lines_and_places(void **state)
{
	char is[TEXT_MAX];

	(void)state;
	view_of("python", "a 'b' # c\n'''d\n''' e", LEXER_CODE, is);
	assert_string_equal(is, "a ' '    \n''' \n''' e");
	view_of("python", "a 'b' # c\n'''d\n''' e", LEXER_STRING, is);
	assert_string_equal(is, "   b     \n   d\n     ");
	view_of("python", "a 'b' # c\n", LEXER_COMMENT, is);
	assert_string_equal(is, "      # c\n");
	view_of("python", "f('os', 'a b')", LEXER_CODE | LEXER_NAME, is);
	assert_string_equal(is, "f('os', '   ')");
}

static void joined_words_are_seen_whole(void **state)
{
	char is[TEXT_MAX];

	(void)state;
	view_of("c", "sys\\\ntem()", LEXER_CODE, is);
	assert_string_equal(is, "system()");
	view_of("python", "import \\\nos", LEXER_CODE, is);
	assert_string_equal(is, "import   os");
	view_of("bash", "cu\\\nrl c\\url", LEXER_CODE, is);
	assert_string_equal(is, "curl curl");
	view_of("r", "`system`('x')", LEXER_CODE, is);
	assert_string_equal(is, "system(' ')");
}

static void letters_that_stand_for_others_are_seen_as_those(void **state)
{
	char is[TEXT_MAX];

	(void)state;
	/* Full-width, mathematical, a ligature; not in a string. */
	view_of("python", "\xef\xbd\x8f\xef\xbd\x93.x '\xef\xbd\x8f'",
	    LEXER_CODE | LEXER_STRING, is);
	assert_string_equal(is, "os.x '\xef\xbd\x8f'");
	view_of("python", "\xf0\x9d\x95\xa0s \xef\xac\x81le", LEXER_CODE, is);
	assert_string_equal(is, "os file");
	view_of("javascript", "\\u0065va\\u{6c}('\\u0065')",
	    LEXER_CODE | LEXER_STRING, is);
	assert_string_equal(is, "eval('\\u0065')");
	view_of("java", "\\uu0069mport // \\u000ax \\\\u0041", LEXER_CODE, is);
	assert_string_equal(is, "import    \nx \\\\u0041");
}

static void a_place_in_a_view_leads_back_to_the_text(void **state)
{
	static const uint8_t classes[] = { LEXER_CODE, LEXER_DROP, LEXER_DROP,
		LEXER_STRING };
	static const uint8_t text[] = "\\u0069mp";

	(void)state;
	assert_int_equal(lexer_viewed_from(classes, 4, 0), 0);
	assert_int_equal(lexer_viewed_from(classes, 4, 1), 3);
	assert_int_equal(lexer_viewed_from(classes, 4, 2), 4);
	assert_int_equal(lexer_unescaped_from(text, 8, 0), 0);
	assert_int_equal(lexer_unescaped_from(text, 8, 1), 6);
	assert_int_equal(lexer_unescaped_from(text, 8, 2), 7);
}

static bool is_encoded(const char *language, const char *text)
{
	return lexer_is_encoded(
	    lexer_find(language), (const uint8_t *)text, strlen(text));
}

static void a_foreign_encoding_is_noticed(void **state)
{
	(void)state;
	assert_true(is_encoded("python", "# -*- coding: utf-7 -*-\n"));
	assert_true(
	    is_encoded("python", "#!/x\n# vim: set fileencoding=rot13:\n"));
	assert_true(is_encoded("ruby", "# encoding: Shift_JIS\n"));
	assert_false(is_encoded("python", "# coding: UTF-8\nx"));
	assert_false(is_encoded("python", "# about coding\nx"));
	assert_false(is_encoded("python", "\n\n# coding: utf-7\n"));
	assert_false(is_encoded("c", "# coding: utf-7\n"));
}

static void each_language_has_its_own(void **state)
{
	(void)state;
	assert_non_null(lexer_find("bash"));
	assert_null(lexer_find("Bash"));
	assert_null(lexer_find("cobol"));
	assert_null(lexer_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_strings_and_comments_are_told_apart),
		cmocka_unit_test(python_joins_lines_by_a_backslash),
		cmocka_unit_test(python_code_inside_an_f_string_is_code),
		cmocka_unit_test(python_strings_end_with_their_line),
		cmocka_unit_test(python_without_an_end_is_code_as_well),
		cmocka_unit_test(c_comments_may_be_cut_by_a_joint),
		cmocka_unit_test(c_header_names_hold_no_comments),
		cmocka_unit_test(cpp_raw_strings_end_by_their_own_mark),
		cmocka_unit_test(java_text_blocks_and_returns),
		cmocka_unit_test(go_back_quotes_hold_anything),
		cmocka_unit_test(javascript_templates_hold_code),
		cmocka_unit_test(
		    javascript_regular_expressions_are_no_divisions),
		cmocka_unit_test(javascript_scripts_have_html_comments),
		cmocka_unit_test(r_raw_strings_names_and_operators),
		cmocka_unit_test(ruby_code_inside_a_string_is_code),
		cmocka_unit_test(ruby_heredocs_and_blocks_of_comment),
		cmocka_unit_test(ruby_divisions_are_no_regular_expressions),
		cmocka_unit_test(bash_substitutions_inside_quotes_are_code),
		cmocka_unit_test(bash_heredocs_hold_code_unless_quoted),
		cmocka_unit_test(bash_shifts_are_no_heredocs),
		cmocka_unit_test(bash_backslashes_are_not_there),
		cmocka_unit_test(a_trigraph_may_be_a_backslash),
		cmocka_unit_test(a_module_has_no_html_comments),
		cmocka_unit_test(a_ruby_variable_may_be_divided),
		cmocka_unit_test(a_view_keeps_lines_and_places),
		cmocka_unit_test(joined_words_are_seen_whole),
		cmocka_unit_test(
		    letters_that_stand_for_others_are_seen_as_those),
		cmocka_unit_test(a_place_in_a_view_leads_back_to_the_text),
		cmocka_unit_test(a_foreign_encoding_is_noticed),
		cmocka_unit_test(each_language_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
