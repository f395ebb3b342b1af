/*
 * executor/supervisor_screen.c - the screen, seen from the supervisor.  Linked
 * by the supervisor.  See screen.h for the conversation.
 *
 * A screen that dies, hangs or talks nonsense denies the request whose code it
 * had, and the next one is started.  One that cannot even get ready, though an
 * earlier one did, is tried again some times; then no run is accepted any more.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/helper.h"
#include "executor/patience.h"
#include "executor/peers.h"
#include "executor/run_steps.h"

/* Processor time for one code: for starting, and for each MiB.  Vectorscan and
 * the lexers take some 5 ms for a MiB; slow hosts are twenty times slower. */
#define BUDGET_MS     1000
#define BUDGET_MIB_MS 250
#define MIB           1048576u

#define FAILED_MAX    3

static int put_rule(
    const struct screen_rule *rule, struct bytes_writer *out, struct error *e)
{
	size_t at = out->len;
	struct bytes_writer one;

	bytes_put_u32(out, 0); /* its length, when it is known */
	if (wire_encode(&screen_rule_protocol, SCREEN_RULE, rule, out, e) < 0)
		return -1;
	if (out->bad)
		return FAIL(e, ERROR_LIMIT, "code rules: more than %d bytes",
		    SCREEN_RULES_MAX);
	one = (struct bytes_writer){ .data = out->data + at, .cap = 4 };
	bytes_put_u32(&one, (uint32_t)(out->len - at - 4));
	return 0;
}

static int put_language(const struct policy_language *l, uint32_t index,
    struct bytes_writer *out, struct error *e)
{
	struct screen_rule rule = { .language_index = index };

	memcpy(rule.language, l->language.name, sizeof(rule.language));
	for (size_t i = 0; i < l->n_rules; i++) {
		rule.is_module = l->rules[i].is_module ? 1 : 0;
		rule.places = l->rules[i].places;
		memcpy(rule.text, l->rules[i].text, sizeof(rule.text));
		if (put_rule(&rule, out, e) < 0)
			return -1;
	}
	return 0;
}

static int keep_rules(struct supervisor *s, struct error *e)
{
	const struct policy *p = s->policy;
	struct bytes_writer out = { .data = s->block, .cap = SCREEN_RULES_MAX };

	_Static_assert(SCREEN_RULES_MAX <= SUPERVISOR_BLOCK, "it fits");
	for (size_t i = 0; i < p->n_languages; i++) {
		const struct policy_language *l = &p->languages[i];

		if (l->n_rules == 0)
			continue;
		if (put_language(l, (uint32_t)i, &out, e) < 0)
			return -1;
		if (l->limits[LIMIT_CODE].max > s->screen.code_max)
			s->screen.code_max = l->limits[LIMIT_CODE].max;
	}
	if (out.len == 0)
		return 0;
	return memfd_of("rules", s->block, out.len, &s->screen.rules_fd, e);
}

/* A new screen that has its rules and compiles. */
static int begin(struct supervisor *s, struct error *e)
{
	struct screen_build build = { .code_max = s->screen.code_max };
	struct fd_list rules = { .n = 1, .fd = { s->screen.rules_fd } };
	struct channel_send what = { &screen_protocol, SCREEN_BUILD, &build,
		&rules };
	AUTO_FD its_end = -1;
	int ends[2];

	if (channel_pair(ends, e) < 0)
		return -1;
	s->screen.fd = ends[0];
	its_end = ends[1];
	s->screen.due_us = loop_now_us() + PATIENCE_BUILD;
	if (helper_start(s, HELPER_SCREEN, its_end, NULL, e) < 0)
		return -1;
	if (supervisor_send(s, s->screen.fd, &what, e) < 0)
		return -1;
	if (fcntl(s->screen.fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up the screen's channel");
	return 0;
}

static int say_fault(const struct supervisor *s, struct error *e)
{
	const struct screen_fault *f = &s->in->screen_fault;
	const struct policy_language *l;
	const struct code_rule *rule;

	if (f->language >= s->policy->n_languages ||
	    f->rule >= s->policy->languages[f->language].n_rules)
		return FAIL(e, ERROR_MALFORMED, "bailiff-screen: nonsense");
	l = &s->policy->languages[f->language];
	rule = &l->rules[f->rule];
	return FAIL(e, ERROR_MALFORMED,
	    "policy: %.120s:%" PRIu32 ":%" PRIu32
	    ": /languages/%s/rules/%" PRIu32 ": rule \"%s\": %.200s",
	    s->service.policy, rule->line, rule->column, l->language.name,
	    f->rule, rule->id, f->text);
}

static int take_ready(
    struct supervisor *s, const struct supervisor_heard *heard, struct error *e)
{
	if (heard->verb == SCREEN_FAULT)
		return say_fault(s, e);
	if (heard->verb != SCREEN_READY || heard->fds.n != 1)
		return FAIL(e, ERROR_STATE, "bailiff-screen is not ready");
	s->screen.pid_fd = heard->fds.fd[0];
	s->screen.ready = true;
	s->screen.n_failed = 0;
	s->screen.due_us = 0;
	return 0;
}

static int await_ready(struct supervisor *s, struct error *e)
{
	struct pollfd answer = { .fd = s->screen.fd, .events = POLLIN };
	struct supervisor_heard heard;
	int n;

	do
		n = poll(&answer, 1, (int)(PATIENCE_BUILD / 1000));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return FAIL_SYS(e, "wait for bailiff-screen");
	if (n == 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "bailiff-screen is not ready after a minute "
		    "(screen.timeout); write simpler code rules");
	if (supervisor_receive(
	        s, s->screen.fd, &screen_reply_protocol, &heard, e) < 0)
		return FAIL_IN(e, "bailiff-screen ended before it was ready");
	if (take_ready(s, &heard, e) == 0)
		return 0;
	fd_list_close(&heard.fds);
	return -1;
}

int supervisor_screen_start(struct supervisor *s, struct error *e)
{
	if (keep_rules(s, e) < 0)
		return FAIL_IN(e, "screen");
	if (s->screen.rules_fd < 0)
		return 0;
	return begin(s, e) < 0 ? -1 : await_ready(s, e);
}

static void finish(struct supervisor *s)
{
	struct screen_link *link = &s->screen;

	loop_remove(&s->loop, &link->watch);
	launcher_kill(link->pid_fd);
	own_close(&link->pid_fd);
	own_close(&link->fd);
	link->pid_fd = -1;
	link->fd = -1;
	link->ready = false;
	link->due_us = 0;
}

static void give_up(struct supervisor *s, const char *why)
{
	finish(s);
	if (s->broken[0] == '\0')
		(void)snprintf(s->broken, sizeof(s->broken),
		    "code cannot be screened: %.200s; look at dmesg, run "
		    "bailiff stop, then try again",
		    why);
	for (struct run *r = s->runs; r != NULL; r = r->next)
		if (r->stage == RUN_SCREENING)
			run_unscreened(r, "code.rule.failed");
}

/*
 * The kernel kills a screen that has used its processor time, which cannot have
 * been used sooner than it has passed.
 */
static void deny_current(struct supervisor *s, const char *reason)
{
	struct run *r = run_of_number(s, s->screen.number);

	s->screen.number = 0;
	if (r != NULL && r->stage == RUN_SCREENING)
		run_unscreened(r, reason);
}

static void start_again(struct supervisor *s)
{
	struct error e;

	s->screen.n_failed++;
	finish(s);
	if (s->screen.n_failed > FAILED_MAX)
		give_up(s, "bailiff-screen ends before it is ready");
	else if (begin(s, &e) < 0 || loop_add(&s->loop, &s->screen.watch,
	                                 s->screen.fd, EPOLLIN, &e) < 0)
		give_up(s, e.text);
}

/* It is gone, or as good as gone. */
static void lost(struct supervisor *s)
{
	uint64_t used_us = loop_now_us() - s->screen.sent_us;

	deny_current(s, used_us >= s->screen.budget_us ? "code.rule.limit"
	                                               : "code.rule.failed");
	start_again(s);
}

static int take_hits(
    struct supervisor *s, struct supervisor_heard *heard, struct error *e)
{
	struct run *r = run_of_number(s, s->screen.number);
	const struct run_message m = { ROLE_SCREEN, heard->verb, s->in,
		&heard->fds };

	if (heard->verb != SCREEN_HITS || s->screen.number == 0 ||
	    s->in->screen_hits.number != s->screen.number)
		return FAIL(e, ERROR_STATE, "an answer that nobody asked for");
	s->screen.due_us = 0;
	/* Whoever left meanwhile does not need it any more. */
	if (r != NULL && r->stage == RUN_SCREENING && run_handle(r, &m, e) < 0)
		return -1;
	s->screen.number = 0;
	supervisor_screen_next(s);
	return 0;
}

static void screen_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	struct supervisor_heard heard;
	struct error e;
	int failed;

	(void)events;
	if (supervisor_receive(
	        s, s->screen.fd, &screen_reply_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			lost(s);
		return;
	}
	if (s->screen.ready) {
		failed = take_hits(s, &heard, &e);
		fd_list_close(&heard.fds);
	} else {
		failed = take_ready(s, &heard, &e);
		if (failed < 0)
			fd_list_close(&heard.fds);
		else
			supervisor_screen_next(s);
	}
	if (failed < 0)
		lost(s);
}

int supervisor_screen_watch(struct supervisor *s, struct error *e)
{
	s->screen.watch = (struct watch){ -1, 0, screen_ready, s };
	if (s->screen.fd < 0)
		return 0;
	return loop_add(&s->loop, &s->screen.watch, s->screen.fd, EPOLLIN, e);
}

static struct run *first_waiting(const struct supervisor *s)
{
	for (struct run *r = s->runs; r != NULL; r = r->next)
		if (r->stage == RUN_SCREENING)
			return r;
	return NULL;
}

void supervisor_screen_next(struct supervisor *s)
{
	struct run *r = first_waiting(s);
	struct screen_code code = { 0 };
	struct fd_list fds = { .n = 1 };
	struct channel_send what = { &screen_protocol, SCREEN_CODE, &code,
		&fds };
	struct error e;

	if (r == NULL || !s->screen.ready || s->screen.number != 0)
		return;
	code.number = r->number;
	code.language = (uint32_t)(r->decision.language - s->policy->languages);
	code.size = r->intent.code_size;
	code.budget_ms =
	    BUDGET_MS + (uint32_t)(code.size * BUDGET_MIB_MS / MIB);
	fds.fd[0] = r->code_fd;
	s->screen.number = r->number;
	s->screen.budget_us = (uint64_t)code.budget_ms * 1000;
	s->screen.sent_us = loop_now_us();
	s->screen.due_us = s->screen.sent_us + PATIENCE_SCREEN;
	if (supervisor_send(s, s->screen.fd, &what, &e) < 0)
		lost(s);
}

uint64_t supervisor_screen_tend(struct supervisor *s, uint64_t now_us)
{
	uint64_t due_us = s->screen.due_us;

	if (due_us == 0)
		return UINT64_MAX;
	if (now_us >= due_us)
		lost(s);
	return s->screen.due_us != 0 ? s->screen.due_us : UINT64_MAX;
}
