/*
 * executor/outbox.c - a queue of unsent messages.  Linked by the supervisor.
 */
#include "executor/outbox.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct outbox_item {
	struct outbox_item *next; /* owned */
	const struct wire_protocol *protocol;
	uint16_t verb;
	struct fd_list fds;    /* owned */
	max_align_t message[]; /* the struct of the verb's layout */
};

static void item_free(struct outbox_item *item)
{
	fd_list_close(&item->fds);
	free(item);
}

static size_t message_size(const struct channel_send *what)
{
	for (size_t i = 0; i < what->protocol->n_messages; i++) {
		const struct wire_message *m = &what->protocol->messages[i];

		if (m->verb == what->verb)
			return m->layout != NULL ? m->layout->size : 0;
	}
	return 0;
}

static int keep_fds(
    const struct fd_list *from, struct fd_list *to, struct error *e)
{
	for (size_t i = 0; from != NULL && i < from->n; i++) {
		int fd = fcntl(from->fd[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return FAIL_SYS(e, "keep a descriptor to send");
		to->fd[to->n++] = fd;
	}
	return 0;
}

static int keep(
    struct outbox *o, const struct channel_send *what, struct error *e)
{
	size_t size = message_size(what);
	struct outbox_item *item;

	if (o->n >= OUTBOX_MESSAGES_MAX)
		return FAIL(e, ERROR_LIMIT, "peer leaves %d messages unread",
		    OUTBOX_MESSAGES_MAX);
	item = calloc(1, sizeof(*item) + size);
	if (item == NULL)
		return FAIL_SYS(e, "keep a message to send");
	item->protocol = what->protocol;
	item->verb = what->verb;
	if (size > 0)
		memcpy(item->message, what->message, size);
	if (keep_fds(what->fds, &item->fds, e) < 0) {
		item_free(item);
		return -1;
	}
	if (o->last != NULL)
		o->last->next = item;
	else
		o->first = item;
	o->last = item;
	o->n++;
	return 0;
}

static bool is_full(const struct error *e)
{
	return e->kind == ERROR_SYSTEM &&
	       (e->saved_errno == EAGAIN || e->saved_errno == ENOBUFS);
}

int outbox_send(struct outbox *o, struct channel *c,
    const struct channel_send *what, struct error *e)
{
	struct error why;

	if (o->first != NULL)
		return keep(o, what, e);
	if (channel_send(c, what, &why) == 0)
		return 0;
	if (is_full(&why))
		return keep(o, what, e);
	*e = why;
	return -1;
}

int outbox_flush(struct outbox *o, struct channel *c, struct error *e)
{
	struct error why;

	while (o->first != NULL) {
		struct outbox_item *item = o->first;
		struct channel_send what = { item->protocol, item->verb,
			item->message, &item->fds };

		if (channel_send(c, &what, &why) < 0) {
			if (is_full(&why))
				return 0;
			*e = why;
			return -1;
		}
		o->first = item->next;
		if (o->first == NULL)
			o->last = NULL;
		o->n--;
		item_free(item);
	}
	return 0;
}

void outbox_clear(struct outbox *o)
{
	while (o->first != NULL) {
		struct outbox_item *item = o->first;

		o->first = item->next;
		item_free(item);
	}
	o->last = NULL;
	o->n = 0;
}
