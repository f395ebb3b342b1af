/*
 * executor/trace/line.c - an event of the kernel's, judged and written as a
 * line.  Linked by bailiff-tracer.
 */
#include "executor/trace/line.h"

#include <inttypes.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "executor/trace/path.h"

static const char *const types[TRACE_TYPES] = {
	[TRACE_EXEC] = "exec",
	[TRACE_CALL] = "call",
	[TRACE_FORK] = "fork",
	[TRACE_EXIT] = "exit",
	[TRACE_DENIED] = "denied",
	[TRACE_KILLED] = "killed",
	[TRACE_SIGNAL] = "signal",
};
static const char *const planes[TRACE_PLANES] = {
	[TRACE_SETUP] = "setup",
	[TRACE_PROGRAM] = "program",
	[TRACE_FOREIGN] = "foreign",
};

int line_decode(
    const void *data, size_t len, struct trace_record *ret, struct error *e)
{
	struct trace_record r;
	size_t body;

	if (len < sizeof(r))
		return FAIL(e, ERROR_MALFORMED, "an event of %zu bytes", len);
	memcpy(&r, data, sizeof(r));
	body = len - sizeof(r);
	if (r.len != len || body > TRACE_DATA_MAX)
		return FAIL(e, ERROR_MALFORMED, "an event of %zu bytes says %u",
		    len, r.len);
	if (r.type >= TRACE_TYPES || types[r.type] == NULL)
		return FAIL(e, ERROR_MALFORMED, "an event of type %u",
		    (unsigned)r.type);
	if (r.plane >= TRACE_PLANES)
		return FAIL(
		    e, ERROR_MALFORMED, "an event of plane %u", r.plane);
	if (r.given_len > TRACE_GIVEN_MAX || r.given_len > body ||
	    r.truth_len > TRACE_TRUTH_MAX ||
	    (r.truth_len > 0 && (size_t)TRACE_TRUTH_AT + r.truth_len > body) ||
	    r.argv_len > TRACE_ARGV_MAX ||
	    (r.argv_len > 0 && (size_t)TRACE_ARGV_AT + r.argv_len > body))
		return FAIL(
		    e, ERROR_MALFORMED, "an event's string is too long");
	*ret = r;
	return 0;
}

int line_call(const struct calls *c, const char *key, int64_t nr,
    struct text_out *out, struct error *e)
{
	const char *name = calls_name(c, nr);

	if (name[0] == '\0')
		return 0;
	return text_printf(out, e, ",\"%s\":\"%s\"", key, name);
}

static int put_args(
    const struct trace_record *r, struct text_out *out, struct error *e)
{
	for (size_t i = 0; i < TRACE_ARGS; i++)
		if (text_printf(out, e, "%s\"0x%" PRIx64 "\"",
		        i == 0 ? ",\"args\":[" : ",", (uint64_t)r->args[i]) < 0)
			return -1;
	return text_printf(out, e, "]");
}

/* A string without the NUL that may end it. */
static struct path_bytes string_of(const unsigned char *data, size_t len)
{
	struct path_bytes b = { len, data };

	if (len > 0 && data[len - 1] == '\0')
		b.len--;
	return b;
}

static int put_peer(
    const struct line_event *l, struct text_out *out, struct error *e)
{
	struct trace_address a;
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct path_bytes bytes = { sizeof(six), (unsigned char *)&six };

	if (l->record->truth_len != sizeof(a))
		return 0;
	memcpy(&a, l->data + TRACE_TRUTH_AT, sizeof(a));
	if (a.family == AF_INET) {
		four.sin_port = a.port;
		memcpy(&four.sin_addr, a.address, sizeof(four.sin_addr));
		bytes =
		    (struct path_bytes){ sizeof(four), (unsigned char *)&four };
	} else if (a.family == AF_INET6) {
		six.sin6_port = a.port;
		memcpy(&six.sin6_addr, a.address, sizeof(six.sin6_addr));
	} else {
		return text_printf(
		    out, e, ",\"truth_family\":%u", (unsigned)a.family);
	}
	if (text_printf(out, e, ",") < 0)
		return -1;
	return path_put_address("truth", &bytes, out, e);
}

static int put_strings(
    const struct line_event *l, struct text_out *out, struct error *e)
{
	const struct trace_record *r = l->record;
	unsigned char joined[TRACE_TRUTH_MAX + 2];
	struct path_bytes given = string_of(l->data, r->given_len);
	struct path_bytes names = { r->truth_len, l->data + TRACE_TRUTH_AT };
	struct path_bytes truth = { 0, joined };

	if ((r->flags & TRACE_IS_ADDRESS) != 0) {
		given.len = r->given_len;
		if (given.len > 0 &&
		    (text_printf(out, e, ",") < 0 ||
		        path_put_address("given", &given, out, e) < 0))
			return -1;
		return put_peer(l, out, e);
	}
	if (r->given_len > 0 && (text_printf(out, e, ",") < 0 ||
	                            path_put("given", &given, out, e) < 0))
		return -1;
	if (r->truth_len == 0)
		return 0;
	path_join(&names, joined, &truth.len);
	if (text_printf(out, e, ",") < 0 ||
	    path_put("truth", &truth, out, e) < 0)
		return -1;
	if (r->type != TRACE_CALL || r->given_len == 0 ||
	    !path_differs(&given, &truth))
		return 0;
	return text_printf(out, e, ",\"differs\":true");
}

static int put_flags(
    const struct trace_record *r, struct text_out *out, struct error *e)
{
	static const struct {
		unsigned flag;
		const char *key;
	} rows[] = {
		{ TRACE_LATE_STRING, "given_late" },
		{ TRACE_NO_STRING, "given_unreadable" },
		{ TRACE_CUT_GIVEN, "given_cut" },
		{ TRACE_CUT_TRUTH, "truth_cut" },
		{ TRACE_CUT_ARGV, "argv_cut" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((r->flags & rows[i].flag) != 0 &&
		    text_printf(out, e, ",\"%s\":true", rows[i].key) < 0)
			return -1;
	return 0;
}

/* One object for each argument, since any of them may need its hex form. */
static int put_argv(
    const struct line_event *l, struct text_out *out, struct error *e)
{
	const unsigned char *at = l->data + TRACE_ARGV_AT;
	const unsigned char *end = at + l->record->argv_len;

	if (text_printf(out, e, ",\"argv\":[") < 0)
		return -1;
	for (size_t i = 0; at < end; i++) {
		struct path_bytes word = {
			strnlen((const char *)at, (size_t)(end - at)), at
		};

		if (text_printf(out, e, i == 0 ? "{" : ",{") < 0 ||
		    path_put("a", &word, out, e) < 0)
			return -1;
		if (text_printf(out, e, "}") < 0)
			return -1;
		at += word.len + 1;
	}
	return text_printf(
	    out, e, "],\"argv_size\":%" PRIu64, (uint64_t)l->record->argv_size);
}

static int put_error(
    const struct trace_record *r, struct text_out *out, struct error *e)
{
	const char *name;

	if (r->ret >= 0 || r->ret <= -4096)
		return 0;
	name = strerrorname_np((int)-r->ret);
	if (name == NULL)
		return 0;
	return text_printf(out, e, ",\"error\":\"%s\"", name);
}

/* What only events of one type have. */
static int put_own(
    const struct line_event *l, struct text_out *out, struct error *e)
{
	const struct trace_record *r = l->record;
	int status = (int)r->ret;

	switch ((enum trace_type)r->type) {
	case TRACE_EXEC:
		return put_argv(l, out, e);
	case TRACE_EXIT:
	case TRACE_KILLED:
		if (WIFEXITED(status))
			return text_printf(
			    out, e, ",\"code\":%d", WEXITSTATUS(status));
		return text_printf(out, e, ",\"signal\":%d", WTERMSIG(status));
	case TRACE_FORK:
		return text_printf(out, e,
		    ",\"child\":%" PRId64 ",\"child_pid\":%" PRIu64,
		    (int64_t)r->ret, (uint64_t)r->args[0]);
	case TRACE_SIGNAL:
		return text_printf(out, e,
		    ",\"code\":%d,\"signal\":%d,\"to\":%" PRIu64,
		    (int)(uint32_t)r->args[1], r->nr, (uint64_t)r->args[0]);
	case TRACE_CALL:
	case TRACE_DENIED:
		if (put_args(r, out, e) < 0 || put_error(r, out, e) < 0)
			return -1;
		return text_printf(
		    out, e, ",\"ret\":%" PRId64, (int64_t)r->ret);
	case TRACE_TYPES:
		break;
	}
	return FAIL(e, ERROR_MALFORMED, "an event of no type");
}

static int put_line(
    const struct line_event *l, struct text_out *out, struct error *e)
{
	const struct trace_record *r = l->record;
	/* -1 is a number that a program can call. */
	bool has_nr =
	    r->type == TRACE_CALL || r->type == TRACE_DENIED ||
	    (r->nr != -1 && r->type != TRACE_SIGNAL && r->type != TRACE_EXEC);

	if (text_printf(out, e,
	        "{\"type\":\"%s\",\"seq\":%" PRIu64 ",\"at_ns\":%" PRIu64
	        ",\"pid\":%u,\"tid\":%u,\"plane\":\"%s\"",
	        types[r->type], (uint64_t)r->seq, (uint64_t)r->at_ns, r->pid,
	        r->tid, planes[r->plane]) < 0)
		return -1;
	/* Numbers of another architecture have other names. */
	if (has_nr && r->plane != TRACE_FOREIGN &&
	    line_call(l->calls, "call", r->nr, out, e) < 0)
		return -1;
	if (has_nr && text_printf(out, e, ",\"nr\":%d", r->nr) < 0)
		return -1;
	if (put_own(l, out, e) < 0 || put_strings(l, out, e) < 0 ||
	    put_flags(r, out, e) < 0)
		return -1;
	return text_printf(out, e, "}\n");
}

int line_event(
    const struct line_event *event, struct text_out *out, struct error *e)
{
	size_t before = out->len;

	if (put_line(event, out, e) == 0)
		return 0;
	out->len = before;
	return -1;
}
