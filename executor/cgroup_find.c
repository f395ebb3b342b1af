/*
 * executor/cgroup_find.c - the pure part of cgroup.h: texts of the kernel to
 * places and a mode.  Linked by bailiff-launch.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/cgroup_find.h"

/* Is 'word' one of the words of 'list' separated by 'separators'? */
static bool has_word(const char *list, const char *separators, const char *word)
{
	size_t len = strlen(word);

	while (*list != '\0') {
		size_t n = strcspn(list, separators);

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n;
		list += strspn(list, separators);
	}
	return false;
}

/* One line of mountinfo; pointers into it. */
struct line {
	char *root, *point, *type, *options;
};

/*
 * "id parent major:minor root point options [optional...] - type source
 * options": the optional fields are why the dash is looked for.
 */
static bool split(char *text, struct line *ret)
{
	char *words[64] = { NULL };
	char *rest = NULL;
	size_t n = 0;
	size_t dash = 0;

	for (char *w = strtok_r(text, " ", &rest); w != NULL && n < 64;
	     w = strtok_r(NULL, " ", &rest))
		words[n++] = w;
	for (size_t i = 6; i < n && dash == 0; i++)
		if (strcmp(words[i], "-") == 0)
			dash = i;
	if (dash == 0 || dash + 3 >= n)
		return false;
	*ret = (struct line){ words[3], words[4], words[dash + 1],
		words[dash + 3] };
	return true;
}

static void take(
    const struct line *l, enum cgroup_tree tree, struct cgroup_places *ret)
{
	char *place = ret->path[tree];

	/* Blanks and the like are escaped; no cgroup mount needs them. */
	if (place[0] != '\0' || strchr(l->point, '\\') != NULL ||
	    strlen(l->point) >= CGROUP_PATH_MAX)
		return;
	(void)snprintf(place, CGROUP_PATH_MAX, "%s", l->point);
}

static void judge_line(const struct line *l, struct cgroup_places *ret)
{
	if (strcmp(l->type, "cgroup2") == 0)
		take(l, CGROUP_UNIFIED, ret);
	if (strcmp(l->type, "cgroup") != 0)
		return;
	if (has_word(l->options, ",", "memory"))
		take(l, CGROUP_MEMORY, ret);
	if (has_word(l->options, ",", "pids"))
		take(l, CGROUP_PIDS, ret);
}

void cgroup_find(const char *mountinfo, struct cgroup_places *ret)
{
	char text[4096];

	memset(ret, 0, sizeof(*ret));
	while (*mountinfo != '\0') {
		size_t len = strcspn(mountinfo, "\n");
		struct line line;

		/* A longer line is an overlay's, never a cgroup's. */
		if (len < sizeof(text)) {
			memcpy(text, mountinfo, len);
			text[len] = '\0';
			if (split(text, &line))
				judge_line(&line, ret);
		}
		mountinfo += len;
		mountinfo += *mountinfo == '\n' ? 1 : 0;
	}
}

bool cgroup_has_word(const char *text, const char *word)
{
	return has_word(text, " \n", word);
}

/* "4:memory:/a/b", and of the v2 tree "0::/a/b". */
static bool is_of(const char *line, enum cgroup_tree tree)
{
	static const char *const names[] = {
		[CGROUP_MEMORY] = "memory", [CGROUP_PIDS] = "pids"
	};
	char list[256];
	size_t n;

	if (tree == CGROUP_UNIFIED)
		return strncmp(line, "0::", 3) == 0;
	line += strcspn(line, ":\n");
	line += *line == ':' ? 1 : 0;
	n = strcspn(line, ":\n");
	if (n >= sizeof(list))
		return false;
	memcpy(list, line, n);
	list[n] = '\0';
	return has_word(list, ",", names[tree]);
}

bool cgroup_own_path(
    const char *self_cgroup, enum cgroup_tree tree, char ret[CGROUP_PATH_MAX])
{
	const char *line = self_cgroup;
	const char *path;
	size_t len;

	while (*line != '\0' && !is_of(line, tree)) {
		line += strcspn(line, "\n");
		line += *line == '\n' ? 1 : 0;
	}
	path = strchr(line, '/');
	len = path != NULL && path < line + strcspn(line, "\n")
	          ? strcspn(path, "\n")
	          : CGROUP_PATH_MAX;
	/* Outside of our cgroup namespace the path climbs. */
	if (len >= CGROUP_PATH_MAX || strncmp(path, "/..", 3) == 0)
		return false;
	if (len == 1)
		len = 0;
	memcpy(ret, path, len);
	ret[len] = '\0';
	return true;
}

bool cgroup_only_ours(const char *procs, const struct cgroup_ours *ours)
{
	while (*procs != '\0') {
		char *rest;
		long pid = strtol(procs, &rest, 10);

		if (rest == procs || *rest != '\n' ||
		    (pid != ours->launcher && pid != ours->supervisor))
			return false;
		procs = rest + 1;
	}
	return true;
}

int cgroup_judge(const struct cgroup_places *places, const char *controllers,
    enum cgroup_mode *ret, struct error *e)
{
	bool unified = places->path[CGROUP_UNIFIED][0] != '\0';

	if (unified && cgroup_has_word(controllers, "memory") &&
	    cgroup_has_word(controllers, "pids")) {
		*ret = CGROUP_V2;
		return 0;
	}
	if (places->path[CGROUP_MEMORY][0] == '\0')
		return FAIL(e, ERROR_UNAVAILABLE,
		    "no memory controller, neither in a v2 nor in a v1 tree");
	if (places->path[CGROUP_PIDS][0] == '\0')
		return FAIL(e, ERROR_UNAVAILABLE,
		    "no pids controller, neither in a v2 nor in a v1 tree");
	*ret = unified ? CGROUP_HYBRID : CGROUP_V1;
	return 0;
}

const char *cgroup_mode_word(enum cgroup_mode mode)
{
	static const char *const words[] = { [CGROUP_V2] = "v2",
		[CGROUP_HYBRID] = "hybrid",
		[CGROUP_V1] = "v1" };

	return words[mode];
}
