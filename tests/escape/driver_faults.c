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

/* False if the launcher is gone. */
static bool fault_one(struct driver *d, const struct fault *fault)
{
	const struct pollfd gone = { d->channel.fd, POLLIN, 0 };
	struct one *one = &d->ones[(d->next + 1) % RUNS_MAX];
	struct pollfd now = gone;
	char byte;
	bool stands;

	fault_arm(fault);
	one->program_fd = -1;
	run_ask(d, one);
	(void)poll(&now, 1, -1);
	if (recv(d->channel.fd, &byte, 1, MSG_PEEK) <= 0) {
		show_output("stdout", one->out_fd);
		return false;
	}
	if (!run_started(d)) {
		show_output("stdout", one->out_fd);
		(void)close(one->out_fd);
		(void)close(one->err_fd);
		return true;
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
	if (poll(&now, 1, 0) != 0)
		return false;
	return run_release(d, one);
}

void faults_run(struct driver *d)
{
	char line[80];
	bool alive = true;

	while (alive && fgets(line, sizeof(line), stdin) != NULL) {
		struct fault fault = { 0 };

		if (sscanf(line, "%c %ld %u %d", &fault.role, &fault.number,
		        &fault.occurrence, &fault.error) != 4)
			exit(2);
		if (fault.role == '-')
			fault.role = '\0';
		printf("case %s", line);
		alive = fault_one(d, &fault);
		fault_disarm(&d->report);
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
	o->start = (struct fault){ .role = 'L', .at_start = true };
	if (sscanf(text, "%ld %u %d", &o->start.number, &o->start.occurrence,
	        &o->start.error) != 3)
		driver_die("a fault", NULL);
}
