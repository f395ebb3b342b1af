/*
 * executor/run_compile.c - between the compiler and its product.  Linked by the
 * supervisor.  The product is hostile bytes: it is sealed and executed, never
 * looked at.
 */
#include "executor/run_compile.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/run_layers.h"
#include "executor/run_steps.h"
#include "policy/filter.h"

static void make_next(struct run *r)
{
	r->making = run_making_next(r);
	r->is_compiling = r->making != MAKING_NOTHING;
}

void run_compile_begin(struct run *r)
{
	for (size_t i = 0; i < LIMIT_N; i++)
		r->compile_limits[i] = r->decision.language->compile.value[i];
	make_next(r);
}

enum phase run_phase(const struct run *r)
{
	static const enum phase phases[MAKING_N] = {
		[MAKING_NOTHING] = PHASE_RUN,
		[MAKING_LIBRARIES] = PHASE_INSTALL,
		[MAKING_PRODUCT] = PHASE_COMPILE,
	};

	return phases[r->making];
}

const uint64_t *run_limits(const struct run *r)
{
	return r->is_compiling ? r->compile_limits : r->decision.limits;
}

static void put_installer(const struct run *r, struct run_part *ret)
{
	ret->made = &r->decision.language->language.installer.layer;
	ret->argv = ret->made->argv;
	ret->n_argv = ret->made->n_argv;
	ret->code_fd = r->toolchain->installer_fd;
	ret->stdin_fd = r->s->nothing_fd;
	ret->with_libraries = true;
}

void run_part_now(const struct run *r, struct run_part *ret)
{
	const struct policy_language *l = r->decision.language;

	*ret = (struct run_part){ .argv = l->language.argv,
		.n_argv = l->language.n_argv,
		.can = &l->capabilities,
		.limits = run_limits(r),
		.filter_fd = r->toolchain->filter_fd,
		.code_fd = r->code_fd,
		.stdin_fd = r->stdin_fd };
	if (!r->is_compiling) {
		ret->with_arguments = true;
		ret->is_product = r->product_fd >= 0;
		return;
	}
	ret->can = &filter_compiler;
	ret->filter_fd = r->toolchain->compile_filter_fd;
	if (r->making != MAKING_PRODUCT) {
		put_installer(r, ret);
		return;
	}
	ret->argv = l->language.compile;
	ret->n_argv = l->language.n_compile;
}

static void note_phase(struct run *r)
{
	struct run_made *made = &r->made[r->making];

	made->is_over = true;
	made->phase = (struct event_phase){ .phase = run_phase(r),
		.exit_kind = r->exit_kind,
		.exit_value = r->exit_value,
		.cpu_us = r->cpu_us,
		.wall_us = r->clock[CLOCK_ENDED] - r->clock[CLOCK_RELEASED] };
	if (r->making != MAKING_PRODUCT)
		return;
	r->clock[CLOCK_COMPILING] = r->clock[CLOCK_RELEASED];
	r->clock[CLOCK_COMPILED] = r->clock[CLOCK_DEAD];
}

bool run_compile_failed(struct run *r)
{
	note_phase(r);
	return r->kill != KILLER_NONE || r->failure.is_set || !r->ended ||
	       r->oom_kills > 0 || r->exit_kind != EXIT_CODE ||
	       r->exit_value != 0;
}

static bool is_product(const struct run *r, const struct collect_found *found)
{
	const char *wanted = r->decision.language->language.product;

	return found->name.len == strlen(wanted) &&
	       memcmp(found->name.data, wanted, strlen(wanted)) == 0;
}

static int answer(
    struct run *r, uint16_t verb, const struct fd_list *fds, struct error *e)
{
	struct channel_send what = { &collect_protocol, verb, NULL, fds };

	return supervisor_send(r->s, r->helper_fd, &what, e);
}

int run_product_found(
    struct run *r, const struct collect_found *found, struct error *e)
{
	struct fd_list to = { .n = 1 };

	if (r->making != MAKING_PRODUCT)
		return run_layer_found(r, found, e);
	if (!is_product(r, found) || r->product_fd >= 0)
		return answer(r, COLLECT_SKIP, NULL, e);
	if (memfd_new("program", &r->product_fd, e) < 0)
		return -1;
	to.fd[0] = r->product_fd;
	return answer(r, COLLECT_TAKE, &to, e);
}

int run_product_copied(
    struct run *r, const struct collect_copied *copied, struct error *e)
{
	struct stat st;

	if (r->making != MAKING_PRODUCT)
		return run_layer_copied(r, copied, e);
	if (r->product_fd < 0)
		return FAIL(e, ERROR_STATE, "collector copied what it had not");
	/* Everybody may execute it, and nobody change it. */
	if (fchmod(r->product_fd, 0555) < 0 || fstat(r->product_fd, &st) < 0)
		return FAIL_SYS(e, "make the program executable");
	if ((uint64_t)st.st_size != copied->size)
		return FAIL(e, ERROR_STATE, "collector copied another size");
	return memfd_seal(r->product_fd, e);
}

/* The launcher forgets the compiler; its answer names a run that is no more. */
static void release_compiler(struct run *r)
{
	const struct launch_release release = { .run = r->number };

	run_close_handles(r);
	supervisor_tell_launcher(r->s, LAUNCH_RELEASE, &release, NULL);
	r->number = ++r->s->last_number;
}

/* As if it had never been at the launcher, but for its intent. */
static void begin_again(struct run *r)
{
	static const enum run_clock again[] = { CLOCK_RELEASED, CLOCK_ENDED,
		CLOCK_DEAD, CLOCK_COLLECTED };

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++)
		r->clock[again[i]] = 0;
	r->at_launcher = r->started = r->stopped = r->dead = false;
	r->ended = r->init_wall = r->init_lost = false;
	r->exit_kind = EXIT_ABSENT;
	r->exit_value = 0;
	r->made[r->making].trace = r->trace;
	r->made[r->making].traced = r->traced;
	r->trace = RUN_TRACE_NONE;
	r->cpu_us = r->memory_peak = r->pids_peak = 0;
	r->oom_kills = r->pids_hits = 0;
	make_next(r);
	r->stage = RUN_STARTING;
}

/* What the collector brought is what was wanted. */
static void keep_made(struct run *r)
{
	struct error e;

	if (r->kill != KILLER_NONE || r->failure.is_set)
		return;
	if (r->making != MAKING_PRODUCT) {
		if (run_layer_done(r, &e) < 0)
			run_fail(r, run_phase(r), "layer", &e);
		return;
	}
	if (r->product_fd >= 0)
		return;
	error_fill(&e, ERROR_STATE, 0,
	    "the compiler ended well and left no program; report this");
	run_fail(r, PHASE_COMPILE, "compile", &e);
}

/* The rest of a run whose program never starts. */
static void end_here(struct run *r)
{
	output_end(&r->out);
	output_end(&r->err);
	run_store(r);
}

void run_product_start(struct run *r)
{
	struct error e;

	keep_made(r);
	/* Cancelled while it was copied. */
	if (r->kill != KILLER_NONE || r->failure.is_set) {
		end_here(r);
		return;
	}
	if (output_restart(&r->out, &e) < 0 ||
	    output_restart(&r->err, &e) < 0) {
		run_fail(r, PHASE_COLLECT, "results", &e);
		end_here(r);
		return;
	}
	release_compiler(r);
	begin_again(r);
	run_launch(r);
}

void run_compile_record(const struct run *r, struct event_outcome *o)
{
	for (size_t i = MAKING_LIBRARIES; i < MAKING_N; i++)
		if (r->made[i].is_over)
			o->phases.items[o->phases.n++] = r->made[i].phase;
	if (o->phases.n == 0 || r->is_compiling)
		return;
	o->phases.items[o->phases.n++] =
	    (struct event_phase){ .phase = PHASE_RUN,
		    .exit_kind = r->ended ? r->exit_kind : EXIT_ABSENT,
		    .exit_value = r->exit_value,
		    .cpu_us = o->cpu_us,
		    .wall_us = o->wall_us };
}
