/*
 * executor/run_counters.c - what a run has used so far, by the kernel's count:
 * its control groups', or without them what /proc tells.  Linked by the
 * supervisor.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/run_lone.h"
#include "executor/run_steps.h"

/* The number behind 'key' in a small kernel file, or 'otherwise'. */
static uint64_t counter(int fd, const char *key, uint64_t otherwise)
{
	char text[1024];
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;
	const char *at;

	if (n <= 0)
		return otherwise;
	text[n] = '\0';
	at = strstr(text, key);
	return at != NULL ? strtoull(at + strlen(key), NULL, 10) : otherwise;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void run_read_counters(struct run *r)
{
	const int *fd = r->handles.fd;

	if (r->s->owner.lone) {
		r->cpu_us = larger(r->cpu_us, run_lone_cpu_us(r));
		return;
	}
	r->cpu_us = counter(fd[LAUNCH_FD_CPU], "usage_usec ", r->cpu_us);
	r->oom_kills =
	    counter(fd[LAUNCH_FD_MEMORY_OOM], "oom_kill ", r->oom_kills);
	r->pids_hits = counter(fd[LAUNCH_FD_PIDS_EVENTS], "max ", r->pids_hits);
	r->memory_peak =
	    larger(r->memory_peak, counter(fd[LAUNCH_FD_MEMORY_PEAK], "", 0));
	r->pids_peak =
	    larger(r->pids_peak, counter(fd[LAUNCH_FD_PIDS_PEAK], "", 0));
}
