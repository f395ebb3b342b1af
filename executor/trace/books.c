/*
 * executor/trace/books.c - the equations that every run's trace must fulfil.
 * Linked by bailiff-tracer.
 */
#include "executor/trace/books.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "executor/trace/line.h"

static const char *const planes[TRACE_PLANES] = { "setup", "program",
	"foreign" };

struct sums {
	uint64_t enter, back, sent, lost;
};

static void add_up(const struct books *b, struct sums *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int plane = 0; plane < TRACE_PLANES; plane++)
		for (int nr = 0; nr < TRACE_CALLS; nr++) {
			const struct trace_count *c =
			    &b->counts->call[plane][nr];

			ret->enter += c->enter;
			ret->back += c->ok + c->error;
		}
	for (int type = 0; type < TRACE_TYPES; type++) {
		ret->sent += b->kernel->emitted[type];
		ret->lost += b->kernel->lost[type];
	}
}

/* A call that is always told, told as often as it came back. */
static bool is_told(const struct books *b, int nr)
{
	const struct trace_count *c = &b->counts->call[TRACE_PROGRAM][nr];

	return (b->todo[nr] & TRACE_DO_EVENT) == 0 ||
	       (b->todo[nr] & TRACE_DO_CODE) != 0 ||
	       b->received->calls[nr] == c->ok + c->error;
}

static int untold(const struct books *b)
{
	for (int nr = 0; nr < TRACE_CALLS; nr++)
		if (!is_told(b, nr))
			return nr;
	return -1;
}

/* Counters that are zero when all is well. */
static const char *excess(const struct books *b, uint64_t *ret)
{
	const struct trace_books *k = b->kernel;
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ k->capped, "calls were beyond the events of one run" },
		{ k->stateless, "tasks could not be followed" },
		{ k->unkept, "errors are not told apart" },
		{ k->strange, "calls came back as others" },
		{ b->misses, "times a program in the kernel was not run" },
		{ b->received->malformed, "events could not be read" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*ret = rows[i].n;
		if (rows[i].n != 0)
			return rows[i].what;
	}
	return NULL;
}

bool books_balance(const struct books *b, char note[BOOKS_NOTE_MAX])
{
	const struct trace_books *k = b->kernel;
	struct sums s;
	uint64_t n = 0;
	const char *what;
	int nr;

	add_up(b, &s);
	note[0] = '\0';
	what = excess(b, &n);
	nr = untold(b);
	if (s.lost > 0)
		(void)snprintf(note, BOOKS_NOTE_MAX,
		    "%" PRIu64 " events did not fit into the ring", s.lost);
	else if (what != NULL)
		(void)snprintf(note, BOOKS_NOTE_MAX, "%" PRIu64 " %s", n, what);
	else if (s.enter != s.back + k->unfinished)
		(void)snprintf(note, BOOKS_NOTE_MAX,
		    "%" PRIu64 " calls began, %" PRIu64 " came back, %" PRIu64
		    " were cut off",
		    s.enter, s.back, (uint64_t)k->unfinished);
	else if (k->seq != s.sent || b->received->events != s.sent)
		(void)snprintf(note, BOOKS_NOTE_MAX,
		    "%" PRIu64 " events were numbered, %" PRIu64
		    " sent, %" PRIu64 " received",
		    (uint64_t)k->seq, s.sent, b->received->events);
	else if (nr >= 0)
		(void)snprintf(note, BOOKS_NOTE_MAX,
		    "call %d was not told as often as it came back", nr);
	else if (k->emitted[TRACE_EXEC] == 0)
		(void)snprintf(
		    note, BOOKS_NOTE_MAX, "no program was seen to start");
	return note[0] == '\0';
}

static int put_count(const struct books *b, int plane, int nr,
    struct text_out *out, struct error *e)
{
	const struct trace_count *c = &b->counts->call[plane][nr];
	bool last = nr == TRACE_CALLS - 1;

	if ((c->enter | c->ok | c->error | c->denied) == 0)
		return 0;
	/* The first has the bracket in front of it. */
	if (out->data[out->len - 1] != '[' && text_printf(out, e, ",") < 0)
		return -1;
	if (text_printf(out, e, "{\"plane\":\"%s\"", planes[plane]) < 0)
		return -1;
	if (plane != TRACE_FOREIGN &&
	    line_call(b->calls, "call", nr, out, e) < 0)
		return -1;
	/* From the last number on all are one. */
	if (text_printf(out, e, ",\"nr\":%d%s", nr,
	        last ? ",\"and_above\":true" : "") < 0)
		return -1;
	return text_printf(out, e,
	    ",\"enter\":%" PRIu64 ",\"ok\":%" PRIu64 ",\"error\":%" PRIu64
	    ",\"denied\":%" PRIu64 "}",
	    (uint64_t)c->enter, (uint64_t)c->ok, (uint64_t)c->error,
	    (uint64_t)c->denied);
}

static int put_counts(
    const struct books *b, struct text_out *out, struct error *e)
{
	if (text_printf(out, e, ",\"calls\":[") < 0)
		return -1;
	for (int plane = 0; plane < TRACE_PLANES; plane++)
		for (int nr = 0; nr < TRACE_CALLS; nr++)
			if (put_count(b, plane, nr, out, e) < 0)
				return -1;
	return text_printf(out, e, "]");
}

static int put_error(const struct books *b, const struct kernel_error *x,
    struct text_out *out, struct error *e)
{
	const char *name = strerrorname_np(x->what.number);
	unsigned plane = x->what.plane;

	if (plane >= TRACE_PLANES)
		return FAIL(e, ERROR_MALFORMED, "an error of plane %u", plane);
	if (text_printf(out, e, "{\"plane\":\"%s\"", planes[plane]) < 0)
		return -1;
	if (plane != TRACE_FOREIGN &&
	    line_call(b->calls, "call", x->what.nr, out, e) < 0)
		return -1;
	if (text_printf(out, e, ",\"nr\":%u", (unsigned)x->what.nr) < 0)
		return -1;
	if (name != NULL && text_printf(out, e, ",\"error\":\"%s\"", name) < 0)
		return -1;
	return text_printf(out, e, ",\"errno\":%u,\"n\":%" PRIu64 "}",
	    (unsigned)x->what.number, x->n);
}

static int put_errors(
    const struct books *b, struct text_out *out, struct error *e)
{
	if (text_printf(out, e, ",\"errors\":[") < 0)
		return -1;
	for (size_t i = 0; i < b->errors->n; i++)
		if ((i > 0 && text_printf(out, e, ",") < 0) ||
		    put_error(b, &b->errors->items[i], out, e) < 0)
			return -1;
	return text_printf(out, e, "]");
}

static int put_numbers(
    const struct books *b, struct text_out *out, struct error *e)
{
	const struct trace_books *k = b->kernel;
	struct sums s;

	add_up(b, &s);
	return text_printf(out, e,
	    ",\"books\":{\"enter\":%" PRIu64 ",\"back\":%" PRIu64
	    ",\"unfinished\":%" PRIu64 ",\"joined\":%" PRIu64
	    ",\"born\":%" PRIu64 ",\"restarts\":%" PRIu64 ",\"seq\":%" PRIu64
	    ",\"emitted\":%" PRIu64 ",\"received\":%" PRIu64
	    ",\"lost\":%" PRIu64 ",\"capped\":%" PRIu64 ",\"repeats\":%" PRIu64
	    ",\"stateless\":%" PRIu64 ",\"unkept\":%" PRIu64
	    ",\"strange\":%" PRIu64 ",\"misses\":%" PRIu64
	    ",\"malformed\":%" PRIu64 "}",
	    s.enter, s.back, (uint64_t)k->unfinished, (uint64_t)k->joined,
	    (uint64_t)k->born, (uint64_t)k->restarts, (uint64_t)k->seq, s.sent,
	    b->received->events, s.lost, (uint64_t)k->capped,
	    (uint64_t)k->repeats, (uint64_t)k->stateless, (uint64_t)k->unkept,
	    (uint64_t)k->strange, b->misses, b->received->malformed);
}

int books_line(const struct books *b, const char *note, struct text_out *out,
    struct error *e)
{
	if (text_printf(out, e, "{\"type\":\"books\",\"complete\":%s",
	        note[0] == '\0' ? "true" : "false") < 0)
		return -1;
	if (note[0] != '\0' &&
	    text_printf(out, e, ",\"note\":\"%s\"", note) < 0)
		return -1;
	if (put_numbers(b, out, e) < 0 || put_counts(b, out, e) < 0 ||
	    put_errors(b, out, e) < 0)
		return -1;
	return text_printf(out, e, "}\n");
}
