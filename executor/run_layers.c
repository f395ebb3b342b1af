/*
 * executor/run_layers.c - layers of one run.  Linked by the supervisor.  What
 * the collector names is hostile bytes: layers.c judges it.
 */
#include "executor/run_layers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/run_steps.h"
#include "policy/environment.h"
#include "policy/libraries.h"

const char *const run_layer_names[RUN_LAYER_N] = {
	[RUN_LAYER_SOURCES] = "sources",
	[RUN_LAYER_LIBRARIES] = "libraries",
};

bool run_shows_inputs(const struct run *r)
{
	return r->making == MAKING_NOTHING || r->making == MAKING_PRODUCT;
}

bool run_shows_layer(const struct run *r, enum run_layer which)
{
	if (r->layers[which].tree_fd < 0)
		return false;
	if (which == RUN_LAYER_SOURCES)
		return r->making == MAKING_LIBRARIES;
	return run_shows_inputs(r);
}

static void hash_text(struct sha256 *h, const char *text)
{
	sha256_add(h, text, strlen(text) + 1);
}

static void hash_rows(struct sha256 *h, const char (*rows)[256], size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash_text(h, rows[i]);
	hash_text(h, "");
}

/* Everything that its content depends on. */
static void name_libraries(const struct run *r, char ret[LAYERS_NAME_MAX])
{
	const struct language *l = &r->decision.language->language;
	const struct language_layer *of = &l->installer.layer;
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];
	struct sha256 h;

	sha256_init(&h);
	hash_text(&h, l->name);
	sha256_add(&h, r->toolchain->identity, SHA256_BYTES);
	sha256_add(&h, r->s->view.sha256, SHA256_BYTES);
	hash_rows(&h, l->env, l->n_env);
	hash_rows(&h, of->argv, of->n_argv);
	hash_rows(&h, of->making, of->n_making);
	hash_text(&h, of->code);
	for (size_t i = 0; i < r->decision.n_libraries; i++) {
		char text[LIBRARY_TEXT_MAX];

		library_text(&r->decision.libraries[i], text);
		hash_text(&h, text);
	}
	sha256_add(&h, r->layers[RUN_LAYER_SOURCES].sha256, SHA256_BYTES);
	sha256_done(&h, digest);
	sha256_hex(digest, hex);
	(void)snprintf(ret, LAYERS_NAME_MAX, "%s-%s",
	    run_layer_names[RUN_LAYER_LIBRARIES], hex);
}

/* Neither here nor in the store. */
static bool lacks_libraries(struct run *r)
{
	struct layer *layer = &r->layers[RUN_LAYER_LIBRARIES];
	char name[LAYERS_NAME_MAX];

	if (layer->tree_fd >= 0)
		return false;
	name_libraries(r, name);
	return !layers_find(r->s->state.layers_fd, name, layer);
}

static void show_sources(struct run *r)
{
	struct layer *to = &r->layers[RUN_LAYER_SOURCES];
	const struct layer *from = &r->toolchain->sources.layer;

	if (to->tree_fd >= 0)
		return;
	*to = *from;
	to->tree_fd = fcntl(from->tree_fd, F_DUPFD_CLOEXEC, 0);
}

enum run_making run_making_next(struct run *r)
{
	const struct language *l = &r->decision.language->language;

	if (r->decision.n_libraries > 0) {
		show_sources(r);
		if (lacks_libraries(r))
			return MAKING_LIBRARIES;
	}
	return l->n_compile > 0 && r->product_fd < 0 ? MAKING_PRODUCT
	                                             : MAKING_NOTHING;
}

/* A variable that is there already gets the later value. */
static size_t add_rows(
    const char **rows, size_t n, const char (*more)[256], size_t n_more)
{
	for (size_t i = 0; i < n_more; i++) {
		size_t len = strcspn(more[i], "=") + 1;
		size_t at = 0;

		while (at < n && strncmp(rows[at], more[i], len) != 0)
			at++;
		rows[at] = more[i];
		n += at == n;
	}
	return n;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t run_environment(const struct run *r, const struct run_part *part,
    const char *ret[RUN_ENV_MAX])
{
	const struct language *l = &r->decision.language->language;
	const struct language_layer *libraries = &l->installer.layer;
	size_t n = 0;

	if (part->made == NULL) {
		struct environment program;

		environment_make(l, r->decision.limits, &program);
		memcpy(ret, program.rows, program.n * sizeof(ret[0]));
		n = program.n;
	} else {
		n = add_rows(ret, 0, l->env, l->n_env);
	}
	if (part->made != NULL) {
		n = add_rows(ret, n, part->made->making, part->made->n_making);
	} else if (r->decision.n_libraries > 0) {
		n = add_rows(ret, n, libraries->env, libraries->n_env);
	}
	qsort(ret, n, sizeof(ret[0]), compare);
	return n;
}

static int begin(struct run *r, struct error *e)
{
	if (r->layer_making.name[0] != '\0')
		return 0;
	return layers_begin(r->s->state.layers_fd, r->id, &r->layer_making, e);
}

int run_layer_found(
    struct run *r, const struct collect_found *found, struct error *e)
{
	struct fd_list to = { .n = 1 };
	const struct channel_send what = { &collect_protocol, COLLECT_TAKE,
		NULL, &to };
	size_t n = (size_t)found->name.len;

	memcpy(r->layer_file, found->name.data, n);
	r->layer_file[n] = '\0';
	if (strlen(r->layer_file) != n)
		return FAIL(
		    e, ERROR_MALFORMED, "a file with a NUL in its name");
	if (begin(r, e) < 0 ||
	    layers_add(&r->layer_making, r->layer_file, &to.fd[0], e) < 0)
		return -1;
	return supervisor_send(r->s, r->helper_fd, &what, e);
}

int run_layer_copied(
    struct run *r, const struct collect_copied *copied, struct error *e)
{
	if (r->layer_making.file_fd < 0)
		return FAIL(e, ERROR_STATE, "collector copied what it had not");
	return layers_added(&r->layer_making, r->layer_file, copied->sha256, e);
}

int run_layer_whole(uint32_t why, struct error *e)
{
	static const uint32_t odd = UINT32_C(1) << COLLECT_LINK |
	                            UINT32_C(1) << COLLECT_SPECIAL |
	                            UINT32_C(1) << COLLECT_FOREIGN;

	/* A link of a package is missed by who needs it; a file that found no
	 * room would be missed by chance. */
	if ((why & ~odd) == 0)
		return 0;
	return FAIL(e, ERROR_LIMIT,
	    "too many files, or too large; raise the policy's scratch_bytes");
}

int run_layer_done(struct run *r, struct error *e)
{
	char name[LAYERS_NAME_MAX];

	name_libraries(r, name);
	/* Also of nothing at all. */
	if (begin(r, e) < 0)
		return -1;
	return layers_commit(r->s->state.layers_fd, &r->layer_making, name,
	    &r->layers[RUN_LAYER_LIBRARIES], e);
}
