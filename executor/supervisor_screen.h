/*
 * executor/supervisor_screen.h - the screen, seen from the supervisor: one code
 * at a time, and a new screen when one has died.  Private to the supervisor; the
 * other end is screen.h.
 */
#ifndef EXECUTOR_SUPERVISOR_SCREEN_H
#define EXECUTOR_SUPERVISOR_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/loop.h"

struct run;
struct run_message;
struct supervisor;

struct screen_link {
	int fd;       /* owned; -1: none, since no language has rules */
	int pid_fd;   /* owned; of a screen that is ready */
	int rules_fd; /* owned; sealed: what each screen compiles */
	uint64_t code_max;
	struct watch watch;
	bool ready;
	unsigned n_failed;        /* screens in a row that did not get ready */
	uint64_t number;          /* the run whose code it has; 0: none */
	uint64_t budget_us;       /* of processor time, for it */
	uint64_t sent_us, due_us; /* due_us 0: it owes nothing */
};

/* As root, before any peer exists: start it and wait until it is ready.  What
 * is wrong with a rule is the policy's fault, by file, line and column. */
int supervisor_screen_start(struct supervisor *s, struct error *e) MUST_CHECK;
int supervisor_screen_watch(struct supervisor *s, struct error *e) MUST_CHECK;

/* A run waits in RUN_SCREENING: its turn, if nobody's is. */
void supervisor_screen_next(struct supervisor *s);

/* Between turns; returns when to call again, UINT64_MAX for never. */
uint64_t supervisor_screen_tend(struct supervisor *s, uint64_t now_us);

/* run_screen.c: the code rules' part of a decision. */
bool run_wants_screen(const struct run *r);
int run_screened(struct run *r, const struct run_message *m, struct error *e);
/* The screen gave no answer: 'reason' denies. */
void run_unscreened(struct run *r, const char *reason);

#endif
