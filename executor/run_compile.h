/*
 * executor/run_compile.h - what a program needs is made before it starts: the
 * same run goes through the launcher once for each thing, first perhaps with an
 * installer (run_layers.h), then with the compiler, last with what that made.
 * Private to the supervisor.
 *
 * Each time it is a sandbox of its own, with its own control groups, uids and
 * scratch.  Between them only one file passes: the product, taken by the
 * collector into a sealed memory file, which the second sandbox executes.
 * The compiler has the capabilities of policy/filter.h and is bounded by the
 * policy's compile_limits, where they are silent by the most that it grants of
 * each limit, the program by what the request got.  What the compiler prints is
 * shown only where it fails.
 */
#ifndef EXECUTOR_RUN_COMPILE_H
#define EXECUTOR_RUN_COMPILE_H

#include "executor/run.h"

/* The part of a run that goes to the launcher now. */
struct run_part {
	const char (*argv)[256];
	size_t n_argv;
	const struct capabilities *can;
	const uint64_t *limits;            /* LIMIT_N of them */
	int filter_fd, code_fd, stdin_fd;  /* borrowed */
	const struct language_layer *made; /* what is made; or NULL */
	bool with_libraries; /* the names that were asked for follow argv */
	bool with_arguments; /* the request's own follow argv */
	bool is_product;     /* the program is r->product_fd */
};
void run_part_now(const struct run *r, struct run_part *ret);
enum phase run_phase(const struct run *r);

/* The limits in force, those of run_part. */
const uint64_t *run_limits(const struct run *r);

/* Before the first launch. */
void run_compile_begin(struct run *r);

/* Compiler or installer is dead: true when it made nothing of use, and what
 * it printed is the output of the run. */
bool run_compile_failed(struct run *r);

/* The collector found a file while the compiler's scratch is searched. */
int run_product_found(
    struct run *r, const struct collect_found *found, struct error *e);
int run_product_copied(
    struct run *r, const struct collect_copied *copied, struct error *e);

/* All was searched: start the product, or what is to be made next; or end the
 * run without it. */
void run_product_start(struct run *r);

/* run_start.c: go to the launcher again. */
void run_launch(struct run *r);

/* What a failed compiler means for the outcome; the phases that were. */
void run_compile_record(const struct run *r, struct event_outcome *o);

#endif
