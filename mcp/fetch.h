/*
 * mcp/fetch.h - reading results from the service: names of a run's folder, then
 * descriptors of some of them.  One fetch at a time, and only while the client
 * has room for the answer, so that memory stays bounded.
 */
#ifndef MCP_FETCH_H
#define MCP_FETCH_H

#include "executor/protocol.h"
#include "mcp/page.h"

struct server;
struct call;
struct fetch;

#define FETCH_OPENS_MAX 12

/* What an answer is made of; one row for each kind of call. */
struct plan_kind {
	bool wants_list;
	/* Names to open, once the list is there; may be NULL. */
	void (*choose)(struct server *s, struct call *c, struct fetch *f);
	/* Everything is there, or f->failed says why not: answer. */
	void (*render)(struct server *s, struct call *c, struct fetch *f);
};

struct plan {
	const struct plan_kind *kind;
	char run_id[PROTOCOL_RUN_ID_MAX];
	char name[PROTOCOL_RESULT_NAME_MAX]; /* of a file, encoded */
	char *uri;                           /* owned; of a resource, or NULL */
	uint64_t offset, limit;
	size_t shown; /* bytes of output together; of a run */
};

struct fetch_open {
	char name[PROTOCOL_RESULT_NAME_MAX];
	int fd; /* owned; -1: the service has none */
	uint64_t size;
};

struct fetch_entry {
	char *name;       /* owned; encoded; the type is in the same block */
	const char *type; /* by content; "": nobody looked */
	uint32_t width, height; /* of a picture; 0: not known */
	bool is_plot;           /* a figure that the program showed */
	uint64_t size;
	uint8_t sha256[32];
};

#define FETCH_ENTRIES_MAX 4200 /* the most artifacts, and what is beside */

struct fetch {
	struct call *call; /* borrowed; NULL: idle */
	uint64_t request;  /* of the message that is not answered; 0: none */
	bool listed;
	bool chosen;
	char failed[ERROR_TEXT_MAX]; /* of the list; "" while all is well */
	size_t n_entries;
	struct fetch_entry *entries; /* owned */
	size_t n_opens, n_opened;
	struct fetch_open opens[FETCH_OPENS_MAX];
};

/* Begin, go on, answer: as far as possible without waiting. */
void fetch_step(struct server *s);
/* Takes the descriptor that came along, if it is wanted. */
bool fetch_on_message(struct server *s, uint16_t verb, int *fd);
void fetch_end(struct server *s);

/* One more name to open; false when there is no room. */
bool fetch_want(struct fetch *f, const char *name);
/* The opened file of that name, or NULL. */
struct fetch_open *fetch_opened(struct fetch *f, const char *name);

/* Up to 'max' bytes from 'offset', appended to 'to'. */
int fetch_read(const struct fetch_open *o, uint64_t offset, size_t max,
    struct page *to, struct error *e) MUST_CHECK;

#endif
