/*
 * executor/supervisor_layers.c - what layers of runs are made from, once at
 * start: our own text as sealed files, and copies of the files of libraries.
 * Linked by the supervisor; runs as root, before any peer exists.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memfd.h"
#include "executor/supervisor.h"
#include "policy/libraries.h"

/* Another version of the toolchain has another file. */
static void identify(struct toolchain *t)
{
	char text[LAUNCH_PATH_MAX + 96];
	struct stat st = { .st_size = 0 };
	int n;

	if (!t->missing)
		(void)!stat(t->program, &st);
	n = snprintf(text, sizeof(text), "%s %jd %ju %jd.%09ld", t->program,
	    (intmax_t)st.st_size, (uintmax_t)st.st_ino,
	    (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	sha256_of(text, n > 0 ? (size_t)n : 0, t->identity);
}

static int seal_code(
    const struct language_layer *l, int *ret_fd, struct error *e)
{
	return memfd_of("code", l->code, strlen(l->code), ret_fd, e);
}

static int start_language(struct supervisor *s, size_t i, struct error *e)
{
	const struct policy_language *l = &s->policy->languages[i];
	struct toolchain *t = &s->toolchains[i];
	char id[64];

	identify(t);
	t->sources.layer.tree_fd = -1;
	if (seal_code(&l->language.installer.layer, &t->installer_fd, e) < 0)
		return -1;
	if (!library_any(l))
		return 0;
	(void)snprintf(id, sizeof(id), "%s-%zu", s->instance_hex, i);
	return sources_copy(s->state.layers_fd, id, l, &t->sources, e);
}

int supervisor_layers_start(struct supervisor *s, struct error *e)
{
	if (layers_prune(s->state.layers_fd, e) < 0 ||
	    memfd_of("nothing", "", 0, &s->nothing_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < s->policy->n_languages; i++)
		if (start_language(s, i, e) < 0)
			return FAIL_IN(e, "language %s",
			    s->policy->languages[i].language.name);
	return 0;
}
