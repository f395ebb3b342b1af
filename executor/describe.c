/*
 * executor/describe.c - tells a front what the policy allows.  Linked by the
 * supervisor.  Whoever may ask for a run may know by what it is judged; the
 * text is the one that every record names by its digest.
 */
#include "executor/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/memfd.h"
#include "executor/packages.h"

static void put_word(struct protocol_word *to, const char *text)
{
	(void)snprintf(to->text, sizeof(to->text), "%s", text);
}

static void put_capabilities(
    struct protocol_language *to, const struct capabilities *c)
{
	const struct {
		const char *name;
		bool granted;
	} rows[] = {
		{ "exec_memory", c->exec_memory },
		{ "ipc", c->ipc },
		{ "loopback", c->loopback },
		{ "network", c->network },
		{ "subprocess", c->subprocess },
		{ "threads", c->threads },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].granted)
			put_word(&to->capabilities.items[to->capabilities.n++],
			    rows[i].name);
}

static void put_limits(
    struct protocol_language *to, const struct limit limits[LIMIT_N])
{
	_Static_assert(LIMIT_N <= PROTOCOL_LIMITS_MAX, "a row for each limit");

	for (size_t i = 0; i < LIMIT_N; i++) {
		struct protocol_bound *b = &to->limits.items[i];

		(void)snprintf(
		    b->name, sizeof(b->name), "%s", limit_table[i].name);
		b->value = limits[i].value;
		b->max = limits[i].max;
	}
	to->limits.n = LIMIT_N;
}

static void put_installed(
    struct supervisor *s, size_t index, struct protocol_language *to)
{
	const struct packages_of *of;

	if (s->packages == NULL)
		return;
	packages_read(s->packages, s->policy);
	of = &s->packages->of[index];
	/* The one whose number is in the program's own path, if several are. */
	for (size_t i = 0; i < of->n_versions; i++)
		if (i == 0 || strstr(s->toolchains[index].program,
		                  of->versions[i].star) != NULL)
			(void)snprintf(to->version, sizeof(to->version), "%s",
			    of->versions[i].version);
	memcpy(to->installed.data, of->libraries, of->libraries_len);
	to->installed.len = of->libraries_len;
	to->installed_more = of->libraries_more;
}

static void tell_language(struct session *c, uint64_t request, size_t index)
{
	const struct policy_language *l = &c->s->policy->languages[index];
	struct protocol_language *to = &c->s->out->language;

	memset(to, 0, sizeof(*to));
	to->request = request;
	(void)snprintf(to->name, sizeof(to->name), "%s", l->language.name);
	(void)snprintf(
	    to->package, sizeof(to->package), "%s", l->language.package);
	to->missing = c->s->toolchains[index].missing;
	for (size_t i = 0; i < l->language.n_aliases; i++)
		put_word(&to->aliases.items[i], l->language.aliases[i]);
	to->aliases.n = l->language.n_aliases;
	put_capabilities(to, &l->capabilities);
	put_installed(c->s, index, to);
	for (size_t i = 0; i < l->n_denied; i++)
		put_word(&to->denied_modules.items[i], l->denied[i]);
	to->denied_modules.n = l->n_denied;
	put_limits(to, l->limits);
	session_send(c, PROTOCOL_LANGUAGE, to, NULL);
}

void describe_to(struct session *c, uint64_t request)
{
	const struct policy *p = c->s->policy;
	struct protocol_described *to;
	struct fd_list fds = { .n = 1 };
	struct error e;

	if (memfd_of("policy", p->effective, p->effective_len, &fds.fd[0], &e) <
	    0) {
		session_failed(c, request, e.kind, e.text);
		return;
	}
	for (size_t i = 0; i < p->n_languages; i++)
		tell_language(c, request, i);
	to = &c->s->out->described;
	memset(to, 0, sizeof(*to));
	to->request = request;
	(void)snprintf(to->name, sizeof(to->name), "%s", p->name);
	to->size = p->effective_len;
	memcpy(to->sha256, p->sha256, sizeof(to->sha256));
	to->runs = c->s->slots_max;
	to->queue = p->queue;
	session_send(c, PROTOCOL_DESCRIBED, to, &fds);
	fd_list_close(&fds);
}
