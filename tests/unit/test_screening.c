/*
 * tests/unit/test_screening.c - policy/screening.h: what rules find, and which
 * are refused.
 *
 * The tables are those a well-known sandbox tests its own screening with, and
 * texts that get past it.  What no reading of a text can decide is here with
 * "misses": tests/service/test_screen.py runs those and sees the effect stopped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/screening.h"

#define CAP 65536

static struct code_rule pattern(
    const char *id, const char *text, uint32_t places)
{
	struct code_rule r = { .places = places };

	(void)snprintf(r.id, sizeof(r.id), "%s", id);
	(void)snprintf(r.text, sizeof(r.text), "%s", text);
	return r;
}

static struct code_rule module(const char *text)
{
	struct code_rule r = { .is_module = true };

	(void)snprintf(r.id, sizeof(r.id), "m");
	(void)snprintf(r.text, sizeof(r.text), "%s", text);
	return r;
}

/* Hits of 'rules' in 'text'. */
static struct screening_hits hits_of(
    const struct screening_rules *rules, const char *text)
{
	struct screening *s;
	struct screening_room *room;
	struct screening_hits hits;
	struct error e;
	size_t rule;

	if (screening_compile(rules, &s, &rule, &e) < 0)
		fail_msg("rule %zu: %s", rule, e.text);
	assert_int_equal(screening_room(&s, 1, CAP, &room, &e), 0);
	memcpy(screening_text(room), text, strlen(text));
	assert_int_equal(screening_scan(s, room, strlen(text), &hits, &e), 0);
	screening_room_free(room);
	screening_free(s);
	return hits;
}

struct row {
	const char *language, *module, *text;
	bool hit;
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct code_rule rule = module(rows[i].module);
		const struct screening_rules rules = { rows[i].language, &rule,
			1 };

		if ((hits_of(&rules, rows[i].text).n == 1) != rows[i].hit)
			fail_msg("%s, module %s: %s\n%s", rows[i].language,
			    rows[i].module, rows[i].hit ? "missed" : "hit",
			    rows[i].text);
	}
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows[0]))

/* clang-format off */
static void imports_are_found_in_every_form(void **state)
{
	static const struct row rows[] = {
		{ "python", "os", "import os", true },
		{ "python", "os", "import os as operating_system", true },
		{ "python", "os", "from os import path", true },
		{ "python", "os", "from os.path import join", true },
		{ "python", "os.path", "import os . path", true },
		{ "python", "os", "from shutil import (a,\n os)", true },
		{ "javascript", "fs", "const fs = require('fs')", true },
		{ "javascript", "fs", "let {a} = require( \"fs\" )", true },
		{ "javascript", "fs", "require('fs')", true },
		{ "javascript", "axios", "import axios from 'axios'", true },
		{ "javascript", "axios", "import * as a from \"axios\"", true },
		{ "javascript", "axios", "import { get } from 'axios';", true },
		{ "javascript", "axios", "import 'axios'", true },
		{ "javascript", "axios", "const a = await import('axios')", true },
		{ "java", "java.util", "import java.util.List;", true },
		{ "java", "java.util", "import java.util.*;", true },
		{ "java", "java.util", "  import   java.util.ArrayList ;", true },
		{ "cpp", "iostream", "#include <iostream>", true },
		{ "cpp", "iostream", "#include<iostream>", true },
		{ "cpp", "iostream", "  #  include   <iostream>", true },
		{ "cpp", "iostream", "#include \"iostream\"", true },
		{ "c", "myheader.h", "#include \"myheader.h\"", true },
		{ "c", "sys/socket.h", "#include <sys/socket.h>", true },
		{ "go", "fmt", "import \"fmt\"", true },
		{ "go", "fmt", "import (\n\t\"os\"\n\t\"fmt\"\n)", true },
		{ "go", "fmt", "import f \"fmt\"", true },
		{ "go", "fmt", "import . \"fmt\"", true },
		{ "go", "fmt", "import _ \"fmt\"", true },
		{ "ruby", "json", "require 'json'", true },
		{ "ruby", "json", "require \"json\"", true },
		{ "ruby", "json", "require('json')", true },
		{ "ruby", "json", "require 'json/ext'", true },
		{ "ruby", "json", "load 'json.rb'", true },
		{ "r", "ggplot2", "library(ggplot2)", true },
		{ "r", "ggplot2", "library(\"ggplot2\")", true },
		{ "r", "ggplot2", "library( 'ggplot2' , quietly=TRUE)", true },
		{ "r", "ggplot2", "suppressMessages(require(ggplot2))", true },
		{ "r", "ggplot2", "requireNamespace('ggplot2')", true },
		{ "bash", "curl", "curl http://x", true },
		{ "bash", "curl", "a | /usr/bin/curl -s", true },
		{ "bash", "curl", "x=\"$(curl y)\"", true },
	};

	(void)state;
	CHECK(rows);
}

static void what_only_looks_like_an_import_is_none(void **state)
{
	static const struct row rows[] = {
		{ "python", "os", "import osmodule", false },
		{ "python", "os", "from myos import y", false },
		{ "python", "os", "# import os", false },
		{ "python", "os", "x = 'import os in string'", false },
		{ "python", "os", "x = \"import os \"", false },
		{ "python", "os", "def f():\n '''import os'''\n", false },
		{ "python", "os", "from_import os = 1", false },
		{ "python", "os", "'''\n__import__('os')\n'''", false },
		{ "javascript", "axios", "// import axios from 'axios'", false },
		{ "javascript", "axios", "/* require('axios') */", false },
		{ "javascript", "axios", "import x from 'myaxios'", false },
		{ "javascript", "axios", "import x from 'axios-helper'", false },
		{ "javascript", "axios", "s = \"require('axios')\"", false },
		{ "java", "java.util", "import java.utility.List;", false },
		{ "java", "java.util", "import com.java.util.List;", false },
		{ "java", "java.util", "// java.util.List", false },
		{ "go", "fmt", "import \"fmtutil\"", false },
		{ "go", "fmt", "import \"my/fmt2\"", false },
		{ "go", "fmt", "/* import \"fmt\" */", false },
		{ "ruby", "json", "require 'jsonpath'", false },
		{ "ruby", "json", "=begin\nrequire 'json'\n=end\n", false },
		{ "ruby", "json", "# require 'json'", false },
		{ "r", "ggplot2", "library(ggplot2extra)", false },
		{ "r", "ggplot2", "# library(ggplot2)", false },
		{ "bash", "curl", "# curl x", false },
		{ "bash", "curl", "curling x; mycurl", false },
		{ "bash", "curl", "echo 'a curl b'", false },
	};

	(void)state;
	CHECK(rows);
}

static void tricks_of_spelling_do_not_hide_an_import(void **state)
{
	static const struct row rows[] = {
		/* 1 to 6 */
		{ "python", "os", "import os; os.system('ls')", true },
		{ "python", "os", "import os,sys", true },
		{ "python", "os", "import sys, os", true },
		{ "python", "os", "import \\\n  os", true },
		{ "python", "os", "x='#'; import os\nos.system('id')", true },
		{ "python", "os", "a=\"'''\"\nimport os\nb=\"'''\"", true },
		/* 7: the name is written out */
		{ "python", "os", "__import__('os').system('id')", true },
		{ "python", "os", "importlib.import_module('os')", true },
		{ "python", "os", "f'{__import__(\"os\").system(\"id\")}'", true },
		/* 10 */
		{ "python", "os", "import \xef\xbd\x8f\xef\xbd\x93", true },
		{ "python", "os", "\xef\xbd\x89mport os", true },
		/* 16 */
		{ "javascript", "fs", "require('node:fs')", true },
		{ "javascript", "fs", "require('fs/promises')", true },
		{ "javascript", "fs", "require(`fs`)", true },
		{ "javascript", "fs", "await import('fs')", true },
		{ "javascript", "fs", "import {\n a,\n b\n} from 'fs'", true },
		{ "javascript", "fs", "const u='http://x'; const fs=require('fs')", true },
		{ "javascript", "fs", "r\\u0065quire('fs')", true },
		/* 17 */
		{ "java", "java.io", "new java.io.File(\"x\")", true },
		{ "java", "java.io", "import static java.io.File.*;", true },
		{ "java", "java.io", "import java.io.File ;", true },
		{ "java", "java.nio", "import java.nio.file.Files;", true },
		{ "java", "java.io", "import java./**/io.File;", true },
		{ "java", "java.io", "\\u0069mport java.io.File;", true },
		/* 18 */
		{ "cpp", "fstream", "# include <fstream>", true },
		{ "cpp", "fstream", "%:include <fstream>", true },
		{ "cpp", "fstream", "#define H <fstream>\n#include H", true },
		{ "cpp", "fstream", "#inc\\\nlude <fstream>", true },
		/* 19 */
		{ "go", "os", "import `os`", true },
		{ "go", "os", "import\"os\"", true },
		{ "go", "os", "import (\n \"os/exec\"\n)", true },
		/* 20 */
		{ "ruby", "open3", "x=1;require 'open3'", true },
		{ "ruby", "open3", "Kernel.require 'open3'", true },
		{ "ruby", "open3", "require %q(open3)", true },
		{ "ruby", "open3", "load 'open3.rb'", true },
		/* 21 */
		{ "r", "processx", "x <- 1\nlibrary(processx)", true },
		{ "r", "processx", "processx::run('ls')", true },
		{ "r", "processx", "loadNamespace('processx')", true },
		{ "r", "processx", "library(package=processx)", true },
		{ "r", "processx", "`library`(processx)", true },
	};

	(void)state;
	CHECK(rows);
}

static void what_no_reading_can_decide_is_missed(void **state)
{
	static const struct row rows[] = {
		{ "python", "os", "__import__('o'+'s').system('id')", false },
		{ "python", "os", "import pathlib; pathlib.os.system('id')", false },
		{ "python", "os", "import posix; posix.system('id')", false },
		{ "python", "os", "exec(bytes.fromhex('696d706f7274206f73'))", false },
		{ "cpp", "fstream", "#include <bits/stdc++.h>", false },
		{ "cpp", "cstdlib", "extern \"C\" int system(const char *);", false },
		{ "ruby", "open3", "`id`; system('id')", false },
		{ "r", "processx", "system('id')", false },
		{ "java", "java.io", "Runtime.getRuntime().exec(\"id\");", false },
		{ "go", "os", "import \"syscall\"", false },
	};

	(void)state;
	CHECK(rows);
}
/* clang-format on */

/* The rules of table 2.2, policy A and C together: what each text must meet. */
static const struct {
	const char *id, *text;
	uint32_t places;
} peer_rules[] = {
	{ "system", "\\bos\\s*\\.\\s*(system|popen)\\b", CODE_IN_CODE },
	{ "subprocess",
	    "\\bsubprocess\\s*\\.\\s*(run|call|Popen|check_\\w+|getoutput)\\b",
	    CODE_IN_CODE },
	{ "eval", "\\beval\\b", CODE_IN_CODE },
	{ "exec", "\\bexec\\b", CODE_IN_CODE },
	{ "write", "\\bopen\\s*\\([^\\n]*,\\s*(mode\\s*=\\s*)?[\"'][rb]*[wax+]",
	    CODE_IN_CODE | CODE_IN_STRINGS },
	{ "read", "\\bopen\\s*\\([^\\n]*,\\s*[\"']r",
	    CODE_IN_CODE | CODE_IN_STRINGS },
	{ "socket", "\\bsocket\\s*\\.\\s*socket\\b", CODE_IN_CODE },
	{ "environ", "\\bos\\s*\\.\\s*environ\\b", CODE_IN_CODE },
	{ "remove", "\\bos\\s*\\.\\s*(remove|unlink|rmdir)\\b", CODE_IN_CODE },
	{ "import", "__import__", CODE_ANYWHERE },
	{ "getattr", "\\bgetattr\\s*\\(", CODE_IN_CODE },
	{ "base64", "\\bb64decode\\b", CODE_IN_CODE },
	{ "hash", "\\bhashlib\\s*\\.\\s*(md5|sha1|sha256|sha512)\\b",
	    CODE_IN_CODE },
	{ "quoted", "\\b(subprocess\\.run|os\\.system)\\s*\\(",
	    CODE_IN_STRINGS },
	{ "ctypes", "", 0 },
};

#define PEER_N (sizeof(peer_rules) / sizeof(peer_rules[0]))

/* Ids of what is met, in the order of the rules, with a space behind each. */
static void met(const char *text, char ret[256])
{
	struct code_rule *rules = calloc(PEER_N, sizeof(*rules));
	const struct screening_rules all = { "python", rules, PEER_N };
	struct screening_hits hits;
	size_t len = 0;

	assert_non_null(rules);
	for (size_t i = 0; i < PEER_N; i++)
		rules[i] = peer_rules[i].places != 0
		               ? pattern(peer_rules[i].id, peer_rules[i].text,
		                     peer_rules[i].places)
		               : module("ctypes");
	hits = hits_of(&all, text);
	free(rules);
	ret[0] = '\0';
	for (size_t rule = 0; rule < PEER_N; rule++)
		for (size_t i = 0; i < hits.n; i++)
			if (hits.items[i].rule == rule)
				len += (size_t)snprintf(ret + len, 256 - len,
				    "%s ", peer_rules[rule].id);
}

static void the_verdict_table_holds(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *met;
	} rows[] = {
		{ "import math\nprint(math.sqrt(4))", "" },
		{ "import json; json.dumps({})", "" },
		{ "import os\nos.system('echo')", "system " },
		{ "import subprocess\nsubprocess.run(['ls'])", "subprocess " },
		{ "eval(variable)", "eval " },
		{ "with open(path,'w') as f: pass", "write " },
		{ "# import os\n# os.system('x')\nprint(1)", "" },
		{ "print('os.system function is dangerous')", "" },
		{ "eval('2+2')", "eval " },
		{ "open('../../../etc/passwd','r')", "read " },
		{ "s = socket.socket(); s.bind(('',1))", "socket " },
		{ "os.environ.get('SECRET_KEY')", "environ " },
		{ "import pandas as pd, numpy as np", "" },
		{ "joblib.dump(model,'model.pkl')", "" },
		{ "for r, d, f in os.walk('.'): os.remove(f)", "remove " },
		{ "exec(\"subprocess.run(['ls'])\")", "exec quoted " },
		{ "exec(base64.b64decode(x))", "exec base64 " },
		{ "getattr(__import__('o'+'s'), 'x')", "import getattr " },
		{ "import ctypes; libc.ptrace(0)", "ctypes " },
		{ "__builtins__['eval'](\"__import__('x')\")", "import " },
		{ "f = os.system; f('whoami')", "system " },
		{ "c = \"\"\"\nos.system('id')\n\"\"\"\nexec(c)", "exec quoted " },
		{ "hashlib.md5(b'x')", "hash " },
		/* Groups 12 to 15 of what got past it. */
		{ "f=os.system; f('id')", "system " },
		{ "os . system('id')", "system " },
		{ "os.popen('id')", "system " },
		{ "open(p,'wb'); open(str(p),'w')", "write " },
		{ "open(p, 'x')", "write " },
		{ "(eval)('1'); e=eval; e('1')", "eval " },
		{ "subprocess.getoutput('id'); subprocess.check_call(x)", "subprocess " },
	};
	/* clang-format on */
	char is[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		met(rows[i].text, is);
		if (strcmp(is, rows[i].met) != 0)
			fail_msg("%s\nmet %s\nnot %s", rows[i].text, is,
			    rows[i].met);
	}
}

static void a_hit_tells_its_line_and_where_it_ends(void **state)
{
	const struct code_rule rules[] = {
		pattern("a", "evil", CODE_IN_CODE),
		pattern("b", "bad", CODE_IN_COMMENTS),
	};
	const struct screening_rules all = { "java", rules, 2 };
	struct screening_hits hits =
	    hits_of(&all, "x\n/* bad */ \\u0065vil(); evil();\n");

	(void)state;
	assert_int_equal(hits.n, 2);
	assert_int_equal(hits.items[0].rule, 1);
	assert_int_equal(hits.items[0].line, 2);
	assert_int_equal(hits.items[0].at, 7);
	assert_int_equal(hits.items[1].rule, 0);
	assert_int_equal(hits.items[1].line, 2);
	assert_int_equal(hits.items[1].at, 20);
}

static void both_ways_of_reading_count(void **state)
{
	const struct code_rule rule = pattern("a", "system", CODE_IN_CODE);
	const struct screening_rules all = { "c", &rule, 1 };

	(void)state;
	assert_int_equal(hits_of(&all, "\"?\?/\" system(); \"").n, 1);
	assert_int_equal(hits_of(&all, "\"?\?/\"\" system(); \"").n, 1);
	assert_int_equal(hits_of(&all, "\" system(); \"").n, 0);
}

static void an_unknown_language_has_only_any(void **state)
{
	const struct code_rule any = pattern("a", "x", CODE_ANYWHERE);
	const struct code_rule code = pattern("a", "x", CODE_IN_CODE);
	const struct code_rule import = module("x");
	const struct code_rule *const wrong[] = { &code, &import };
	const struct screening_rules good = { "cobol", &any, 1 };

	(void)state;
	assert_int_equal(hits_of(&good, "* x").n, 1);
	for (size_t i = 0; i < 2; i++) {
		const struct screening_rules bad = { "cobol", wrong[i], 1 };
		struct screening *s = NULL;
		struct error e;
		size_t rule;

		assert_int_equal(screening_compile(&bad, &s, &rule, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		assert_null(s);
	}
}

static void patterns_that_cannot_be_taken_are_named(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "[invalid", "character class" },
		{ "*q", "repeat" },
		{ "(?P<bad", "" },
		{ "(?P<a>x)(?P<a>y)", "" },
		{ "x*", "empty" },
		{ "(?=x)y", "Zero-width" },
		{ "(x)\\1", "Back-references" },
		{ "a{40000}", "large" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct code_rule rules[] = {
			pattern("good", "x", CODE_IN_CODE),
			pattern("bad", rows[i].text, CODE_IN_CODE),
		};
		const struct screening_rules all = { "python", rules, 2 };
		struct screening *s = NULL;
		struct error e = { 0 };
		size_t rule = 0;

		if (screening_compile(&all, &s, &rule, &e) == 0)
			fail_msg("%s was taken", rows[i].text);
		assert_int_equal(rule, 1);
		if (strcasestr(e.text, rows[i].why) == NULL)
			fail_msg("%s: %s", rows[i].text, e.text);
		assert_null(s);
	}
}

static void more_than_there_is_room_for_is_refused(void **state)
{
	const struct code_rule rule = pattern("a", "x", CODE_ANYWHERE);
	const struct screening_rules all = { "python", &rule, 1 };
	struct screening *s;
	struct screening_room *room;
	struct screening_hits hits;
	struct error e;
	size_t which;

	(void)state;
	assert_int_equal(screening_compile(&all, &s, &which, &e), 0);
	assert_int_equal(screening_room(&s, 1, 4, &room, &e), 0);
	memcpy(screening_text(room), "abcx", 4);
	assert_int_equal(screening_scan(s, room, 4, &hits, &e), 0);
	assert_int_equal(hits.n, 1);
	assert_int_equal(screening_scan(s, room, 5, &hits, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(screening_scan(s, room, 0, &hits, &e), 0);
	assert_int_equal(hits.n, 0);
	screening_room_free(room);
	screening_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imports_are_found_in_every_form),
		cmocka_unit_test(what_only_looks_like_an_import_is_none),
		cmocka_unit_test(tricks_of_spelling_do_not_hide_an_import),
		cmocka_unit_test(what_no_reading_can_decide_is_missed),
		cmocka_unit_test(the_verdict_table_holds),
		cmocka_unit_test(a_hit_tells_its_line_and_where_it_ends),
		cmocka_unit_test(both_ways_of_reading_count),
		cmocka_unit_test(an_unknown_language_has_only_any),
		cmocka_unit_test(patterns_that_cannot_be_taken_are_named),
		cmocka_unit_test(more_than_there_is_room_for_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
