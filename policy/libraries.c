/*
 * policy/libraries.c - names of libraries.  Linked by bailiff-policy and the
 * supervisor; pure.  Texts of requests are hostile; names of files are the
 * operator's.
 */
#include "policy/libraries.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#define DIGITS  "0123456789"
#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define BETWEEN "._-"

static bool is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static bool is_name(const char *text, size_t n, bool folds)
{
	const char *ends = folds ? DIGITS LOWER UPPER : DIGITS LOWER;

	if (n == 0 || n >= POLICY_NAME_MAX || !is_one_of(text[0], ends) ||
	    !is_one_of(text[n - 1], ends))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_one_of(text[i], ends) && !is_one_of(text[i], BETWEEN))
			return false;
	return true;
}

static bool is_version(const char *text, size_t n)
{
	if (n == 0 || n >= POLICY_NAME_MAX ||
	    !is_one_of(text[0], DIGITS LOWER UPPER))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_one_of(text[i], DIGITS LOWER UPPER BETWEEN "+!"))
			return false;
	return true;
}

/* PEP 503, "Normalized Names". */
static void fold(const char *from, size_t n, char ret[POLICY_NAME_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		char c = from[i];

		if (is_one_of(c, BETWEEN)) {
			if (used == 0 || ret[used - 1] != '-')
				ret[used++] = '-';
			continue;
		}
		if (is_one_of(c, UPPER))
			c = LOWER[c - 'A'];
		ret[used++] = c;
	}
	ret[used] = '\0';
}

static void keep_name(
    bool folds, const char *from, size_t n, struct library *ret)
{
	if (folds) {
		fold(from, n, ret->name);
		return;
	}
	memcpy(ret->name, from, n);
	ret->name[n] = '\0';
}

bool library_parse(bool folds, const char *text, struct library *ret)
{
	const char *sign = strstr(text, "==");
	size_t n = sign != NULL ? (size_t)(sign - text) : strlen(text);
	struct library found = { .version = "" };

	if (!is_name(text, n, folds))
		return false;
	keep_name(folds, text, n, &found);
	if (sign != NULL) {
		if (!is_version(sign + 2, strlen(sign + 2)))
			return false;
		memcpy(found.version, sign + 2, strlen(sign + 2) + 1);
	}
	*ret = found;
	return true;
}

bool library_is_allowed(
    const struct policy_language *l, const struct library *asked)
{
	for (size_t i = 0; i < l->n_libraries; i++) {
		const struct library *may = &l->libraries[i];

		if (strcmp(may->name, asked->name) != 0)
			continue;
		/* Only allowed files are there to be installed, so that a request
		 * without a version gets an allowed one. */
		if (may->version[0] == '\0' || asked->version[0] == '\0' ||
		    strcmp(may->version, asked->version) == 0)
			return true;
	}
	return false;
}

bool library_of_file(const struct policy_language *l, const char *name)
{
	regmatch_t parts[3];
	regex_t pattern;
	struct library file = { .version = "" };
	size_t n;
	bool fits;

	if (regcomp(&pattern, l->language.installer.files, REG_EXTENDED) != 0)
		return false;
	fits = regexec(&pattern, name, 3, parts, 0) == 0 &&
	       parts[1].rm_so >= 0 && parts[2].rm_so >= 0;
	regfree(&pattern);
	if (!fits)
		return false;
	n = (size_t)(parts[2].rm_eo - parts[2].rm_so);
	if (!is_version(name + parts[2].rm_so, n))
		return false;
	memcpy(file.version, name + parts[2].rm_so, n);
	n = (size_t)(parts[1].rm_eo - parts[1].rm_so);
	if (!is_name(name + parts[1].rm_so, n, l->language.installer.folds))
		return false;
	keep_name(l->language.installer.folds, name + parts[1].rm_so, n, &file);
	return library_is_allowed(l, &file);
}

void library_text(const struct library *library, char ret[LIBRARY_TEXT_MAX])
{
	(void)snprintf(ret, LIBRARY_TEXT_MAX, "%s%s%s", library->name,
	    library->version[0] != '\0' ? "==" : "", library->version);
}

bool library_any(const struct policy_language *l)
{
	return l->n_libraries > 0;
}
