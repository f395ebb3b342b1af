/*
 * fuzz/fuzz_path.c - paths as text, against a model that splits at slashes and
 * looks at words.  An input is a root and a path, each up to its NUL.
 */
#include <string.h>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "policy/path.h"
#include "policy/policy.h"

#define TEXT_MAX (2 * POLICY_PATH_MAX)

/* Escaping changes it; a backslash is a letter like any other. */
static bool is_odd(const char *text)
{
	static char shown[4 * TEXT_MAX];
	struct text_out out = { shown, sizeof(shown), 0 };

	for (const char *at = text; *at != '\0'; at++) {
		size_t n = strcspn(at, "\\");

		if (n > 0) {
			out.len = 0;
			MUST(text_escape(at, n, TEXT_KEEP_NONE, &out) == n);
			if (out.len != n || memcmp(shown, at, n) != 0)
				return true;
		}
		at += n;
		if (*at == '\0')
			break;
	}
	return false;
}

static unsigned int model(const char *path)
{
	unsigned int faults = path[0] == '/' ? 0 : PATH_NOT_ABSOLUTE;
	const char *word = path;

	for (const char *at = path;; at++) {
		size_t n = (size_t)(at - word);

		if (*at != '/' && *at != '\0')
			continue;
		if (n == 2 && word[0] == '.' && word[1] == '.')
			faults |= PATH_TRAVERSAL;
		if ((n == 1 && word[0] == '.') || (n == 0 && word != path) ||
		    n > 255)
			faults |= PATH_COMPONENT;
		if (*at == '\0')
			break;
		word = at + 1;
	}
	if (strlen(path) > 4095 || is_odd(path))
		faults |= PATH_COMPONENT;
	return faults;
}

static void check_name(const char *name)
{
	bool odd = is_odd(name);

	if (path_is_name(name))
		MUST(strchr(name, '/') == NULL && !odd && name[0] != '.' &&
		     name[0] != '-' && strlen(name) <= 255 && name[0] != '\0');
	else
		MUST(strchr(name, '/') != NULL || odd || name[0] == '.' ||
		     name[0] == '-' || strlen(name) > 255 || name[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char root[TEXT_MAX + 1];
	static char path[TEXT_MAX + 1];
	const char *rest;
	size_t n;

	if (size > TEXT_MAX)
		return 0;
	memcpy(root, data, size);
	root[size] = '\0';
	n = strlen(root);
	memcpy(path, root + (n < size ? n + 1 : n), size - n + (n == size));
	path[size - n] = '\0';
	check_name(root);
	check_name(path);
	MUST(path_judge(root) == model(root));
	MUST(path_judge(path) == model(path));
	if (model(root) != 0 || model(path) != 0)
		return 0;
	rest = path_beneath(root, path);
	if (strncmp(path, root, n) == 0 && path[n] == '/')
		MUST(rest == path + n + 1);
	else
		MUST(rest == NULL);
	return 0;
}
