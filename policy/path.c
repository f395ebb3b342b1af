/*
 * policy/path.c - paths as text.  Linked by bailiff-policy and the supervisor;
 * pure.  Every path is hostile.
 */
#include "policy/path.h"

#include <string.h>

#include "policy/reader.h"

struct component {
	const char *at;
	size_t len;
};

/* The component at *path, which then stands behind its slash, or is NULL. */
static struct component next_component(const char **path)
{
	struct component c = { *path, (size_t)(strchrnul(*path, '/') - *path) };

	*path = c.at[c.len] == '/' ? c.at + c.len + 1 : NULL;
	return c;
}

static bool is_word(struct component c, const char *word)
{
	return c.len == strlen(word) && memcmp(c.at, word, c.len) == 0;
}

unsigned int path_judge(const char *path)
{
	unsigned int faults = path[0] == '/' ? PATH_FINE : PATH_NOT_ABSOLUTE;
	const char *rest = path;

	while (rest != NULL) {
		struct component c = next_component(&rest);

		if (is_word(c, ".."))
			faults |= PATH_TRAVERSAL;
		/* Only the first may be empty: it stands before the root. */
		if ((c.len == 0 && c.at != path) || is_word(c, ".") ||
		    c.len > PATH_NAME_MAX)
			faults |= PATH_COMPONENT;
	}
	if (strlen(path) >= POLICY_PATH_MAX || !reader_plain(path))
		faults |= PATH_COMPONENT;
	return faults;
}

/*
 * Both are clean, so a root's components are the first of the path exactly when
 * its bytes are and a slash stands behind them: "/data" is no part of "/data2".
 */
const char *path_beneath(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (strncmp(path, root, n) != 0 || path[n] != '/')
		return NULL;
	return path + n + 1;
}

bool path_is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= PATH_NAME_MAX && strchr(name, '/') == NULL &&
	       name[0] != '.' && name[0] != '-' && reader_plain(name);
}
