/*
 * cli/stop.c - `bailiff stop`.  Linked by `bailiff`.  It asks; a service that
 * does not answer is named, never killed by force here.
 */
#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/say.h"
#include "executor/service.h"

#define REQUEST     1
#define END_WAIT_MS 30000

enum row {
	ROW_POLICY,
	ROW_STATE,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_POLICY] = { "--policy", "FILE", "only the service of this policy", false },
	[ROW_STATE]  = { "--state", "DIR", "the services of this state directory", false },
};
/* clang-format on */

const struct command stop_command = {
	.name = "bailiff stop",
	.usage = "[options]",
	.about = "End the services of a state directory.  Runs that are still "
	         "going are cancelled\nand recorded.  The system service is "
	         "left to its manager.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0 (also when none was running), 2 usage, 125 a "
	         "service did not end\n",
};

/* Ask, then wait for the end of the channel: the service's last act. */
static int ask_to_stop(
    struct front *f, uint64_t *ret_cancelled, struct error *e)
{
	struct protocol_stop message = { .request = REQUEST };
	struct pollfd p = { .fd = f->channel.fd, .events = POLLIN };
	AUTO_FD fd = -1;
	uint16_t verb;

	if (front_send(f, PROTOCOL_STOP, &message, NULL, e) < 0 ||
	    front_expect(f, PROTOCOL_STOPPED, &fd, e) < 0)
		return -1;
	*ret_cancelled = f->reply.stopped.cancelled;
	if (poll(&p, 1, END_WAIT_MS) == 0)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "it is still ending its runs");
	if (front_receive(f, &verb, &fd, e) == 0)
		return FAIL(e, ERROR_MALFORMED, "it speaks after its end");
	return e->kind == ERROR_CLOSED ? 0 : -1;
}

/* Nobody there, or gone before it could be asked: stopped all the same. */
static int stop_one(int run_fd, const char *name, size_t *n, struct error *e)
{
	struct front *f = NULL;
	uint64_t cancelled = 0;
	int fd;
	int result;

	if (service_connect(run_fd, name, &fd, e) < 0 ||
	    front_adopt(fd, &f, e) < 0)
		return e->kind == ERROR_CLOSED ? 0 : FAIL_IN(e, "%s", name);
	result = ask_to_stop(f, &cancelled, e);
	front_free(f);
	if (result < 0)
		return e->kind == ERROR_CLOSED ? 0 : FAIL_IN(e, "%s", name);
	(*n)++;
	if (cancelled > 0)
		say_line("%" PRIu64 " runs were cancelled", cancelled);
	return 0;
}

/* "0123456789abcdef.sock": the signer's socket has another shape. */
static bool is_service(const char *name)
{
	return strspn(name, "0123456789abcdef") == 16 &&
	       strcmp(name + 16, ".sock") == 0;
}

static int stop_all(const struct service *s, size_t *n, struct error *e)
{
	int fd = dup(s->run_fd);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int failed = 0;

	if (dir == NULL) {
		own_close(&fd);
		return FAIL_SYS(e, "read the directory of sockets");
	}
	/* One that fails does not keep the others alive. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	for (const struct dirent *d = readdir(dir); d != NULL; d = readdir(dir))
		if (is_service(d->d_name) &&
		    stop_one(s->run_fd, d->d_name, n, e) < 0)
			failed = -1;
	(void)closedir(dir);
	return failed;
}

static int stop(const struct front_place *place, size_t *n, struct error *e)
{
	struct service *s = calloc(1, sizeof(*s));
	char name[SERVICE_NAME_MAX];
	int result;

	if (s == NULL)
		return FAIL_SYS(e, "allocate");
	if (place->policy != NULL) {
		result = service_locate(place->state, place->policy, s, e);
		service_socket_name(s, name);
		if (result == 0)
			result = stop_one(s->run_fd, name, n, e);
	} else {
		result = service_locate_state(place->state, s, e);
		if (result == 0)
			result = stop_all(s, n, e);
	}
	service_done(s);
	free(s);
	return result;
}

static int parse(
    char **words, struct front_place *place, bool *ret_help, struct error *e)
{
	struct options o = { .command = &stop_command, .argv = words };
	const char *value;
	int found;

	for (;;) {
		if (options_next(&o, &found, &value, e) < 0)
			return -1;
		if (found == OPTIONS_END || found == OPTIONS_REST)
			return 0;
		if (found == OPTIONS_OPERAND)
			return FAIL(e, ERROR_USAGE,
			    "'%s' is one too many: only options", value);
		if (found == OPTIONS_HELP)
			*ret_help = true;
		if (found == ROW_POLICY)
			place->policy = value;
		if (found == ROW_STATE)
			place->state = value;
	}
}

int stop_main(char **words)
{
	struct front_place place = { 0 };
	struct error e;
	size_t n = 0;
	bool help = false;

	if (parse(words, &place, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&stop_command);
	if (stop(&place, &n, &e) < 0)
		return say_failed(&e, EXIT_NOT_STARTED);
	return 0;
}
