/*
 * tests/escape/driver_faults.c - runs of which one system call fails, as
 * standard input lists them, and a launcher's end after one.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

#define REST_MS 20000

/* Ours and dead; with a tracer, who reaps it, once that one has let go. */
static bool is_gone(const struct driver *d)
{
	siginfo_t dead = { 0 };
	char path[32];

	if (!d->o.faults)
		return waitid(P_PID, (id_t)d->launch, &dead,
		           WEXITED | WNOHANG | WNOWAIT) == 0 &&
		       dead.si_pid == d->launch;
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)d->launch);
	return faccessat(AT_FDCWD, path, F_OK, 0) != 0;
}

/*
 * A launcher that ends by itself is to clean up first, and would be killed
 * with its tracer.
 */
void faults_await_end(struct driver *d)
{
	(void)shutdown(d->channel.fd, SHUT_RDWR);
	for (int i = 0; i < 1000 && !is_gone(d); i++)
		(void)poll(NULL, 0, 10);
	printf("launch-gone %s\n", is_gone(d) ? "yes" : "no");
	(void)fflush(stdout);
}

static void show_calls(const struct fault_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		printf("call %c %ld %u %ld %llx %llx\n", r->calls[i].role,
		    r->calls[i].number, r->calls[i].occurrence,
		    r->calls[i].result, (unsigned long long)r->calls[i].args[0],
		    (unsigned long long)r->calls[i].args[1]);
}

void faults_show_start(struct driver *d)
{
	fault_disarm(&d->report);
	if (d->o.start.occurrence == 0)
		show_calls(&d->report);
	printf("hit %d\n", d->report.hit ? 1 : 0);
}

enum course {
	LAUNCH_GONE,
	REFUSED,
	OVER /* and to be released */
};

/* One run from its request to the program's end. */
static enum course run_whole(struct driver *d, struct one *one)
{
	const struct pollfd gone = { d->channel.fd, POLLIN, 0 };
	struct pollfd now = gone;
	char byte;
	bool stands;

	one->program_fd = -1;
	run_ask(d, one);
	(void)poll(&now, 1, -1);
	if (recv(d->channel.fd, &byte, 1, MSG_PEEK) <= 0) {
		show_output("stdout", one->out_fd);
		return LAUNCH_GONE;
	}
	if (!run_started(d)) {
		show_output("stdout", one->out_fd);
		(void)close(one->out_fd);
		(void)close(one->err_fd);
		return REFUSED;
	}
	stands = run_stopped(d, one);
	if (stands && d->o.show)
		show_posture(one);
	if (stands)
		run_go(d, one);
	show_output("stdout", one->out_fd);
	if (stands)
		run_ended(d, one);
	now = gone;
	return poll(&now, 1, 0) != 0 ? LAUNCH_GONE : OVER;
}

/* Nobody listens where a sandbox is made ahead: the launcher is asked. */
static void rest(const struct driver *d)
{
	if (d->o.ahead)
		printf("rest %s\n", fault_await_rest(REST_MS) ? "yes" : "no");
}

static struct one *next_one(struct driver *d)
{
	return &d->ones[(d->next + 1) % RUNS_MAX];
}

/*
 * A run without a fault, after which a sandbox is made ahead; with the fault
 * in there, if that is when.  False if the launcher is gone.
 */
static bool run_before(struct driver *d, const struct fault *fault)
{
	struct one *one = next_one(d);
	bool alive;

	rest(d);
	if (run_whole(d, one) != OVER)
		driver_die("a run before the fault", NULL);
	if (fault->when == FAULT_PARK)
		fault_arm(fault);
	alive = run_release(d, one);
	rest(d);
	if (fault->when == FAULT_PARK && !fault->again)
		fault_disarm(&d->report);
	return alive;
}

/* False if the launcher is gone. */
static bool fault_one(struct driver *d, const struct fault *fault)
{
	struct one *one;
	enum course course;

	if (d->o.ahead && !run_before(d, fault))
		return false;
	printf("watched\n");
	if (fault->when == FAULT_RUN)
		fault_arm(fault);
	one = next_one(d);
	course = run_whole(d, one);
	if (course == OVER && !run_release(d, one))
		course = LAUNCH_GONE;
	if (fault->when != FAULT_PARK || fault->again)
		fault_disarm(&d->report);
	if (course != LAUNCH_GONE)
		rest(d);
	return course != LAUNCH_GONE;
}

static struct fault parse_fault(const char *line)
{
	struct fault fault = { .when = FAULT_RUN };
	char when = 'r';

	if (sscanf(line, "%c %ld %u %d %c", &fault.role, &fault.number,
	        &fault.occurrence, &fault.error, &when) < 4)
		exit(2);
	if (fault.role == '-')
		fault.role = '\0';
	if (when != 'r')
		fault.when = FAULT_PARK;
	fault.again = when == 'a';
	return fault;
}

void faults_run(struct driver *d)
{
	char line[80];
	bool alive = true;

	while (alive && fgets(line, sizeof(line), stdin) != NULL) {
		const struct fault fault = parse_fault(line);

		printf("case %s", line);
		alive = fault_one(d, &fault);
		if (fault.role == '\0')
			show_calls(&d->report);
		if (!alive)
			faults_await_end(d);
		printf("hit %d\ncase-end\n", d->report.hit ? 1 : 0);
		(void)fflush(stdout);
	}
}

void faults_parse_start(const char *text, struct options *o)
{
	o->faults = true;
	o->start = (struct fault){ .role = 'L', .when = FAULT_START };
	if (sscanf(text, "%ld %u %d", &o->start.number, &o->start.occurrence,
	        &o->start.error) != 3)
		driver_die("a fault", NULL);
}
