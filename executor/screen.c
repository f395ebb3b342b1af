/*
 * executor/screen.c - main of bailiff-screen: looks for code rules in the code
 * of requests.
 *
 * Started by bailiff-launch (without root by bailiff-supervisor) under a uid of
 * its own with a channel and nothing else.  It trusts the supervisor for the
 * rules, and reads nothing hostile before its jail: from then on it may read
 * what it is handed, receive, send and end.  All memory is there by then, so
 * the jail has no call that would get more.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/jail.h"
#include "base/memfd.h"
#include "base/own.h"
#include "executor/screen.h"
#include "policy/screening.h"

/* Compiling takes tens of megabytes and milliseconds; a policy that takes more
 * than this ends the screen before it is ready. */
#define BUILD_MEMORY_BYTES (UINT64_C(2) << 30)
#define BUILD_CPU_S        60

#define MS_A_SECOND        1000
#define US_A_MS            1000

struct screen {
	struct channel channel;
	union {
		struct screen_build build;
		struct screen_code code;
	} in;
	union {
		struct screen_fault fault;
		struct screen_hits hits;
	} out;
	uint64_t code_max;
	/* By index in the policy; NULL: no rules. */
	struct screening *languages[POLICY_LANGUAGES_MAX];
	struct screening_room *room;
	struct screening_hits found;
};

static int send_reply(struct screen *s, uint16_t verb, const void *message,
    const struct fd_list *fds, struct error *e)
{
	struct channel_send what = { &screen_reply_protocol, verb, message,
		fds };

	return channel_send(&s->channel, &what, e);
}

static int receive(
    struct screen *s, uint16_t wanted, int *ret_fd, struct error *e)
{
	struct channel_receive what = { &screen_protocol, 1,
		{ &s->in, sizeof(s->in) } };
	struct fd_list fds;
	uint16_t verb;

	if (channel_receive(&s->channel, &what, &verb, &fds, e) < 0)
		return -1;
	if (verb != wanted || fds.n != 1) {
		fd_list_close(&fds);
		return FAIL(e, ERROR_STATE, "message %u with %zu descriptors",
		    verb, fds.n);
	}
	*ret_fd = fds.fd[0];
	return 0;
}

/* Rules of one language, as they are read. */
struct reading {
	struct screening_rules rules;
	uint32_t language;
	struct screen_rule next;
	struct code_rule items[POLICY_RULES_MAX];
};

static int compile(struct screen *s, struct reading *r, struct error *e)
{
	struct screen_fault *fault = &s->out.fault;
	struct error unheard;
	size_t rule = 0;

	if (r->rules.n == 0)
		return 0;
	if (screening_compile(
	        &r->rules, &s->languages[r->language], &rule, e) == 0) {
		r->rules.n = 0;
		return 0;
	}
	fault->language = r->language;
	fault->rule = (uint32_t)rule;
	memcpy(fault->text, e->text, sizeof(fault->text));
	if (send_reply(s, SCREEN_FAULT, fault, NULL, &unheard) < 0)
		return -1; /* nobody hears it: the end all the same */
	return -1;
}

static int take_rule(struct screen *s, struct reading *r, struct error *e)
{
	const struct screen_rule *next = &r->next;
	struct code_rule *to;

	if (r->rules.n > 0 && next->language_index != r->language &&
	    compile(s, r, e) < 0)
		return -1;
	if (next->language_index >= POLICY_LANGUAGES_MAX ||
	    s->languages[next->language_index] != NULL ||
	    r->rules.n == POLICY_RULES_MAX)
		return FAIL(e, ERROR_MALFORMED, "rules out of order");
	r->language = next->language_index;
	if (r->rules.n == 0)
		memcpy(r->items[0].id, next->language, sizeof(next->language));
	to = &r->items[r->rules.n++];
	to->is_module = next->is_module != 0;
	to->places = next->places;
	memcpy(to->text, next->text, sizeof(to->text));
	/* Nobody reads ids here: the first holds the language's name. */
	r->rules.language = r->items[0].id;
	r->rules.rules = r->items;
	return 0;
}

static int read_rules(struct screen *s, const uint8_t *data, size_t len,
    struct reading *r, struct error *e)
{
	struct bytes_reader in = { .data = data, .len = len };

	while (in.at < in.len) {
		uint32_t size = bytes_get_u32(&in);
		struct bytes_reader one = { .data = data + in.at, .len = size };
		struct wire_target to = { &r->next, sizeof(r->next) };
		uint16_t verb;

		if (in.bad || size > in.len - in.at)
			return FAIL(e, ERROR_MALFORMED, "rules cut off");
		if (wire_decode(&screen_rule_protocol, &one, &verb, to, e) < 0)
			return -1;
		in.at += size;
		if (take_rule(s, r, e) < 0)
			return -1;
	}
	return compile(s, r, e);
}

static int read_all(int fd, void *to, size_t len, struct error *e)
{
	size_t at = 0;

	while (at < len) {
		ssize_t got = pread(fd, (char *)to + at, len - at, (off_t)at);

		if (got < 0)
			return FAIL_SYS(e, "read a memory file");
		if (got == 0)
			return FAIL(e, ERROR_MALFORMED, "a file is shorter");
		at += (size_t)got;
	}
	return 0;
}

/* BUILD: the last thing done with memory to spare. */
static int build(struct screen *s, struct error *e)
{
	AUTO_FREE struct reading *reading = calloc(1, sizeof(*reading));
	AUTO_FREE uint8_t *data = NULL;
	AUTO_FD fd = -1;
	uint64_t size;

	if (receive(s, SCREEN_BUILD, &fd, e) < 0)
		return -1;
	if (memfd_check(fd, SCREEN_RULES_MAX, &size, e) < 0)
		return FAIL_IN(e, "rules");
	data = malloc((size_t)size + 1);
	if (data == NULL || reading == NULL)
		return FAIL_SYS(e, "allocate to read rules");
	s->code_max = s->in.build.code_max;
	if (s->code_max > LIMIT_CODE_MAX)
		return FAIL(
		    e, ERROR_LIMIT, "%" PRIu64 " bytes of code", s->code_max);
	if (read_all(fd, data, (size_t)size, e) < 0 ||
	    read_rules(s, data, (size_t)size, reading, e) < 0)
		return -1;
	return screening_room(s->languages, POLICY_LANGUAGES_MAX,
	    (size_t)s->code_max, &s->room, e);
}

static int bound_building(struct error *e)
{
	const struct rlimit memory = { BUILD_MEMORY_BYTES, BUILD_MEMORY_BYTES };
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_AS, &memory) < 0 ||
	    setrlimit(RLIMIT_CORE, &none) < 0)
		return FAIL_SYS(e, "limit memory");
	return 0;
}

/* The kernel kills us (SIGPROF) when this much processor time is used. */
static int set_budget(uint32_t budget_ms, struct error *e)
{
	const struct itimerval timer = {
		.it_value = { budget_ms / MS_A_SECOND,
		    (suseconds_t)(budget_ms % MS_A_SECOND) * US_A_MS }
	};

	if (setitimer(ITIMER_PROF, &timer, NULL) < 0)
		return FAIL_SYS(e, "limit processor time");
	return 0;
}

static int enter_jail(struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_pread64, JAIL_ANY, 0 },
		{ __NR_recvmsg, 0, SCREEN_CHANNEL_FD },
		{ __NR_sendmsg, 0, SCREEN_CHANNEL_FD },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_setitimer, 0, ITIMER_PROF },
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.read_fd = -1,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};

	return jail_enter(&jail, e);
}

/* Whoever waits for us can kill us by this. */
static int say_ready(struct screen *s, struct error *e)
{
	struct fd_list fds = { .n = 1 };
	int failed;

	fds.fd[0] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fds.fd[0] < 0)
		return FAIL_SYS(e, "hold on to ourselves");
	if (enter_jail(e) < 0)
		return -1;
	failed = send_reply(s, SCREEN_READY, NULL, &fds, e);
	(void)close(fds.fd[0]);
	return failed;
}

static int serve_one(struct screen *s, struct error *e)
{
	const struct screen_code *in = &s->in.code;
	struct screen_hits *out = &s->out.hits;
	AUTO_FD fd = -1;

	if (receive(s, SCREEN_CODE, &fd, e) < 0)
		return -1;
	if (in->language >= POLICY_LANGUAGES_MAX ||
	    s->languages[in->language] == NULL || in->size > s->code_max)
		return FAIL(e, ERROR_MALFORMED, "code that cannot be screened");
	if (set_budget(in->budget_ms, e) < 0 ||
	    read_all(fd, screening_text(s->room), (size_t)in->size, e) < 0 ||
	    screening_scan(s->languages[in->language], s->room,
	        (size_t)in->size, &s->found, e) < 0 ||
	    set_budget(0, e) < 0)
		return -1;
	out->number = in->number;
	out->encoded = s->found.encoded ? 1 : 0;
	out->hits.n = s->found.n;
	for (size_t i = 0; i < s->found.n; i++)
		out->hits.items[i] =
		    (struct screen_hit){ s->found.items[i].rule,
			    s->found.items[i].line, s->found.items[i].at };
	return send_reply(s, SCREEN_HITS, out, NULL, e);
}

static int serve(struct screen *s, struct error *e)
{
	if (bound_building(e) < 0 ||
	    set_budget(BUILD_CPU_S * MS_A_SECOND, e) < 0 || build(s, e) < 0 ||
	    set_budget(0, e) < 0 || say_ready(s, e) < 0)
		return -1;
	while (serve_one(s, e) == 0)
		continue;
	return e->kind == ERROR_CLOSED ? 0 : -1;
}

/* It has no standard streams: its end shows as a channel that closes. */
int main(void)
{
	struct screen *s = calloc(1, sizeof(*s));
	struct error e = { 0 };
	int failed;

	if (s == NULL)
		return EXIT_FAILURE;
	s->channel.fd = SCREEN_CHANNEL_FD;
	failed = serve(s, &e);
	_exit(failed < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
