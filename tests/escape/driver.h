/*
 * tests/escape/driver.h - the parts of launch_driver: who plays the supervisor
 * to bailiff-launch in the tests and in tests/bench/cold.
 *
 *   launch_driver.c   options, and which part runs
 *   driver_talk.c     the channel to the launcher
 *   driver_view.c     the view and what every run is handed
 *   driver_run.c      one run
 *   driver_show.c     what is printed of a run, of pid 1, of the launcher
 *   driver_batch.c    runs side by side, with times
 *   driver_faults.c   runs of which one system call fails
 *   driver_helper.c   an opener or a collector
 *
 * A part that cannot go on prints why and ends the driver.
 */
#ifndef TESTS_DRIVER_H
#define TESTS_DRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/channel.h"
#include "executor/launch.h"
#include "fault.h"
#include "policy/filter.h"

#define RUNS_MAX 16

struct options {
	const char *launch, *code, *filter, *input, *abuse, *entry, *whiteout;
	char **program;
	unsigned long runs, at_once, helper;
	struct fault start;
	bool show, hold, wait, loopback, refuse, no_exec, alternate, faults;
	bool ahead; /* with faults; without, always */
	uid_t uid;  /* of the launcher; 0: ours */
	struct launch_run limits;
};

struct one {
	struct launch_started started;
	int fd[LAUNCH_FD_STARTED_N];
	int out_fd, err_fd, program_fd;
};

struct driver {
	struct options o;
	struct channel channel, status;
	pid_t launch;
	int code_fd, stdin_fd, filter_fd, init_filter_fd, input_fd;
	struct launch_run run;
	struct filter filter;
	union {
		struct launch_ready ready;
		struct launch_started started;
		struct launch_failed failed;
		struct launch_release released;
		struct launch_stopped stopped;
		struct launch_ended ended;
	} in; /* the message heard last */
	struct one ones[RUNS_MAX];
	uint64_t next;
	struct fault_report report;
	double t0; /* of the batch */
};

/* 'e' may be NULL: errno says it. */
_Noreturn void driver_die(const char *what, const struct error *e);
double driver_now_ms(void);
/* Of launch_run. */
uint32_t driver_flags(const struct options *o);
void driver_start(struct driver *d);
void driver_tell(struct driver *d, uint16_t verb, const void *message,
    const struct fd_list *fds);

/* The verb of what 'd->in' holds now, 0 at the end. */
uint16_t driver_hear(struct driver *d, struct channel *c,
    const struct wire_protocol *protocol, struct fd_list *fds);

void view_prepare(struct driver *d);
void view_build(struct driver *d);

/* In this order.  False of run_started: refused; of run_stopped: a step failed;
 * of run_release: the launcher is gone. */
void run_ask(struct driver *d, struct one *one);
bool run_started(struct driver *d);
bool run_stopped(struct driver *d, struct one *one);
void run_go(struct driver *d, struct one *one);
void run_ended(struct driver *d, struct one *one);
bool run_release(struct driver *d, struct one *one);

void show_failed(const char *what, const struct launch_failed *f);
void show_file(const char *what, unsigned long pid, const char *name);
void show_fds(unsigned long pid);
void show_posture(struct one *one);
void show_output(const char *name, int fd);
void show_counters(const struct one *one);
void show_scratch(const struct one *one);
void show_launch(const struct driver *d);

/* 'n' runs side by side. */
void batch_run(struct driver *d, unsigned long n);

void helper_show(struct driver *d);

void faults_parse_start(const char *text, struct options *o);
void faults_show_start(struct driver *d);
void faults_await_end(struct driver *d);
void faults_run(struct driver *d);

#endif
