/*
 * policy/absent.c - denied modules on this host.  Linked by bailiff-policy and
 * the supervisor.  It trusts the host's toolchain directories: root's, as what
 * runs from them is.
 */
#include "policy/absent_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/parse.h"

#define INTERPRETER_MAX (256u << 20)

/* Whatever glob(3) finds; its failures are none of a policy's business but
 * lack of memory. */
static int expand(const char *pattern, glob_t *ret, struct error *e)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	int why = glob(pattern, GLOB_NOESCAPE, NULL, ret);

	if (why == 0 || why == GLOB_NOMATCH)
		return 0;
	globfree(ret);
	return FAIL(e, ERROR_SYSTEM, "look for %s: %s", pattern,
	    why == GLOB_NOSPACE ? "out of memory" : "cannot be read");
}

bool absent_has_builtin(const struct absent_finder *f, const char *name)
{
	for (size_t i = 0; i < f->n_builtins; i++)
		if (strcmp(f->builtins[i], name) == 0)
			return true;
	return false;
}

static int add_builtin(struct absent_finder *f, const char *name, size_t len)
{
	char text[POLICY_NAME_MAX];

	if (len == 0 || len >= sizeof(text))
		return 0; /* no name that a policy can write */
	memcpy(text, name, len);
	text[len] = '\0';
	if (absent_has_builtin(f, text))
		return 0;
	if (f->n_builtins == ABSENT_BUILTINS_MAX)
		return FAIL(f->e, ERROR_LIMIT, "more than %d modules inside",
		    ABSENT_BUILTINS_MAX);
	memcpy(f->builtins[f->n_builtins++], text, len + 1);
	return 0;
}

/* Every text that begins with 'mark', up to its NUL: a name of a symbol. */
static int scan_marks(
    struct absent_finder *f, const char *data, size_t len, const char *mark)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *end = data + len;
	size_t n = strlen(mark);

	for (const char *at = data; at < end; at++) {
		const char *name;

		at = memmem(at, (size_t)(end - at), mark, n);
		if (at == NULL)
			return 0;
		name = at + n;
		at = name;
		while (at < end && *at != '\0' && strchr(letters, *at) != NULL)
			at++;
		if (at < end && *at == '\0' &&
		    add_builtin(f, name, (size_t)(at - name)) < 0)
			return -1;
	}
	return 0;
}

static int read_interpreter(struct absent_finder *f, const char *path)
{
	const char *mark = f->a->language->language.modules.mark;
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	void *data;
	int ret;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(f->e, "open %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	if (st.st_size > (off_t)INTERPRETER_MAX)
		return FAIL(f->e, ERROR_LIMIT, "%s: too long to look at", path);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return FAIL_SYS(f->e, "map %s", path);
	f->n_read++;
	ret = scan_marks(f, data, (size_t)st.st_size, mark);
	(void)munmap(data, (size_t)st.st_size);
	return ret;
}

static int find_builtins(struct absent_finder *f)
{
	const struct language_modules *m = &f->a->language->language.modules;

	for (size_t i = 0; i < m->n_inside; i++)
		if (add_builtin(f, m->inside[i], strlen(m->inside[i])) < 0)
			return -1;
	for (size_t i = 0; m->mark[0] != '\0' && i < m->n_interpreters; i++) {
		glob_t found;
		int failed = expand(m->interpreters[i], &found, f->e);

		if (failed < 0)
			return -1;
		for (size_t j = 0; failed == 0 && j < found.gl_pathc; j++)
			failed = read_interpreter(f, found.gl_pathv[j]);
		globfree(&found);
		if (failed < 0)
			return -1;
	}
	/* A stripped one would make everything look as if it were in files. */
	if (f->n_read > 0 && f->n_builtins == m->n_inside)
		return FAIL(f->e, ERROR_UNAVAILABLE,
		    "no interpreter of %s says by symbols (%s...) which "
		    "modules "
		    "it holds: modules cannot be denied on this host",
		    f->a->language->language.name, m->mark);
	return 0;
}

/* "/usr/lib/python3.11/x.py", where the directory may be reached by links. */
int absent_add_path(struct absent_finder *f, const char *path, size_t first)
{
	struct absent *a = f->a;
	const char *base = strrchr(path, '/');
	int n;

	(void)snprintf(
	    f->dir, sizeof(f->dir), "%.*s", (int)(base - path), path);
	if (realpath(f->dir, f->real) == NULL)
		return FAIL_SYS(f->e, "resolve %s", f->dir);
	if (a->n_paths == ABSENT_PATHS_MAX)
		return FAIL(f->e, ERROR_LIMIT,
		    "denied modules have more than %d files", ABSENT_PATHS_MAX);
	n = snprintf(
	    a->paths[a->n_paths], ABSENT_PATH_MAX, "%s%s", f->real, base);
	if (n < 0 || n >= ABSENT_PATH_MAX)
		return FAIL(f->e, ERROR_LIMIT, "%s: path too long", path);
	for (size_t i = first; i < a->n_paths; i++)
		if (strcmp(a->paths[i], a->paths[a->n_paths]) == 0)
			return 0;
	a->n_paths++;
	return 0;
}

/* The pattern of one file of "a.b": DIR/a/ and what 'file' says of "b". */
static int make_pattern(struct absent_finder *f, const char *dir,
    const char *file, const char *name)
{
	const char *mark = strstr(file, ABSENT_NAME_MARK);
	const char *last = strrchr(name, '.');
	size_t n;

	last = last != NULL ? last + 1 : name;
	n = (size_t)snprintf(f->pattern, sizeof(f->pattern), "%s/%.*s%.*s%s%s",
	    dir, (int)(last - name), name, (int)(mark - file), file, last,
	    mark + strlen(ABSENT_NAME_MARK));
	if (n >= sizeof(f->pattern))
		return FAIL(f->e, ERROR_LIMIT, "%s: pattern too long", dir);
	for (char *at = f->pattern + strlen(dir) + 1;
	     at < f->pattern + strlen(dir) + 1 + (last - name); at++)
		if (*at == '.')
			*at = '/';
	return 0;
}

static int find_files(
    struct absent_finder *f, const char *dir, const char *name)
{
	const struct language_modules *m = &f->a->language->language.modules;
	/* Of this module; what another one has as well stands there too. */
	size_t first = f->a->modules[f->a->n_modules - 1].first;

	for (size_t i = 0; i < m->n_files; i++) {
		glob_t found;
		int failed = make_pattern(f, dir, m->files[i], name);

		if (failed < 0 || expand(f->pattern, &found, f->e) < 0)
			return -1;
		for (size_t j = 0; failed == 0 && j < found.gl_pathc; j++)
			failed = absent_add_path(f, found.gl_pathv[j], first);
		globfree(&found);
		if (failed < 0)
			return -1;
	}
	return 0;
}

static const char *find_answer(
    const struct language_modules *m, const char *name)
{
	for (size_t i = 0; i < m->n_answers; i++)
		if (strcmp(m->answers[i].module, name) == 0)
			return parse_capability_names
			    .items[m->answers[i].capability];
	return NULL;
}

static bool is_given(const struct capabilities *c, const char *capability)
{
	for (size_t i = 0; i < parse_capability_names.n; i++)
		if (strcmp(parse_capability_names.items[i], capability) == 0)
			return parse_capability(c, i);
	return true;
}

/* Of the module and of its other half, which has an underscore in front. */
static void judge(struct absent_finder *f, struct absent_module *module)
{
	const struct policy_language *l = f->a->language;
	char half[POLICY_NAME_MAX + 1];

	(void)snprintf(half, sizeof(half), "_%s", module->name);
	if (!absent_has_builtin(f, module->name) &&
	    !absent_has_builtin(f, half)) {
		module->way = module->n > 0 ? ABSENT_FILES : ABSENT_NOTHING;
		return;
	}
	/* It imports without its files, and an interpreter may need them. */
	if (absent_has_builtin(f, module->name)) {
		f->a->n_paths = module->first;
		module->n = 0;
	}
	module->capability = find_answer(&l->language.modules, module->name);
	module->way = module->capability != NULL &&
	                      !is_given(&l->capabilities, module->capability)
	                  ? ABSENT_CAPABILITY
	                  : ABSENT_NEITHER;
}

static int find_module(
    struct absent_finder *f, const glob_t *dirs, const char *name)
{
	struct absent *a = f->a;
	struct absent_module *module = &a->modules[a->n_modules++];

	*module = (struct absent_module){ .name = name, .first = a->n_paths };
	for (size_t i = 0; i < dirs->gl_pathc; i++)
		if (find_files(f, dirs->gl_pathv[i], name) < 0)
			return -1;
	module->n = a->n_paths - module->first;
	judge(f, module);
	return 0;
}

int absent_find_dirs(
    const struct language_modules *m, glob_t *ret, struct error *e)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < m->n_directories; i++) {
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
		int why = glob(m->directories[i],
		    GLOB_NOESCAPE | GLOB_ONLYDIR | (i > 0 ? GLOB_APPEND : 0),
		    NULL, ret);

		if (why != 0 && why != GLOB_NOMATCH)
			return FAIL(
			    e, ERROR_SYSTEM, "look for %s", m->directories[i]);
	}
	return 0;
}

static int find_all(struct absent_finder *f)
{
	const struct policy_language *l = f->a->language;
	glob_t dirs;
	int failed = absent_find_dirs(&l->language.modules, &dirs, f->e);

	for (size_t i = 0; failed == 0 && i < l->n_denied; i++)
		failed = find_module(f, &dirs, l->denied[i]);
	if (failed == 0 && l->has_only)
		failed = absent_find_others(f, &dirs);
	globfree(&dirs);
	return failed;
}

bool absent_has_any(const struct policy_language *l)
{
	return l->n_denied > 0 || l->has_only;
}

int absent_find(
    const struct policy_language *l, struct absent *ret, struct error *e)
{
	struct absent_finder *f;
	int failed;

	ret->language = l;
	ret->n_modules = 0;
	ret->n_paths = 0;
	ret->n_others = 0;
	if (!absent_has_any(l))
		return 0;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return FAIL_SYS(e, "look for denied modules");
	f->a = ret;
	f->e = e;
	failed = find_builtins(f);
	if (failed == 0)
		failed = find_all(f);
	free(f);
	return failed < 0 ? FAIL_IN(e, "denied modules") : 0;
}

const char *absent_way_word(enum absent_way way)
{
	static const char *const words[] = { "nothing", "absent", "capability",
		"refused" };

	return words[way];
}

bool absent_is_screened(
    const struct policy_language *l, const struct code_rule *rule)
{
	if (!rule->is_module || rule->action != CODE_DENY)
		return false;
	for (size_t i = 0; i < l->n_denied; i++)
		if (strcmp(l->denied[i], rule->text) == 0)
			return false;
	return true;
}

void absent_reason(const struct absent_module *module,
    const struct policy_language *l, char *ret, size_t cap)
{
	if (module->capability != NULL)
		(void)snprintf(ret, cap,
		    "module %s is part of the interpreter of %s, and what it "
		    "does is allowed: set the capability %s to false, or do "
		    "not deny the module",
		    module->name, l->language.name, module->capability);
	else
		(void)snprintf(ret, cap,
		    "module %s is part of the interpreter of %s, and no "
		    "capability stops what it does: it cannot be denied",
		    module->name, l->language.name);
}

int absent_judge(const struct absent *a, struct error *e)
{
	char why[256];

	for (size_t i = 0; i < a->n_modules; i++) {
		if (a->modules[i].way != ABSENT_NEITHER)
			continue;
		absent_reason(&a->modules[i], a->language, why, sizeof(why));
		return FAIL(e, ERROR_UNAVAILABLE, "%s", why);
	}
	return 0;
}
