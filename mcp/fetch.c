/*
 * mcp/fetch.c - reading results.  Linked by bailiff-mcp.  What comes back is
 * the service's word and descriptors of plain files, read with pread alone.
 */
#include "mcp/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "mcp/calls.h"
#include "mcp/link.h"
#include "mcp/results.h"
#include "mcp/server.h"

int fetch_read(const struct fetch_open *o, uint64_t offset, size_t max,
    struct page *to, struct error *e)
{
	char buffer[4096];

	while (max > 0) {
		size_t n = max < sizeof(buffer) ? max : sizeof(buffer);
		ssize_t got = pread(o->fd, buffer, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read a result");
		if (got == 0)
			return 0;
		page_bytes(to, buffer, (size_t)got);
		offset += (uint64_t)got;
		max -= (size_t)got;
	}
	return 0;
}

bool fetch_want(struct fetch *f, const char *name)
{
	struct fetch_open *o = &f->opens[f->n_opens];

	if (f->n_opens == FETCH_OPENS_MAX)
		return false;
	(void)snprintf(o->name, sizeof(o->name), "%s", name);
	o->fd = -1;
	o->size = 0;
	f->n_opens++;
	return true;
}

struct fetch_open *fetch_opened(struct fetch *f, const char *name)
{
	for (size_t i = 0; i < f->n_opened; i++)
		if (f->opens[i].fd >= 0 && strcmp(f->opens[i].name, name) == 0)
			return &f->opens[i];
	return NULL;
}

void fetch_end(struct server *s)
{
	struct fetch *f = &s->fetch;

	for (size_t i = 0; i < f->n_opens; i++)
		own_close(&f->opens[i].fd);
	for (size_t i = 0; i < f->n_entries; i++)
		free(f->entries[i].name);
	free(f->entries);
	*f = (struct fetch){ .call = NULL };
}

/* Ask for what is missing; true if we wait for an answer. */
static bool ask(struct server *s)
{
	struct fetch *f = &s->fetch;
	const struct plan *plan = &f->call->plan;
	struct protocol_open m = { .request = link_number(s) };
	enum protocol_verb verb = PROTOCOL_LIST;
	struct error e;

	(void)snprintf(m.run_id, sizeof(m.run_id), "%s", plan->run_id);
	m.purpose =
	    plan->kind == &results_of_run ? PROTOCOL_OWN : PROTOCOL_READ;
	if (!plan->kind->wants_list || f->listed) {
		if (!f->chosen && plan->kind->choose != NULL)
			plan->kind->choose(s, f->call, f);
		f->chosen = true;
		if (f->n_opened == f->n_opens)
			return false;
		verb = PROTOCOL_OPEN;
		(void)snprintf(
		    m.name, sizeof(m.name), "%s", f->opens[f->n_opened].name);
	}
	/* A service that is behind, or gone, is noticed by the loop. */
	if (link_send(s, verb, &m, NULL, &e) == 0)
		f->request = m.request;
	return true;
}

void fetch_step(struct server *s)
{
	struct fetch *f = &s->fetch;

	for (;;) {
		if (f->call == NULL && server_has_room(s))
			f->call = calls_next_ready(s);
		if (f->call == NULL || f->request != 0)
			return;
		if (!f->call->dropped && f->failed[0] == '\0' && ask(s))
			return;
		if (!f->call->dropped)
			f->call->plan.kind->render(s, f->call, f);
		calls_free(s, f->call);
		fetch_end(s);
	}
}

/* Both texts of it, one behind the other; NULL without memory. */
static char *copy_texts(const struct protocol_entry *m)
{
	size_t name = strlen(m->name) + 1;
	size_t type = strlen(m->type) + 1;
	char *block = malloc(name + type);

	if (block == NULL)
		return NULL;
	memcpy(block, m->name, name);
	memcpy(block + name, m->type, type);
	return block;
}

static void on_entry(struct fetch *f, const struct protocol_entry *m)
{
	struct fetch_entry *more = f->entries;
	char *name;

	if (f->n_entries == FETCH_ENTRIES_MAX)
		return;
	if ((f->n_entries & (f->n_entries - 1)) == 0)
		more = realloc(f->entries,
		    (f->n_entries > 0 ? 2 * f->n_entries : 1) * sizeof(*more));
	name = copy_texts(m);
	if (more != NULL)
		f->entries = more;
	if (more == NULL || name == NULL) {
		free(name);
		(void)snprintf(
		    f->failed, sizeof(f->failed), "no memory for the list");
		return;
	}
	f->entries[f->n_entries] = (struct fetch_entry){
		.name = name,
		.type = name + strlen(name) + 1,
		.width = m->width,
		.height = m->height,
		.is_plot = m->is_plot != 0,
		.size = m->size,
	};
	memcpy(f->entries[f->n_entries].sha256, m->sha256, sizeof(m->sha256));
	f->n_entries++;
}

static void on_failed(struct fetch *f, const struct protocol_failed *m)
{
	f->request = 0;
	if (f->call->plan.kind->wants_list && !f->listed)
		(void)snprintf(f->failed, sizeof(f->failed), "%s", m->text);
	else
		f->n_opened++; /* its descriptor stays -1 */
}

bool fetch_on_message(struct server *s, uint16_t verb, int *fd)
{
	struct fetch *f = &s->fetch;

	/* The number is the first member of every answer. */
	if (f->request == 0 || s->reply.entry.request != f->request)
		return false;
	switch (verb) {
	case PROTOCOL_ENTRY:
		on_entry(f, &s->reply.entry);
		return true;
	case PROTOCOL_LISTED:
		f->listed = true;
		break;
	case PROTOCOL_OPENED:
		if (f->n_opened == f->n_opens)
			return false;
		f->opens[f->n_opened].fd = take_fd(fd);
		f->opens[f->n_opened].size = s->reply.opened.size;
		f->n_opened++;
		break;
	case PROTOCOL_FAILED:
		on_failed(f, &s->reply.failed);
		return true;
	default:
		return false;
	}
	f->request = 0;
	return true;
}
