/*
 * audit/resume.c - a start of the signer.  Linked by the signer.  The bytes on
 * disk may be anything: a crash, a restored backup or an intruder made them.
 */
#include "audit/resume.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/dsse.h"
#include "audit/entry.h"
#include "audit/head.h"
#include "audit/lines.h"
#include "audit/resume_index.h"
#include "audit/resume_take.h"
#include "base/own.h"

/* What a power cut can make of a file that was renamed, but not synced. */
static bool is_lost(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\0')
			return false;
	return true;
}

static int read_note(struct resume *r, struct error *e)
{
	const struct store_file file = { r->chain->store.audit_fd,
		"checkpoint" };
	AUTO_FREE char *text = malloc(NOTE_BYTES_MAX + 1);
	size_t len = 0;

	if (text == NULL)
		return FAIL_SYS(e, "allocate");
	if (store_read(&file, text, NOTE_BYTES_MAX + 1, &len, e) < 0 &&
	    e->kind != ERROR_CLOSED)
		return -1;
	if (is_lost(text, len))
		return 0;
	if (note_open(text, len, &r->chain->keys.log_note, &r->note, e) < 0)
		return FAIL_IN(e, "audit/checkpoint");
	r->have_note = true;
	return 0;
}

/* The line that ends before 'end' bytes, which must be the last one known. */
static int check_last(
    struct resume *r, const struct chain_state *s, struct error *e)
{
	size_t want =
	    s->bytes < LINES_MAX + 2 ? (size_t)s->bytes : LINES_MAX + 2;
	AUTO_FREE char *text = malloc(want);
	uint8_t leaf[TREE_HASH];
	const char *lf;
	ssize_t got;

	if (text == NULL)
		return FAIL_SYS(e, "allocate");
	got =
	    pread(r->chain->store.log_fd, text, want, (off_t)(s->bytes - want));
	if (got != (ssize_t)want)
		return FAIL_SYS(e, "read the log");
	if (text[want - 1] != '\n')
		return FAIL(e, ERROR_TAMPERED,
		    "the log is not the one that state/head was written for");
	lf = memrchr(text, '\n', want - 1);
	lf = lf != NULL ? lf + 1 : text;
	tree_leaf(lf, (size_t)(text + want - 1 - lf), leaf);
	if (memcmp(leaf, s->prev, sizeof(leaf)) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "record %llu is not the one that state/head was written "
		    "for",
		    (unsigned long long)(s->tree.size - 1));
	return 0;
}

/*
 * Where to begin.  A head that is lost or damaged costs time, not safety, as
 * long as a signed checkpoint is there to be the mark.
 */
static int read_head(struct resume *r, int state_fd, struct error *e)
{
	struct chain_state *s = &r->chain->state;
	AUTO_FREE struct chain_state *head = calloc(1, sizeof(*head));

	if (head == NULL)
		return FAIL_SYS(e, "allocate");
	if (head_read(state_fd, head, e) < 0) {
		if (e->kind != ERROR_CLOSED && e->kind != ERROR_MALFORMED)
			return -1;
		if (!r->have_note)
			return FAIL(e, ERROR_TAMPERED,
			    "neither state/head nor a checkpoint is there, so "
			    "nothing says how long the log was; restore them "
			    "or move audit/ and keys/ away to begin a new log");
		return 0;
	}
	r->mark = head->tree.size;
	if (head->bytes > r->chain->store.bytes)
		return FAIL(e, ERROR_TAMPERED,
		    "rolled back: the log has %llu bytes, it had %llu (%llu "
		    "records)",
		    (unsigned long long)r->chain->store.bytes,
		    (unsigned long long)head->bytes,
		    (unsigned long long)head->tree.size);
	if (head->tree.size > 0 && check_last(r, head, e) < 0)
		return -1;
	*s = *head;
	return 0;
}

static int check_mark(const struct resume *r, struct error *e)
{
	uint64_t mark = r->mark;

	if (r->have_note && r->note.size > mark)
		mark = r->note.size;
	if (r->chain->state.tree.size < mark)
		return FAIL(e, ERROR_TAMPERED,
		    "rolled back: the log has %llu records, it had %llu",
		    (unsigned long long)r->chain->state.tree.size,
		    (unsigned long long)mark);
	return 0;
}

/* A crash leaves a line without its end, or blocks never written: zeros. */
static bool looks_torn(const struct lines_line *line)
{
	if (line->kind == LINES_TORN)
		return true;
	return memchr(line->text, '\0', line->len) != NULL;
}

/* What to make of a line that is no record of ours. */
static int judge_bad(
    struct resume *r, const struct lines_line *line, struct error *e)
{
	const struct chain_state *s = &r->chain->state;

	if (looks_torn(line)) {
		r->torn = true;
		return 0;
	}
	if (line->kind != LINES_ONE)
		(void)FAIL(e, ERROR_TAMPERED, "longer than a line");
	return FAIL_IN(e, "log/000000.jsonl, record %llu, byte %llu",
	    (unsigned long long)s->tree.size, (unsigned long long)s->bytes);
}

static int read_lines(struct resume *r, struct lines *l, struct error *e)
{
	struct lines_line line;

	for (;;) {
		if (resume_root(r, e) < 0 || lines_next(l, &line, e) < 0)
			return -1;
		if (line.kind == LINES_END)
			return 0;
		if (line.segment != 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "the log has more than one file; this signer "
			    "writes one");
		if (line.kind != LINES_ONE ||
		    resume_take(r, line.text, line.len, e) < 0)
			return judge_bad(r, &line, e);
	}
}

static int read_log(struct resume *r, struct error *e)
{
	struct lines l;
	int failed;

	if (lines_open(r->chain->store.log_dir_fd, &l, e) < 0) {
		lines_close(&l);
		return -1;
	}
	/* A segment is read by its descriptor's own offset. */
	if (lseek(l.fd, (off_t)r->chain->state.bytes, SEEK_SET) < 0)
		failed = FAIL_SYS(e, "read the log");
	else
		failed = read_lines(r, &l, e);
	lines_close(&l);
	return failed;
}

/* Keys of epochs that are over go; those of the next are made if missing. */
static int renew_keys(struct chain *c, struct error *e)
{
	const struct chain_state *s = &c->state;

	if (s->tree.size == 0)
		return keys_prepare(&c->keys, 0, NULL, e);
	if (keys_forget(&c->keys, s->epoch, e) < 0)
		return -1;
	return keys_prepare(&c->keys, s->epoch + 1, s->next, e);
}

static int finish(struct resume *r, int state_fd, struct error *e)
{
	struct chain *c = r->chain;

	if (check_mark(r, e) < 0)
		return -1;
	if (c->state.final)
		return FAIL(e, ERROR_TAMPERED,
		    "this log was closed for good; move audit/, keys/ and "
		    "state/ away to begin a new one");
	if (r->torn && store_quarantine(&c->store, c->state.bytes,
	                   c->state.tree.size, e) < 0)
		return -1;
	/* What was written but never acknowledged is made to last now. */
	if (fsync(c->store.log_fd) < 0)
		return FAIL_SYS(e, "sync the log");
	if (renew_keys(c, e) < 0)
		return -1;
	if ((!r->have_note || r->note.size != c->state.tree.size) &&
	    chain_publish(c, STORE_SYNC, e) < 0)
		return -1;
	return head_write(state_fd, &c->state, STORE_SYNC, e);
}

static int resume(struct resume *r, int state_fd, struct error *e)
{
	if (read_note(r, e) < 0 || read_head(r, state_fd, e) < 0)
		return -1;
	resume_index(r->chain);
	if (read_log(r, e) < 0)
		return -1;
	index_sync(&r->chain->index);
	return finish(r, state_fd, e);
}

int resume_log(struct chain *c, int state_fd, struct error *e)
{
	struct resume r = { .chain = c, .scratch = malloc(DSSE_PAE_MAX) };
	int failed;

	if (r.scratch == NULL)
		return FAIL_SYS(e, "allocate");
	memset(&c->state, 0, sizeof(c->state));
	failed = resume(&r, state_fd, e);
	free(r.scratch);
	return failed;
}

int resume_new(struct chain *c, int state_fd, struct error *e)
{
	memset(&c->state, 0, sizeof(c->state));
	resume_index(c);
	if (keys_prepare(&c->keys, 0, NULL, e) < 0 ||
	    chain_publish(c, STORE_SYNC, e) < 0 ||
	    head_write(state_fd, &c->state, STORE_SYNC, e) < 0)
		return -1;
	return keys_commit(&c->keys, e);
}
