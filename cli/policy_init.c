/*
 * cli/policy_init.c - `bailiff policy init`: a preset as a file of one's own.
 * Linked by bailiff-policy.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/policy.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/load.h"

#define PRESETS_MAX 32
#define NODES_MAX   4096
#define DEPTH_MAX   16

enum row {
	ROW_PRESET,
	ROW_NAME,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_PRESET] = { "--preset", "NAME", "default, user (no root), strict, ...", false },
	[ROW_NAME] = { "--name", "NAME", "the policy's name, in records and replies", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff policy init",
	.usage = "--preset NAME [--name NAME] [FILE]",
	.about = "Write a preset to FILE (policy.json), to be changed.  A file "
	         "that is there\nis never overwritten.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0 written, 1 not written, 2 usage\n",
};

/* Too big for a stack; on the heap. */
struct work {
	/* Names of what lies in share/bailiff/policies. */
	size_t n;
	char names[PRESETS_MAX][POLICY_NAME_MAX];
	const char *items[PRESETS_MAX];
	char path[POLICY_PATH_MAX];
	struct policy_faults faults;
	struct policy_loaded loaded;
	struct scan_node nodes[NODES_MAX];
	struct text_out out;
	char text[POLICY_TEXT_MAX];
};

static int list_presets(struct work *w, struct error *e)
{
	const struct dirent *entry;
	DIR *dir;

	if (policy_place("policies", w->path, e) < 0)
		return -1;
	dir = opendir(w->path);
	if (dir == NULL)
		return FAIL_SYS(e, "%.200s", w->path);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while ((entry = readdir(dir)) != NULL && w->n < PRESETS_MAX) {
		size_t len = strlen(entry->d_name);
		size_t stem = len - strlen(".json");

		if (len <= strlen(".json") || stem >= POLICY_NAME_MAX ||
		    strcmp(entry->d_name + stem, ".json") != 0)
			continue;
		memcpy(w->names[w->n], entry->d_name, stem);
		w->items[w->n] = w->names[w->n];
		w->n++;
	}
	(void)closedir(dir);
	return 0;
}

/* One line: the nearest name, or all of them. */
static int unknown_preset(
    const char *name, const struct work *w, struct error *e)
{
	const char *nearest =
	    options_nearest(name, w->items, w->n, sizeof(w->items[0]));
	char all[256] = "";
	size_t len = 0;

	if (nearest != NULL)
		return FAIL(e, ERROR_USAGE,
		    "unknown preset '%.80s'; did you mean %s?", name, nearest);
	for (size_t i = 0; i < w->n && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
		    i > 0 ? ", " : "", w->items[i]);
	return FAIL(
	    e, ERROR_USAGE, "unknown preset '%.80s'; there are: %s", name, all);
}

/* Its path is then w->path. */
static int find_preset(const char *name, struct work *w, struct error *e)
{
	char file[POLICY_NAME_MAX + sizeof("policies/.json")];

	if (list_presets(w, e) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->names[i], name) != 0)
			continue;
		(void)snprintf(file, sizeof(file), "policies/%s.json", name);
		return policy_place(file, w->path, e);
	}
	return unknown_preset(name, w, e);
}

/* The preset's bytes with another name in them. */
static int put_renamed(
    struct work *w, const char *name, const struct scan *s, struct error *e)
{
	uint32_t node = scan_member(s, 0, "name");
	uint32_t behind;

	if (node == SCAN_NONE)
		return FAIL(e, ERROR_MALFORMED, "the preset has no name");
	behind = s->nodes[node].at + s->nodes[node].len;
	if (text_printf(&w->out, e, "%.*s", (int)s->nodes[node].at, s->text) <
	        0 ||
	    text_json_string(name, strlen(name), &w->out, e) < 0)
		return -1;
	return text_printf(
	    &w->out, e, "%.*s", (int)(s->len - behind), s->text + behind);
}

static int read_preset(struct work *w, const char *name, struct error *e)
{
	AUTO_FD fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_FREE uint8_t *data = NULL;
	struct scan s = {
		.nodes = w->nodes, .cap = NODES_MAX, .max_depth = DEPTH_MAX
	};

	if (fd < 0)
		return FAIL_SYS(e, "%.200s", w->path);
	if (file_read_all(fd, POLICY_TEXT_MAX, &data, &s.len, e) < 0)
		return FAIL_IN(e, "%.200s", w->path);
	s.text = (const char *)data;
	w->out = (struct text_out){ w->text, sizeof(w->text), 0 };
	if (name == NULL)
		return text_printf(&w->out, e, "%s", s.text);
	if (scan_parse(&s, e) < 0 || put_renamed(w, name, &s, e) < 0)
		return FAIL_IN(e, "--name");
	return 0;
}

/* As a service will read it: a name that no policy may have shows here. */
static int judge(const char *file, struct work *w, struct error *e)
{
	struct policy_places places = { file, w->path };

	if (policy_place("languages", w->path, e) < 0 ||
	    policy_load(&places, &w->loaded, &w->faults, e) < 0)
		return -1;
	policy_loaded_done(&w->loaded);
	return 0;
}

static int write_new(const char *file, struct work *w, struct error *e)
{
	AUTO_FD fd = open(
	    file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0 && errno == EEXIST)
		return FAIL(e, ERROR_STATE,
		    "%.200s is there already and is not overwritten; name "
		    "another file",
		    file);
	if (fd < 0)
		return FAIL_SYS(e, "%.200s", file);
	if (file_write_all(fd, w->text, w->out.len, e) == 0 &&
	    judge(file, w, e) == 0)
		return 0;
	(void)unlink(file);
	return -1;
}

static int init(
    const struct policy_words_given *given, struct work *w, struct error *e)
{
	const char *file =
	    given->operands[0] != NULL ? given->operands[0] : "policy.json";

	if (given->values[ROW_PRESET] == NULL)
		return FAIL(e, ERROR_USAGE,
		    "which preset? --preset default, user or strict");
	if (find_preset(given->values[ROW_PRESET], w, e) < 0 ||
	    read_preset(w, given->values[ROW_NAME], e) < 0)
		return -1;
	return write_new(file, w, e);
}

int policy_init_main(char **words)
{
	static const struct policy_words_want want = { &command, "FILE", 0, 1 };
	struct policy_words_given given;
	struct work *w;
	struct error e = { .kind = ERROR_NONE };
	int code = policy_words_take(&want, words, &given);

	if (code != POLICY_WORDS_GO_ON)
		return code;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	code = 0;
	if (init(&given, w, &e) < 0)
		code = say_failed(&e, e.kind == ERROR_USAGE ? EXIT_USAGE : 1);
	free(w);
	return code;
}
