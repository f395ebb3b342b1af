/*
 * tests/escape/driver_batch.c - runs side by side and how long each part of
 * them took: what the tests of a launch and tests/bench/cold read.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static void finish(struct driver *d, struct one *one)
{
	show_output("stdout", one->out_fd);
	show_output("stderr", one->err_fd);
	run_ended(d, one);
	show_counters(one);
	show_scratch(one);
	if (d->o.abuse == NULL || strcmp(d->o.abuse, "close-gate") == 0)
		(void)run_release(d, one);
}

/* 'n' runs side by side. */
void batch_run(struct driver *d, unsigned long n)
{
	uint64_t first = d->next + 1;
	uint64_t good[RUNS_MAX];
	size_t n_good = 0;
	double t0;
	char byte;

	(void)fflush(stdout);
	if (d->o.wait && read(STDIN_FILENO, &byte, 1) != 1)
		driver_die("no byte to begin", NULL);
	t0 = driver_now_ms();
	d->t0 = t0;
	for (unsigned long i = 0; i < n; i++)
		run_ask(d, &d->ones[(first + i) % RUNS_MAX]);
	for (unsigned long i = 0; i < n; i++)
		if (run_started(d))
			good[n_good++] = d->in.started.run;
	for (size_t i = 0; i < n_good; i++) {
		struct one *one = &d->ones[good[i] % RUNS_MAX];

		if (!run_stopped(d, one)) {
			(void)run_release(d, one);
			good[i] = 0;
			continue;
		}
		printf("ms-to-stop %.2f\n", driver_now_ms() - t0);
		if (d->o.show)
			show_posture(one);
		if (d->o.hold) {
			(void)fflush(stdout);
			(void)pause();
		}
		run_go(d, one);
	}
	for (size_t i = 0; i < n_good; i++)
		if (good[i] != 0)
			finish(d, &d->ones[good[i] % RUNS_MAX]);
	printf("ms-whole %.2f\n", driver_now_ms() - t0);
	show_launch(d);
}
