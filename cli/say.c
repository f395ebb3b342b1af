/*
 * cli/say.c - the lines of a command.  Linked by `bailiff` and the commands
 * behind it.  What it prints may hold names and texts of others.
 */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

#define RAW_MAX        3000
#define LINE_MAX_BYTES 4000

void say_line(const char *format, ...)
{
	static const char name[] = "bailiff: ";
	char raw[RAW_MAX];
	char line[LINE_MAX_BYTES];
	struct text_out out = { line, sizeof(line) - 1, 0 };
	struct error ignored;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	if (n < 0)
		return;
	memcpy(line, name, sizeof(name) - 1);
	out.len = sizeof(name) - 1;
	(void)text_escape(raw, strlen(raw), TEXT_KEEP_NONE, &out);
	line[out.len++] = '\n';
	/* Nobody is left to be told that nobody can be told. */
	if (file_write_all(STDERR_FILENO, line, out.len, &ignored) < 0)
		return;
}

int say_failed(const struct error *e, int exit_code)
{
	say_line("%s", e->text);
	return exit_code;
}

int say_out(const char *text, size_t len)
{
	struct error e;

	if (file_write_all(STDOUT_FILENO, text, len, &e) == 0)
		return 0;
	if (e.saved_errno != EPIPE)
		say_line("standard output: %s", e.text);
	return 1;
}
