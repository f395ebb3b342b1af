/*
 * cli/front.c - finding and greeting a service.  Linked by `bailiff`.  The
 * service is trusted to decide; what it sends is bounded by the codec.
 */
#include "cli/front.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/start.h"
#include "executor/service.h"

#define HELLO_WAIT_S   30
#define TAKEN_WAIT_MS  10000
#define TAKEN_PAUSE_MS 10

void front_free(struct front *f)
{
	if (f == NULL)
		return;
	own_close(&f->channel.fd);
	free(f);
}

static int front_new(int take_fd, struct front **ret, struct error *e)
{
	struct front *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		(void)close(take_fd);
		return FAIL_SYS(e, "allocate");
	}
	f->channel.fd = take_fd;
	*ret = f;
	return 0;
}

int front_send(struct front *f, enum protocol_verb verb, const void *message,
    const struct fd_list *fds, struct error *e)
{
	struct channel_send what = { &protocol, (uint16_t)verb, message, fds };

	return channel_send(&f->channel, &what, e);
}

int front_receive(
    struct front *f, uint16_t *ret_verb, int *ret_fd, struct error *e)
{
	struct channel_receive what = { .protocol = &protocol_reply,
		.max_fds = 1,
		.to = { &f->reply, sizeof(f->reply) } };
	struct fd_list fds = { .n = 0 };

	if (channel_receive(&f->channel, &what, ret_verb, &fds, e) < 0)
		return -1;
	*ret_fd = fds.n > 0 ? fds.fd[0] : -1;
	return 0;
}

int front_failed(const struct protocol_failed *failed, struct error *e)
{
	enum error_kind kind =
	    failed->kind > ERROR_NONE && failed->kind <= ERROR_CLOSED
	        ? (enum error_kind)failed->kind
	        : ERROR_STATE;

	return FAIL(e, kind, "%s", failed->text);
}

int front_expect(struct front *f, enum protocol_reply_verb verb, int *ret_fd,
    struct error *e)
{
	AUTO_FD fd = -1;
	uint16_t got;

	if (front_receive(f, &got, &fd, e) < 0)
		return -1;
	if (got == PROTOCOL_FAILED)
		return front_failed(&f->reply.failed, e);
	if (got != verb)
		return FAIL(e, ERROR_MALFORMED,
		    "the service answered %s, not %s",
		    wire_verb_name(&protocol_reply, got),
		    wire_verb_name(&protocol_reply, (uint16_t)verb));
	*ret_fd = take_fd(&fd);
	return 0;
}

enum greeting {
	GREETED,
	GREETED_STALE,
	GREETED_LEFT
};

/*
 * HELLO and its answer.  A service that does not answer in time is an error,
 * not something to wait for without end.
 */
static int greet(struct front *f, const struct protocol_hello *hello,
    enum greeting *ret, struct error *e)
{
	struct timeval bound = { .tv_sec = HELLO_WAIT_S };
	const struct timeval forever = { 0 };
	AUTO_FD fd = -1;
	uint16_t verb;

	if (setsockopt(f->channel.fd, SOL_SOCKET, SO_RCVTIMEO, &bound,
	        sizeof(bound)) < 0)
		return FAIL_SYS(e, "set a timeout");
	if (front_send(f, PROTOCOL_HELLO, hello, NULL, e) < 0 ||
	    front_receive(f, &verb, &fd, e) < 0) {
		if (e->kind == ERROR_CLOSED) {
			*ret = GREETED_LEFT;
			return 0;
		}
		if (e->saved_errno != EAGAIN)
			return -1;
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the service is silent for %d seconds; bailiff stop ends "
		    "it",
		    HELLO_WAIT_S);
	}
	if (verb == PROTOCOL_FAILED)
		return front_failed(&f->reply.failed, e);
	if (verb != PROTOCOL_WELCOME && verb != PROTOCOL_STALE)
		return FAIL(e, ERROR_MALFORMED, "the service said %s to hello",
		    wire_verb_name(&protocol_reply, verb));
	if (setsockopt(f->channel.fd, SOL_SOCKET, SO_RCVTIMEO, &forever,
	        sizeof(forever)) < 0)
		return FAIL_SYS(e, "clear a timeout");
	*ret = verb == PROTOCOL_STALE ? GREETED_STALE : GREETED;
	return 0;
}

static int connect_once(const struct service *s, struct front **ret,
    enum greeting *ret_greeting, struct error *e)
{
	struct protocol_hello hello = { .version = PROTOCOL_VERSION };
	char name[SERVICE_NAME_MAX];
	struct front *f;
	int fd;

	service_socket_name(s, name);
	memcpy(hello.policy_file, s->policy_sha256, sizeof(hello.policy_file));
	if (service_connect(s->run_fd, name, &fd, e) < 0 ||
	    front_new(fd, &f, e) < 0)
		return -1;
	if (greet(f, &hello, ret_greeting, e) < 0) {
		front_free(f);
		return -1;
	}
	*ret = f;
	return 0;
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	(void)nanosleep(&t, NULL);
}

/* What happened so far: each kind of second chance is given once. */
struct search {
	int started;   /* services that we started */
	int stale;     /* services that told us to start another */
	int left;      /* ends of file before an answer */
	int waited_ms; /* for another one's start */
};

/* Nobody listens: start one, or wait for who is starting. */
static int start_or_wait(struct service *s, struct search *at, struct error *e)
{
	enum start_result result;

	if (at->started > 1)
		return FAIL(e, ERROR_STATE,
		    "the service started but does not listen; if the policy "
		    "file just changed, run this again");
	/* A taken lock is another front's start, or a predecessor that drains:
	 * try the socket often, a start of our own seldom. */
	if (at->waited_ms % 500 != 0) {
		pause_ms(TAKEN_PAUSE_MS);
		at->waited_ms += TAKEN_PAUSE_MS;
		return 0;
	}
	if (start_service(s, &result, e) < 0)
		return -1;
	if (result == START_READY) {
		at->started++;
		at->waited_ms = 0;
		return 0;
	}
	if (at->waited_ms >= TAKEN_WAIT_MS)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "another service holds the lock but does not listen "
		    "for %d seconds; bailiff stop ends it",
		    TAKEN_WAIT_MS / 1000);
	pause_ms(TAKEN_PAUSE_MS);
	at->waited_ms += TAKEN_PAUSE_MS;
	return 0;
}

/* One step of the search; *ret is set when it is over. */
static int search(
    struct service *s, struct search *at, struct front **ret, struct error *e)
{
	enum greeting greeting = GREETED;
	struct front *f;

	if (connect_once(s, &f, &greeting, e) < 0)
		return e->kind == ERROR_CLOSED ? start_or_wait(s, at, e) : -1;
	if (greeting == GREETED) {
		*ret = f;
		return 0;
	}
	front_free(f);
	if (greeting == GREETED_LEFT && at->left++ > 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the service leaves before it answers; run this again");
	if (greeting == GREETED_LEFT)
		return 0;
	if (at->stale++ > 0)
		return FAIL(e, ERROR_STATE,
		    "what the policy is made of changes while the service "
		    "starts; run this again");
	at->waited_ms = 0;
	return start_or_wait(s, at, e);
}

int front_adopt(int take_fd, struct front **ret, struct error *e)
{
	struct protocol_hello hello = { .version = PROTOCOL_VERSION,
		.any_policy = 1 };
	enum greeting greeting;
	struct front *f;
	int result;

	if (front_new(take_fd, &f, e) < 0)
		return -1;
	result = greet(f, &hello, &greeting, e);
	if (result == 0 && greeting != GREETED)
		result = FAIL(e, ERROR_CLOSED, "the service is ending");
	if (result < 0) {
		front_free(f);
		return -1;
	}
	*ret = f;
	return 0;
}

/* The system service decides for whoever names neither state nor policy. */
static int open_system(struct front **ret, struct error *e)
{
	AUTO_FD dir_fd = open("/run/bailiff", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (dir_fd < 0)
		return FAIL_SYS(e, "open /run/bailiff");
	if (service_connect(dir_fd, "bailiff.sock", &fd, e) < 0)
		return FAIL_IN(e,
		    "the system service does not answer; start it, or name "
		    "--state and --policy of your own");
	return front_adopt(fd, ret, e);
}

int front_open(
    const struct front_place *where, struct front **ret, struct error *e)
{
	struct search at = { 0 };
	struct service *s;
	struct stat st;
	int result;

	if (where->state == NULL && where->policy == NULL &&
	    lstat(SERVICE_SYSTEM_SOCKET, &st) == 0)
		return open_system(ret, e);
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return FAIL_SYS(e, "allocate");
	result = service_locate(where->state, where->policy, s, e);
	*ret = NULL;
	while (result == 0 && *ret == NULL)
		result = search(s, &at, ret, e);
	service_done(s);
	free(s);
	return result;
}
