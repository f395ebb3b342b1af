/*
 * executor/run_watch.c - a run between STARTED and the death of its last
 * process.  Linked by the supervisor.  What is read here is the kernel's word
 * (cgroup files, pid 1's status channel) or hostile output, which is only
 * counted, hashed and kept.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/run_compile.h"
#include "executor/run_lone.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"

/* How often cpu time and oom counters are looked at; the nearer the end of the
 * cpu budget the sooner, since many processors spend it at once. */
#define SAMPLE_US     50000
#define SAMPLE_MIN_US 5000
#define SAMPLE_PART   8
/* A killed tree that is not empty by then is killed again. */
#define KILL_AGAIN_US 1000000
/* Read from one pipe in one turn; the other runs wait meanwhile. */
#define PIPE_TURNS 4

void run_fail(
    struct run *r, enum phase phase, const char *step, const struct error *why)
{
	struct run_failure *f = &r->failure;

	if (f->is_set)
		return; /* the first one is the reason */
	f->is_set = true;
	f->phase = phase;
	f->saved_errno = why->saved_errno;
	(void)snprintf(f->step, sizeof(f->step), "%s", step);
	(void)snprintf(f->text, sizeof(f->text), "%s", why->text);
	(void)snprintf(f->remedy, sizeof(f->remedy), "%.*s",
	    (int)sizeof(f->remedy) - 1, why->text);
}

/* cgroup.kill reaches every process of the leaf, pid 1 included, at once. */
static void kill_leaf(struct run *r)
{
	int fd = r->handles.fd[LAUNCH_FD_KILL];

	if (r->s->owner.lone)
		run_lone_kill(r);
	if (fd >= 0 && !r->dead && write(fd, "1", 1) != 1)
		/* Nothing may live on: the launcher kills all that we had. */
		supervisor_lose(r->s, "a run cannot be killed");
	r->give_up_us = loop_now_us() + KILL_AGAIN_US;
}

void run_kill(struct run *r, enum killer killer)
{
	if (r->stage > RUN_ENDING)
		return;
	if (r->kill == KILLER_NONE && !r->ended)
		r->kill = killer;
	run_end(r);
}

/* No process of it is left, or none was ever made. */
static bool is_dead(const struct run *r)
{
	if (r->started)
		return r->dead;
	return !r->at_launcher || r->s->launch_fd < 0;
}

static void read_populated(struct run *r)
{
	char text[128];
	ssize_t n;

	if (r->s->owner.lone) {
		r->dead = run_lone_is_dead(r);
		return;
	}
	n = pread(r->handles.fd[LAUNCH_FD_EVENTS], text, sizeof(text) - 1, 0);

	if (n < 0)
		return; /* asked again by the next tick */
	text[n] = '\0';
	r->dead = strstr(text, "populated 0") != NULL;
}

/* Its tree is dead, or given up: what is left is the record. */
static void go_on(struct run *r)
{
	r->due[DUE_DEATH] = 0;
	if (!r->is_unrecorded && !r->intent_stored)
		return;
	if (r->clock[CLOCK_DEAD] == 0)
		r->clock[CLOCK_DEAD] = loop_now_us();
	if (run_trace_end(r))
		return;
	if (r->is_unrecorded) {
		run_set_folder_aside(r);
		run_give_back(r);
		r->stage = RUN_OVER;
		return;
	}
	run_bury(r);
}

void run_bury(struct run *r)
{
	if (r->is_undead)
		run_abandon(r);
	else
		run_collect(r);
}

void run_end(struct run *r)
{
	if (r->stage < RUN_ENDING) {
		r->stage = RUN_ENDING;
		r->due[DUE_INIT] = 0;
		r->clock[CLOCK_ENDED] = loop_now_us();
	}
	if (r->stage != RUN_ENDING)
		return;
	if (r->started && !r->dead && !r->is_undead) {
		if (r->due[DUE_DEATH] == 0)
			run_expect(r, DUE_DEATH, PATIENCE_DEATH);
		kill_leaf(r);
		read_populated(r);
	}
	if (is_dead(r) || r->is_undead)
		go_on(r);
}

/* pid 1 said goodbye without a word, or something that no pid 1 says. */
static void lose_init(struct run *r, const struct error *why)
{
	loop_remove(&r->s->loop, &r->status_watch);
	if (r->stage >= RUN_ENDING || r->ended)
		return;
	r->init_lost = true;
	run_fail(
	    r, r->stage == RUN_RUNNING ? PHASE_RUN : PHASE_SETUP, "init", why);
	run_end(r);
}

/* One message of pid 1; false if there is none, or will be none. */
static bool read_status(struct run *r)
{
	struct supervisor_heard heard;
	struct run_message m = { ROLE_STATUS, 0, r->s->in, &heard.fds };
	struct error e;

	if (r->status_watch.fd < 0)
		return false;
	if (supervisor_receive(r->s, r->handles.fd[LAUNCH_FD_STATUS],
	        &launch_status_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			lose_init(r, &e);
		return false;
	}
	m.verb = heard.verb;
	if (run_handle(r, &m, &e) < 0)
		lose_init(r, &e);
	fd_list_close(&heard.fds);
	return true;
}

static void status_ready(void *owner, uint32_t events)
{
	(void)events;
	(void)read_status(owner);
}

static void events_ready(void *owner, uint32_t events)
{
	struct run *r = owner;
	struct error e;

	(void)events;
	read_populated(r);
	if (!r->dead)
		return;
	loop_remove(&r->s->loop, &r->events_watch);
	/* Its last word may still lie in the channel. */
	while (r->stage < RUN_ENDING && read_status(r))
		;
	if (r->stage < RUN_ENDING) {
		error_fill(&e, ERROR_STATE, 0, "pid 1 of the run was lost");
		lose_init(r, &e);
	}
	run_end(r);
}

int run_ended(struct run *r, const struct run_message *m, struct error *e)
{
	const struct launch_ended *d = &m->in->ended;

	if (d->exit_kind != EXIT_CODE && d->exit_kind != EXIT_SIGNAL &&
	    !d->wall)
		return FAIL(e, ERROR_MALFORMED, "pid 1 told an unknown end");
	r->ended = true;
	r->exit_kind = d->exit_kind;
	r->exit_value = d->exit_value;
	r->init_wall = d->wall != 0;
	run_end(r);
	return 0;
}

/* True when the pipe may hold more. */
static bool read_pipe(struct run *r, int *fd, struct watch *w, struct output *o)
{
	uint64_t max = run_limits(r)[LIMIT_OUTPUT];
	ssize_t got = read(*fd, r->s->block, SUPERVISOR_BLOCK);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		loop_remove(&r->s->loop, w);
		own_close(fd);
		*fd = -1;
		return false;
	}
	output_add(o, r->s->block, (size_t)got);
	if (r->session != NULL)
		session_wake(r->session);
	if (max != LIMIT_UNLIMITED && r->out.total + r->err.total > max &&
	    r->stage == RUN_RUNNING)
		run_kill(r, KILLER_OUTPUT);
	return *fd >= 0;
}

static void out_ready(void *owner, uint32_t events)
{
	struct run *r = owner;

	(void)events;
	for (int i = 0; i < PIPE_TURNS; i++)
		if (!read_pipe(r, &r->out_fd, &r->out_watch, &r->out))
			return;
}

static void err_ready(void *owner, uint32_t events)
{
	struct run *r = owner;

	(void)events;
	for (int i = 0; i < PIPE_TURNS; i++)
		if (!read_pipe(r, &r->err_fd, &r->err_watch, &r->err))
			return;
}

/*
 * Pid 1 is dead, and with it its namespace.  The kernel tells of cgroup.events
 * no more than once in 10 ms, so this is what is heard first of a short run.
 */
static void init_ready(void *owner, uint32_t events)
{
	struct run *r = owner;

	loop_remove(&r->s->loop, &r->init_watch);
	events_ready(owner, events);
}

int run_watch_pipes(struct run *r, struct error *e)
{
	r->out_watch = (struct watch){ -1, 0, out_ready, r };
	r->err_watch = (struct watch){ -1, 0, err_ready, r };
	/* Our ends only: the program's are other open files. */
	if (fcntl(r->out_fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(r->err_fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up a pipe");
	if (loop_add(&r->s->loop, &r->out_watch, r->out_fd, EPOLLIN, e) < 0)
		return -1;
	return loop_add(&r->s->loop, &r->err_watch, r->err_fd, EPOLLIN, e);
}

int run_watch_handles(struct run *r, struct error *e)
{
	int status_fd = r->handles.fd[LAUNCH_FD_STATUS];

	r->status_watch = (struct watch){ -1, 0, status_ready, r };
	r->events_watch = (struct watch){ -1, 0, events_ready, r };
	r->init_watch = (struct watch){ -1, 0, init_ready, r };
	if (fcntl(status_fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up a status channel");
	if (loop_add(&r->s->loop, &r->status_watch, status_fd, EPOLLIN, e) < 0)
		return -1;
	if (loop_add(&r->s->loop, &r->init_watch, r->handles.fd[LAUNCH_FD_INIT],
	        EPOLLIN, e) < 0)
		return -1;
	if (r->s->owner.lone)
		return run_watch_cpu(r, r->handles.fd[LAUNCH_FD_INIT],
		    &r->handles.fd[LAUNCH_FD_CPU], e);
	/* A change of cgroup.events is EPOLLPRI (cgroup-v2.rst). */
	return loop_add(&r->s->loop, &r->events_watch,
	    r->handles.fd[LAUNCH_FD_EVENTS], EPOLLPRI, e);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* At the wall limit to the moment: later than that a run could end by itself
 * and seem to have kept it. */
static uint64_t next_sample(const struct run *r, uint64_t now_us)
{
	const uint64_t *limits = run_limits(r);
	uint64_t cpu_us = limits[LIMIT_CPU_MS] * 1000;
	uint64_t wall_us =
	    r->clock[CLOCK_RELEASED] + limits[LIMIT_WALL_MS] * 1000;
	uint64_t left_us = cpu_us > r->cpu_us ? cpu_us - r->cpu_us : 0;
	uint64_t pause_us = larger(left_us / SAMPLE_PART, SAMPLE_MIN_US);
	uint64_t at_us = now_us + (pause_us < SAMPLE_US ? pause_us : SAMPLE_US);

	return now_us < wall_us && wall_us < at_us ? wall_us : at_us;
}

void run_sample(struct run *r, uint64_t now_us)
{
	const uint64_t *limits = run_limits(r);

	run_read_counters(r);
	r->next_sample_us = next_sample(r, now_us);
	if (r->stage == RUN_ENDING) {
		if (r->started && !r->dead && now_us >= r->give_up_us)
			run_end(r);
		return;
	}
	if (now_us - r->clock[CLOCK_RELEASED] >= limits[LIMIT_WALL_MS] * 1000)
		run_kill(r, KILLER_WALL);
	else if (r->cpu_us >= limits[LIMIT_CPU_MS] * 1000)
		run_kill(r, KILLER_CPU);
	else if (r->oom_kills > 0)
		run_kill(r, KILLER_MEMORY);
}

void run_drain(struct run *r)
{
	while (
	    r->out_fd >= 0 && read_pipe(r, &r->out_fd, &r->out_watch, &r->out))
		;
	while (
	    r->err_fd >= 0 && read_pipe(r, &r->err_fd, &r->err_watch, &r->err))
		;
	/* Nobody is left to write; an open end elsewhere changes nothing. */
	loop_remove(&r->s->loop, &r->out_watch);
	loop_remove(&r->s->loop, &r->err_watch);
	run_read_counters(r);
}

void run_close_handles(struct run *r)
{
	loop_remove(&r->s->loop, &r->status_watch);
	loop_remove(&r->s->loop, &r->events_watch);
	loop_remove(&r->s->loop, &r->init_watch);
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++) {
		own_close(&r->handles.fd[i]);
		r->handles.fd[i] = -1;
	}
	own_close(&r->program_stat_fd);
	r->program_stat_fd = -1;
	loop_remove(&r->s->loop, &r->out_watch);
	loop_remove(&r->s->loop, &r->err_watch);
	own_close(&r->out_fd);
	own_close(&r->err_fd);
	r->out_fd = -1;
	r->err_fd = -1;
}
