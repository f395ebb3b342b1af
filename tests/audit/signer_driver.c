/*
 * tests/audit/signer_driver.c - a supervisor without a sandbox: speaks to a
 * signer over the real client library, as commands on standard input say.
 *
 *   signer_driver SOCKET INSTANCE(32 hex) [tick=SECONDS] [build=HH] [policy=HH]
 *       [durability=WORD]
 *   (HH: a byte of the digest of its program, of its policy)
 *     intent RUN              -> stored SEQ LEAF | refused KIND TEXT
 *     denial RUN
 *     outcome RUN SEQ LEAF [DIR]   DIR receives line, key and proof
 *     big RUN SEQ LEAF        an outcome of 64 artifacts with long names
 *     runs N                  N random runs, one after the other; each answer
 *                             is printed as it comes
 *     flood N                 N denials, sent ahead of their answers
 *     gap N                   N requests were refused
 *     access RUN [NAME]
 *     prune RUN               its results go
 *     redact RUN [results]    its salts are erased
 *     garbage                 bytes that are no message
 *     odd RUN                 an intent with a text that no record may hold
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/client.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

struct driver {
	struct audit_client *client;
	int fd;
	uint64_t tickets;
	union {
		struct event_intent intent;
		struct event_denial denial;
		struct event_outcome outcome;
		struct event_gap gap;
		struct event_access access;
		struct event_prune prune;
		struct event_redact redact;
	};
	uint8_t policy; /* a byte of its digest */
	union audit_reply reply;
	uint64_t seq;
	uint8_t leaf[32];
};

__attribute__((noreturn)) static void die(const char *text)
{
	(void)printf("closed %s\n", text);
	(void)fflush(stdout);
	exit(1);
}

static void unhex(const char *text, uint8_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };

		ret[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
}

static void print_hex(const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)printf("%02x", from[i]);
}

static void say(struct driver *d, enum event_verb verb)
{
	struct pollfd p = { .fd = d->fd, .events = POLLOUT };
	struct error e;

	while (audit_send(d->client, verb, &d->intent, &e) < 0) {
		if (e.saved_errno != EAGAIN)
			die(e.text);
		(void)poll(&p, 1, -1);
	}
}

/* True when the next answer is STORED. */
static bool hear(struct driver *d, const char *what)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	struct error e;
	uint16_t verb;

	while (audit_receive(d->client, &verb, &d->reply, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			die(e.text);
		(void)poll(&p, 1, -1);
	}
	if (verb == EVENT_REFUSED) {
		(void)printf("refused %u %s\n", d->reply.refused.kind,
		    d->reply.refused.text);
		(void)fflush(stdout);
		return false;
	}
	d->seq = d->reply.stored.seq;
	memcpy(d->leaf, d->reply.stored.leaf, sizeof(d->leaf));
	(void)printf("%s %llu ", what, (unsigned long long)d->seq);
	print_hex(d->leaf, sizeof(d->leaf));
	(void)printf("\n");
	(void)fflush(stdout);
	return true;
}

static void fill_policy(
    const struct driver *d, struct event_policy *p, struct event_principal *who)
{
	p->sha256[0] = d->policy;
	(void)snprintf(p->name, sizeof(p->name), "test");
	(void)snprintf(who->auth, sizeof(who->auth), "peercred");
}

static void fill_intent(struct driver *d, const uint8_t run[EVENT_RUN_BYTES])
{
	memset(&d->intent, 0, sizeof(d->intent));
	d->intent.ticket = ++d->tickets;
	memcpy(d->intent.run, run, EVENT_RUN_BYTES);
	d->intent.rules.n = 1;
	(void)snprintf(
	    d->intent.rules.items[0].text, EVENT_WORD_MAX, "language.python");
	(void)snprintf(d->intent.lang, EVENT_WORD_MAX, "python");
	d->intent.limits.n = 1;
	(void)snprintf(d->intent.limits.items[0].name, EVENT_WORD_MAX, "pids");
	d->intent.limits.items[0].value = EVENT_UNLIMITED;
	fill_policy(d, &d->intent.policy, &d->intent.principal);
}

static void send_denial(struct driver *d, const uint8_t run[EVENT_RUN_BYTES])
{
	memset(&d->denial, 0, sizeof(d->denial));
	d->denial.ticket = ++d->tickets;
	memcpy(d->denial.run, run, EVENT_RUN_BYTES);
	d->denial.reasons.n = 1;
	(void)snprintf(
	    d->denial.reasons.items[0].text, EVENT_WORD_MAX, "path.traversal");
	fill_policy(d, &d->denial.policy, &d->denial.principal);
	say(d, EVENT_DENIAL);
}

static void fill_outcome(struct driver *d, const uint8_t run[EVENT_RUN_BYTES])
{
	uint64_t seq = d->seq;
	struct event_outcome *o = &d->outcome;

	memset(o, 0, sizeof(*o));
	o->ticket = ++d->tickets;
	memcpy(o->run, run, EVENT_RUN_BYTES);
	o->intent_seq = seq;
	memcpy(o->intent_leaf, d->leaf, sizeof(o->intent_leaf));
	o->has = OUTCOME_HAS_USE;
	o->status = STATUS_OK;
	o->phase = PHASE_RUN;
	o->exit_kind = EXIT_CODE;
	(void)snprintf(o->start, EVENT_WORD_MAX, "cold");
}

static void fill_subjects(struct event_outcome *o)
{
	o->has |= OUTCOME_HAS_OUTPUT;
	o->subjects.n = EVENT_SUBJECTS_MAX;
	for (size_t i = 0; i < EVENT_SUBJECTS_MAX; i++) {
		char *name = o->subjects.items[i].name;

		memset(name, 'n', EVENT_NAME_MAX - 1);
		(void)snprintf(name, EVENT_NAME_MAX, "files/%02zu", i);
		name[strlen(name)] = 'n';
	}
}

static void save(
    const char *dir, const char *name, const void *data, size_t len)
{
	char path[4096];
	struct error e;
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || file_write_all(fd, data, len, &e) < 0)
		die(path);
}

static void save_receipt(const struct driver *d, const char *dir)
{
	const struct event_stored *s = &d->reply.stored;

	save(dir, "line", s->line.data, (size_t)s->line.len);
	save(dir, "key", s->record_key, sizeof(s->record_key));
	save(dir, "proof", s->proof.data, (size_t)s->proof.len);
}

static void do_runs(struct driver *d, unsigned long n)
{
	uint8_t run[EVENT_RUN_BYTES];

	for (unsigned long i = 0; i < n; i++) {
		if (getrandom(run, sizeof(run), 0) != sizeof(run))
			die("getrandom");
		fill_intent(d, run);
		say(d, EVENT_INTENT);
		if (!hear(d, "intent"))
			continue;
		fill_outcome(d, run);
		say(d, EVENT_OUTCOME);
		(void)hear(d, "outcome");
	}
}

static void do_flood(struct driver *d, unsigned long n)
{
	uint8_t run[EVENT_RUN_BYTES];
	unsigned long heard = 0;

	/* Never so far ahead that both ends wait for each other. */
	for (unsigned long i = 0; i < n; i++) {
		if (getrandom(run, sizeof(run), 0) != sizeof(run))
			die("getrandom");
		send_denial(d, run);
		if (i - heard >= 32) {
			(void)hear(d, "denial");
			heard++;
		}
	}
	for (; heard < n; heard++)
		(void)hear(d, "denial");
}

/* Records about a run of the past, or about none. */
static bool tell_note(struct driver *d, const char *line)
{
	char word[16] = "", hex[64] = "", more[64] = "";
	uint8_t run[EVENT_RUN_BYTES];

	(void)sscanf(line, "%15s %63s %63s", word, hex, more);
	memset(&d->prune, 0, sizeof(d->prune));
	unhex(hex, run, sizeof(run));
	if (strcmp(word, "gap") == 0) {
		d->gap.ticket = ++d->tickets;
		d->gap.reason = GAP_BUSY;
		d->gap.refused = strtoull(hex, NULL, 10);
		d->gap.to_us = 1000000;
		say(d, EVENT_GAP);
	} else if (strcmp(word, "access") == 0) {
		d->access.ticket = ++d->tickets;
		memcpy(d->access.run, run, sizeof(run));
		(void)snprintf(d->access.name, EVENT_NAME_MAX, "%s", more);
		(void)snprintf(
		    d->access.principal.auth, EVENT_WORD_MAX, "peercred");
		say(d, EVENT_ACCESS);
	} else if (strcmp(word, "prune") == 0) {
		d->prune.ticket = ++d->tickets;
		d->prune.runs.n = 1;
		memcpy(d->prune.runs.items[0].run, run, sizeof(run));
		(void)snprintf(d->prune.policy.name, EVENT_WORD_MAX, "test");
		say(d, EVENT_PRUNE);
	} else if (strcmp(word, "redact") == 0) {
		d->redact.ticket = ++d->tickets;
		d->redact.results = more[0] != '\0';
		d->redact.runs.n = 1;
		memcpy(d->redact.runs.items[0].run, run, sizeof(run));
		(void)snprintf(
		    d->redact.principal.auth, EVENT_WORD_MAX, "peercred");
		say(d, EVENT_REDACT);
	} else {
		return false;
	}
	(void)hear(d, "stored");
	return true;
}

static void obey(struct driver *d, char *line)
{
	char word[16] = "", run_hex[64] = "", leaf[80] = "", dir[2048] = "";
	unsigned long long seq = 0;
	uint8_t run[EVENT_RUN_BYTES];
	int n = sscanf(
	    line, "%15s %63s %llu %79s %2047s", word, run_hex, &seq, leaf, dir);

	if (n < 1)
		return;
	if (strcmp(word, "runs") == 0) {
		do_runs(d, strtoul(run_hex, NULL, 10));
		return;
	}
	if (strcmp(word, "flood") == 0) {
		do_flood(d, strtoul(run_hex, NULL, 10));
		return;
	}
	if (strcmp(word, "garbage") == 0) {
		if (send(d->fd, "\xff\xffgarbage", 9, MSG_NOSIGNAL) < 0)
			die("send");
		(void)hear(d, "garbage");
		return;
	}
	if (tell_note(d, line))
		return;
	unhex(run_hex, run, sizeof(run));
	if (n >= 4) {
		d->seq = seq;
		unhex(leaf, d->leaf, sizeof(d->leaf));
	}
	if (strcmp(word, "denial") == 0) {
		send_denial(d, run);
	} else if (strcmp(word, "intent") == 0 || strcmp(word, "odd") == 0) {
		fill_intent(d, run);
		if (word[0] == 'o')
			d->intent.lang[0] = '"';
		say(d, EVENT_INTENT);
	} else {
		fill_outcome(d, run);
		if (strcmp(word, "big") == 0)
			fill_subjects(&d->outcome);
		say(d, EVENT_OUTCOME);
	}
	if (hear(d, "stored") && n == 5)
		save_receipt(d, dir);
}

static int connect_to(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0)
		die("connect");
	return fd;
}

static uint32_t promise_of(const char *word)
{
	uint32_t promise = 0;

	while (promise < PROMISE_N && strcmp(word, promise_word(promise)) != 0)
		promise++;
	return promise;
}

int main(int argc, char **argv)
{
	struct driver *d = calloc(1, sizeof(*d));
	struct event_hello *hello = calloc(1, sizeof(*hello));
	struct error e;
	char line[4096];

	if (argc < 3 || d == NULL || hello == NULL)
		return 2;
	for (int i = 3; i < argc; i++) {
		const char *value = strchr(argv[i], '=');

		if (value == NULL)
			return 2;
		if (argv[i][0] == 't')
			hello->tick_s = (uint32_t)strtoul(value + 1, NULL, 10);
		else if (argv[i][0] == 'd')
			hello->durability = promise_of(value + 1);
		else
			unhex(value + 1,
			    argv[i][0] == 'b' ? hello->builds.items[0].sha256
			                      : &d->policy,
			    1);
	}
	hello->version = EVENT_VERSION;
	unhex(argv[2], hello->instance, sizeof(hello->instance));
	hello->builds.n = 1;
	(void)snprintf(
	    hello->builds.items[0].program, EVENT_WORD_MAX, "supervisor");
	if (audit_open(connect_to(argv[1]), hello, &d->client, &e) < 0)
		die(e.text);
	d->fd = audit_fd(d->client);
	(void)printf("welcome %llu\n",
	    (unsigned long long)audit_welcome(d->client)->size);
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(d, line);
	audit_free(d->client);
	free(hello);
	free(d);
	return 0;
}
