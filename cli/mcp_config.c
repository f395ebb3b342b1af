/*
 * cli/mcp_config.c - `bailiff mcp --print-config`.  Linked by `bailiff`.  A
 * client passes few variables of its environment on and starts servers in any
 * directory, so every path it is given is absolute.
 */
#include "cli/mcp_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/say.h"
#include "executor/service.h"

#define CONFIG_MAX 65536

enum shape {
	SHAPE_COMMAND, /* a command line */
	SHAPE_JSON,    /* {"mcpServers": ...} */
	SHAPE_VSCODE,  /* {"servers": ...} */
	SHAPE_TOML
};

static const struct client {
	const char *name;
	enum shape shape;
	const char *where;
} clients[] = {
	{ "claude-code", SHAPE_COMMAND, "run this" },
	{ "claude-desktop", SHAPE_JSON,
	    "merge into claude_desktop_config.json (Settings, Developer)" },
	{ "codex", SHAPE_TOML, "append to ~/.codex/config.toml" },
	{ "cursor", SHAPE_JSON, "merge into ~/.cursor/mcp.json" },
	{ "gemini", SHAPE_JSON, "merge into ~/.gemini/settings.json" },
	{ "vscode", SHAPE_VSCODE, "merge into .vscode/mcp.json" },
};
#define N_CLIENTS (sizeof(clients) / sizeof(clients[0]))

struct words {
	char *word[6]; /* owned: program, mcp, and options */
	size_t n;
};

static int add(struct words *w, const char *text, struct error *e)
{
	w->word[w->n] = strdup(text);
	if (w->word[w->n] == NULL)
		return FAIL_SYS(e, "no memory");
	w->n++;
	return 0;
}

/* A path that may not exist yet: its directory's real one, and its name. */
static int add_path(
    struct words *w, const char *option, const char *path, struct error *e)
{
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *whole = NULL;
	AUTO_FREE char *cwd = NULL;

	if (path == NULL)
		return 0;
	real = realpath(path, NULL);
	if (real == NULL && errno != ENOENT)
		return FAIL_SYS(e, "%s %.200s", option, path);
	if (real == NULL && path[0] != '/') {
		cwd = getcwd(NULL, 0);
		if (cwd == NULL || asprintf(&whole, "%s/%s", cwd, path) < 0)
			return FAIL_SYS(e, "%s %.200s", option, path);
	}
	if (add(w, option, e) < 0)
		return -1;
	return add(w, real != NULL ? real : whole != NULL ? whole : path, e);
}

static int fill(
    struct words *w, const struct front_place *place, struct error *e)
{
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);

	if (self == NULL)
		return FAIL_SYS(e, "the path of this program");
	if (add(w, self, e) < 0 || add(w, "mcp", e) < 0 ||
	    add_path(w, "--policy", place->policy, e) < 0)
		return -1;
	return add_path(w, "--state", place->state, e);
}

/* Quoted for a shell: 'a'\''b'. */
static int put_shell(struct text_out *out, const char *word, struct error *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789/._-";
	int failed;

	if (word[0] != '\0' && strspn(word, plain) == strlen(word))
		return text_printf(out, e, " %s", word);
	failed = text_printf(out, e, " '");
	for (; *word != '\0' && failed == 0; word++)
		failed = *word == '\'' ? text_printf(out, e, "'\\''")
		                       : text_printf(out, e, "%c", *word);
	return failed == 0 ? text_printf(out, e, "'") : -1;
}

static int put_list(
    struct text_out *out, const struct words *w, struct error *e)
{
	for (size_t i = 1; i < w->n; i++)
		if ((i > 1 && text_printf(out, e, ", ") < 0) ||
		    text_json_string(w->word[i], strlen(w->word[i]), out, e) <
		        0)
			return -1;
	return 0;
}

static int put_command(
    struct text_out *out, const struct words *w, struct error *e)
{
	int failed = text_printf(out, e, "claude mcp add bailiff --");

	for (size_t i = 0; i < w->n && failed == 0; i++)
		failed = put_shell(out, w->word[i], e);
	return failed == 0 ? text_printf(out, e, "\n") : -1;
}

static int put_object(struct text_out *out, const struct words *w,
    const char *key, struct error *e)
{
	if (text_printf(out, e, "{\n  \"%s\": {\n    \"bailiff\": {\n%s", key,
	        strcmp(key, "servers") == 0 ? "      \"type\": \"stdio\",\n"
	                                    : "") < 0 ||
	    text_printf(out, e, "      \"command\": ") < 0 ||
	    text_json_string(w->word[0], strlen(w->word[0]), out, e) < 0 ||
	    text_printf(out, e, ",\n      \"args\": [") < 0 ||
	    put_list(out, w, e) < 0)
		return -1;
	return text_printf(out, e, "]\n    }\n  }\n}\n");
}

/* A JSON string of printable text is a basic string of TOML too. */
static int put_toml(
    struct text_out *out, const struct words *w, struct error *e)
{
	if (text_printf(out, e, "[mcp_servers.bailiff]\ncommand = ") < 0 ||
	    text_json_string(w->word[0], strlen(w->word[0]), out, e) < 0 ||
	    text_printf(out, e, "\nargs = [") < 0 || put_list(out, w, e) < 0)
		return -1;
	return text_printf(out, e, "]\n");
}

static int put(struct text_out *out, const struct words *w, enum shape shape,
    struct error *e)
{
	switch (shape) {
	case SHAPE_COMMAND:
		return put_command(out, w, e);
	case SHAPE_VSCODE:
		return put_object(out, w, "servers", e);
	case SHAPE_TOML:
		return put_toml(out, w, e);
	case SHAPE_JSON:
	default:
		return put_object(out, w, "mcpServers", e);
	}
}

static int print(const struct client *c, const struct words *w)
{
	AUTO_FREE char *data = malloc(CONFIG_MAX);
	struct text_out out = { data, CONFIG_MAX, 0 };
	struct error e = { .text = "no memory" };

	if (data == NULL || put(&out, w, c->shape, &e) < 0)
		return say_failed(&e, 1);
	/* To a person; what a program may read stands alone on stdout. */
	say_line("%s: %s", c->name, c->where);
	return say_out(data, out.len);
}

int mcp_config_print(const char *client, const struct front_place *place)
{
	struct words w = { .n = 0 };
	struct error e;
	int code = EXIT_USAGE;

	for (size_t i = 0; i < N_CLIENTS; i++) {
		if (strcmp(clients[i].name, client) != 0)
			continue;
		code = fill(&w, place, &e) < 0 ? say_failed(&e, 1)
		                               : print(&clients[i], &w);
		for (size_t j = 0; j < w.n; j++)
			free(w.word[j]);
		return code;
	}
	say_line("unknown client '%.80s'; there is claude-code, "
	         "claude-desktop, codex, cursor, gemini, vscode",
	    client);
	return code;
}
