/*
 * policy/glob.c - patterns.  Linked by bailiff-policy, the supervisor and
 * bailiff-collect; pure.  All states that a pattern can be in are followed at
 * once, so that no path makes it go back.
 */
#include "policy/glob.h"

#include <string.h>

/* Where in the pattern the path may stand so far. */
struct states {
	bool at[GLOB_MAX];
};

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && strchr("[]{}\\", c) == NULL;
}

static bool is_component(const char *at, size_t n)
{
	if (n == 0 || (n <= 2 && strspn(at, ".") >= n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_plain(at[i]))
			return false;
		if (i > 0 && at[i] == '*' && at[i - 1] == '*' && n != 2)
			return false;
	}
	return true;
}

bool glob_is_fine(const char *pattern)
{
	if (strlen(pattern) >= GLOB_MAX)
		return false;
	for (const char *at = pattern;; at++) {
		size_t n = strcspn(at, "/");

		if (!is_component(at, n))
			return false;
		at += n;
		if (*at == '\0')
			return true;
	}
}

static bool is_any_depth(const char *at)
{
	return at[0] == '*' && at[1] == '*';
}

/* A star may stand for nothing, and so may the component "**". */
static void reach(struct states *s, const char *pattern, size_t i)
{
	while (!s->at[i]) {
		s->at[i] = true;
		if (is_any_depth(pattern + i) && pattern[i + 2] == '/')
			i += 3;
		else if (pattern[i] == '*' && !is_any_depth(pattern + i))
			i++;
	}
}

/* What one byte leads to from place 'i' of the pattern. */
static void step(const char *pattern, size_t i, char c, struct states *to)
{
	const char *p = pattern + i;

	if (is_any_depth(p)) {
		/* Within a component nothing can follow it. */
		to->at[i] = true;
		if (c == '/' && p[2] == '/')
			reach(to, pattern, i + 3);
	} else if (*p == '*') {
		if (c != '/')
			reach(to, pattern, i);
	} else if (*p == c || (*p == '?' && c != '/')) {
		reach(to, pattern, i + 1);
	}
}

bool glob_matches(const char *pattern, const char *path, size_t len)
{
	struct states now = { { false } };
	size_t end = strlen(pattern);

	reach(&now, pattern, 0);
	for (size_t i = 0; i < len; i++) {
		struct states next = { { false } };

		for (size_t j = 0; j < end; j++)
			if (now.at[j])
				step(pattern, j, path[i], &next);
		now = next;
	}
	return now.at[end] ||
	       (end >= 2 && now.at[end - 2] && is_any_depth(pattern + end - 2));
}
