/*
 * policy/learn_modules.c - whose module a file is.  Linked by bailiff-policy;
 * pure: by the patterns of the language's data, on paths of the view.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "policy/learn_parts.h"

/* The longest directory of the language that the path lies in. */
static const char *beneath(const struct language_modules *m, const char *path)
{
	const char *found = NULL;

	for (size_t i = 0; i < m->n_directories; i++) {
		char dir[POLICY_PATH_MAX];

		for (const char *slash = strchr(path + 1, '/'); slash != NULL;
		     slash = strchr(slash + 1, '/')) {
			size_t len = (size_t)(slash - path);

			if (len >= sizeof(dir))
				break;
			memcpy(dir, path, len);
			dir[len] = '\0';
			if (fnmatch(m->directories[i], dir, FNM_PATHNAME) ==
			        0 &&
			    (found == NULL || slash + 1 > found))
				found = slash + 1;
		}
	}
	return found;
}

/* Of "__pycache__/x.cpython-311.pyc", "x.py", "x/sub/y.py": "x". */
bool learn_module(const struct language_modules *m, const char *path,
    char ret[POLICY_NAME_MAX])
{
	static const char cache[] = "__pycache__/";
	const char *at;
	size_t n = 0;

	if (m->n_directories == 0 || path[0] != '/')
		return false;
	at = beneath(m, path);
	if (at == NULL)
		return false;
	if (strncmp(at, cache, sizeof(cache) - 1) == 0)
		at += sizeof(cache) - 1;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	/* A directory without a file of its own is a module too. */
	if (n == 0 || n >= POLICY_NAME_MAX || isdigit((unsigned char)at[0]) ||
	    (at[n] != '/' && at[n] != '.' && at[n] != '\0') ||
	    (n == sizeof(cache) - 2 && strncmp(at, cache, n) == 0))
		return false;
	memcpy(ret, at, n);
	ret[n] = '\0';
	return true;
}

static bool has(
    const char (*names)[POLICY_NAME_MAX], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_there(const struct policy_language *l, const char *name)
{
	return !has(l->denied, l->n_denied, name) &&
	       (!l->has_only || has(l->only, l->n_only, name));
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

void learn_modules_least(struct learn *l, struct learn_language *of)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n_modules; i++) {
		if (is_there(of->of, of->modules[i])) {
			memmove(of->modules[n++], of->modules[i],
			    sizeof(of->modules[0]));
			continue;
		}
		learn_note(l,
		    "%s: left out: module %s, which the policy %s does not "
		    "have",
		    of->of->language.name, of->modules[i], l->policy->name);
	}
	of->n_modules = n;
	if (n > 0)
		qsort(of->modules, n, sizeof(of->modules[0]), compare);
}

size_t learn_modules_check(struct learn *l, const struct learn_language *of)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n_modules; i++) {
		if (is_there(of->of, of->modules[i]))
			continue;
		n++;
		learn_note(l, "%s: would be absent: module %s",
		    of->of->language.name, of->modules[i]);
	}
	return n;
}
