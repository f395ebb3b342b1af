/*
 * executor/run_start.c - from a decision to the open gate.  Linked by the
 * supervisor.  Nothing is released before the intent is durable and the
 * posture of the stopped program has been read back.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/launch_flags.h"
#include "executor/patience.h"
#include "executor/run_compile.h"
#include "executor/run_layers.h"
#include "executor/run_lone.h"
#include "executor/run_posture.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"
#include "policy/libraries.h"

static int digest_inputs(struct run *r, struct error *e)
{
	size_t n = 0;
	AUTO_FREE struct result_input *inputs = run_sorted_inputs(r, &n);
	struct text_out out = { (char *)r->s->block, SUPERVISOR_BLOCK, 0 };

	if (inputs == NULL)
		return FAIL_SYS(e, "list the inputs");
	if (result_inputs_list(inputs, n, &out, e) < 0)
		return -1;
	r->intent.inputs_count = n;
	sha256_of(out.data, out.len, r->intent.inputs_sha256);
	return 0;
}

static void digest_environment(struct run *r)
{
	const struct run_part program = { .made = NULL };
	const char *rows[RUN_ENV_MAX];
	size_t n = run_environment(r, &program, rows);
	struct sha256 h;

	sha256_init(&h);
	for (size_t i = 0; i < n; i++)
		sha256_add(&h, rows[i], strlen(rows[i]) + 1);
	sha256_done(&h, r->intent.env_sha256);
	r->intent.env_count = n;
}

static int open_folder_file(
    struct run *r, const char *name, int *ret_fd, struct error *e)
{
	int fd = openat(r->folder_fd, name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return FAIL_SYS(e, "make %s", name);
	*ret_fd = fd;
	return 0;
}

static int make_folder(struct run *r, struct error *e)
{
	const struct language *l = &r->decision.language->language;
	const char *dot = strrchr(l->source, '.');
	char code_name[POLICY_NAME_MAX + 8];
	int out_fd;
	int err_fd;

	if (mkdirat(r->s->state.staging_fd, r->id, 0700) < 0)
		return FAIL_SYS(e, "make a result folder");
	r->has_folder = true;
	r->folder_fd = openat(r->s->state.staging_fd, r->id,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->folder_fd < 0)
		return FAIL_SYS(e, "open a result folder");
	(void)snprintf(
	    code_name, sizeof(code_name), "code%s", dot != NULL ? dot : "");
	if (open_folder_file(r, code_name, &r->code_copy_fd, e) < 0 ||
	    open_folder_file(r, "stdout", &out_fd, e) < 0)
		return -1;
	output_init(&r->out, out_fd, r->decision.limits[LIMIT_STDOUT]);
	if (open_folder_file(r, "stderr", &err_fd, e) < 0)
		return -1;
	output_init(&r->err, err_fd, r->decision.limits[LIMIT_STDERR]);
	return 0;
}

static void put_words(const struct run *r, const struct run_part *part,
    struct bytes_writer *argv, struct bytes_writer *env)
{
	const char *rows[RUN_ENV_MAX];
	size_t n = run_environment(r, part, rows);

	for (size_t i = 0; i < part->n_argv; i++)
		bytes_put(argv, part->argv[i], strlen(part->argv[i]) + 1);
	if (part->with_arguments)
		bytes_put(argv, r->args, r->args_len);
	for (size_t i = 0; part->with_libraries && i < r->decision.n_libraries;
	     i++) {
		char text[LIBRARY_TEXT_MAX];

		library_text(&r->decision.libraries[i], text);
		bytes_put(argv, text, strlen(text) + 1);
	}
	for (size_t i = 0; i < n; i++)
		bytes_put(env, rows[i], strlen(rows[i]) + 1);
}

static void put_input(struct launch_run *l, struct fd_list *fds, int fd,
    const struct launch_input *input)
{
	l->inputs.items[l->inputs.n++] = *input;
	fds->fd[fds->n++] = fd;
}

static void put_inputs(
    const struct run *r, struct launch_run *l, struct fd_list *fds)
{
	/* Whoever left before this has no run. */
	const struct channel_peer *as = &r->session->peer;

	for (size_t i = 0; run_shows_inputs(r) && i < r->n_inputs; i++) {
		const struct result_input *from = &r->inputs[i].is;
		struct launch_input to = {
			.is_directory = from->kind == PROTOCOL_INPUT_DIRECTORY
			                    ? LAUNCH_PLACE_SANDBOX
			                    : LAUNCH_PLACE_FILE
		};

		memcpy(to.name, from->name, sizeof(to.name));
		put_input(l, fds, r->inputs[i].fd, &to);
	}
	for (size_t i = 0; i < RUN_LAYER_N; i++) {
		struct launch_input to = { .is_directory = LAUNCH_PLACE_OPT };

		if (!run_shows_layer(r, (enum run_layer)i))
			continue;
		(void)snprintf(
		    to.name, sizeof(to.name), "%s", run_layer_names[i]);
		put_input(l, fds, r->layers[i].tree_fd, &to);
	}
	l->uid = as->uid;
	l->gid = as->gid;
	for (size_t i = 0; i < as->n_groups; i++)
		l->groups.items[i].gid = as->groups[i];
	l->groups.n = as->n_groups;
}

static int put_launch(const struct run *r, const struct run_part *part,
    struct launch_run *l, struct error *e)
{
	const struct policy_language *p = r->decision.language;
	const uint64_t *limits = run_limits(r);
	struct bytes_writer argv = { .data = l->argv.data,
		.cap = sizeof(l->argv.data) };
	struct bytes_writer env = { .data = l->env.data,
		.cap = sizeof(l->env.data) };

	memset(l, 0, sizeof(*l));
	l->run = r->number;
	l->flags = launch_shape(part->can);
	if (r->s->owner.lone)
		l->flags |= LAUNCH_OWN_MEMORY;
	l->wall_ms = limits[LIMIT_WALL_MS];
	l->cpu_ms = limits[LIMIT_CPU_MS];
	l->memory = limits[LIMIT_MEMORY];
	l->pids = limits[LIMIT_PIDS];
	l->open_files = limits[LIMIT_OPEN_FILES];
	l->file_size = limits[LIMIT_FILE_SIZE];
	l->scratch_bytes = limits[LIMIT_SCRATCH_BYTES];
	l->scratch_inodes = limits[LIMIT_SCRATCH_INODES];
	if (part->is_product)
		l->flags |= LAUNCH_PRODUCT;
	else
		memcpy(l->program, r->toolchain->program, sizeof(l->program));
	(void)snprintf(l->source, sizeof(l->source), "%s", p->language.source);
	put_words(r, part, &argv, &env);
	if (argv.bad || env.bad)
		return FAIL(
		    e, ERROR_LIMIT, "arguments or environment too long");
	l->argv.len = argv.len;
	l->env.len = env.len;
	return 0;
}

static int launch(struct run *r, struct error *e)
{
	struct launch_run *l = &r->s->out->launch;
	struct fd_list fds = { .n = LAUNCH_FD_INPUTS };
	struct run_part part;
	int out[2];
	int err[2];

	if (r->s->launch_fd < 0)
		return FAIL(e, ERROR_CLOSED, "the launcher is gone");
	run_part_now(r, &part);
	if (put_launch(r, &part, l, e) < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make a pipe");
	r->out_fd = out[0];
	if (pipe2(err, O_CLOEXEC) < 0) {
		(void)close(out[1]);
		return FAIL_SYS(e, "make a pipe");
	}
	r->err_fd = err[0];
	fds.fd[LAUNCH_FD_CODE] = part.code_fd;
	fds.fd[LAUNCH_FD_STDIN] = part.stdin_fd;
	fds.fd[LAUNCH_FD_STDOUT] = out[1];
	fds.fd[LAUNCH_FD_STDERR] = err[1];
	fds.fd[LAUNCH_FD_FILTER] = part.filter_fd;
	put_inputs(r, l, &fds);
	if (part.is_product)
		fds.fd[fds.n++] = r->product_fd;
	r->at_launcher = true;
	supervisor_tell_launcher(r->s, LAUNCH_RUN, l, &fds);
	run_expect(r, DUE_LAUNCHER, PATIENCE_LAUNCH);
	(void)close(out[1]);
	(void)close(err[1]);
	return run_watch_pipes(r, e);
}

static int check_toolchain(const struct run *r, struct error *e)
{
	const struct language *l = &r->decision.language->language;

	if (!r->toolchain->missing)
		return 0;
	errno = ENOENT;
	return FAIL_SYS(e, "%s", l->program);
}

static void fail_toolchain(struct run *r, const struct error *why)
{
	run_fail(r, PHASE_SETUP, "toolchain", why);
	(void)snprintf(r->failure.remedy, sizeof(r->failure.remedy),
	    "apt-get install %s, then run it again",
	    r->decision.language->language.package);
}

void run_start(struct run *r)
{
	struct error e;

	r->stage = RUN_STARTING;
	r->clock[CLOCK_SENT] = loop_now_us();
	r->intent.ticket = r->number;
	digest_environment(r);
	run_compile_begin(r);
	if (digest_inputs(r, &e) < 0) {
		run_refuse(r, "inputs", &e);
		return;
	}
	run_send_event(r);
	if (check_toolchain(r, &e) < 0)
		fail_toolchain(r, &e);
	else if (run_check_directories(r, &e) < 0)
		run_fail(r, PHASE_SETUP, "directories", &e);
	else if (make_folder(r, &e) < 0)
		run_fail(r, PHASE_SETUP, "results", &e);
	else if (launch(r, &e) < 0)
		run_fail(r, PHASE_SETUP, "launch", &e);
	if (r->failure.is_set)
		run_end(r);
}

void run_launch(struct run *r)
{
	struct error e;

	if (launch(r, &e) == 0)
		return;
	run_fail(r, PHASE_SETUP, "launch", &e);
	run_end(r);
}

void run_release(struct run *r)
{
	struct error e;

	if (r->stage != RUN_STARTING || !r->intent_stored || !r->stopped ||
	    !run_is_seen(r))
		return;
	r->clock[CLOCK_RELEASED] = loop_now_us();
	if (write(r->handles.fd[LAUNCH_FD_GATE], "g", 1) != 1) {
		error_fill(&e, ERROR_SYSTEM, errno, "open the gate");
		r->clock[CLOCK_RELEASED] = 0;
		run_fail(r, PHASE_SETUP, "gate", &e);
		run_end(r);
		return;
	}
	own_close(&r->handles.fd[LAUNCH_FD_GATE]);
	r->handles.fd[LAUNCH_FD_GATE] = -1;
	r->stage = RUN_RUNNING;
	r->next_sample_us = r->clock[CLOCK_RELEASED];
	run_collector_ahead(r);
}

int run_intent_stored(
    struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	r->intent_stored = true;
	r->due[DUE_SIGNER] = 0;
	r->clock[CLOCK_INTENT] = loop_now_us();
	r->intent_seq = m->in->audit.stored.seq;
	memcpy(
	    r->intent_leaf, m->in->audit.stored.leaf, sizeof(r->intent_leaf));
	run_tell_decision(r, &m->in->audit.stored, true);
	if (r->stage == RUN_ENDING)
		run_end(r);
	else
		run_release(r);
	return 0;
}

int run_started(struct run *r, const struct run_message *m, struct error *e)
{
	const struct launch_started *s = &m->in->started;
	size_t n = r->s->owner.lone ? LAUNCH_FD_LONE_N : LAUNCH_FD_STARTED_N;

	if (m->fds->n != n)
		return FAIL(e, ERROR_MALFORMED, "STARTED with %zu descriptors",
		    m->fds->n);
	memcpy(r->handles.fd, m->fds->fd, n * sizeof(r->handles.fd[0]));
	m->fds->n = 0;
	r->started = true;
	if (!r->is_released)
		r->due[DUE_LAUNCHER] = 0;
	if (r->stage == RUN_STARTING)
		run_expect(r, DUE_INIT, PATIENCE_STOP);
	r->init_uid = s->init_uid;
	r->program_uid = s->program_uid;
	memcpy(r->cgroup, s->cgroup, sizeof(r->cgroup));
	if (run_watch_handles(r, e) < 0)
		run_fail(r, PHASE_SETUP, "watch", e);
	else if (r->stage == RUN_STARTING &&
	         run_trace_begin(r, s->group, e) < 0)
		run_fail(r, PHASE_SETUP, "trace", e);
	if (r->stage == RUN_ENDING || r->failure.is_set)
		run_end(r);
	return 0;
}

static void fail_step(struct run *r, const struct launch_failed *f)
{
	struct error why;

	error_fill(&why, ERROR_UNAVAILABLE, 0, "%s", f->text);
	why.saved_errno = (int)f->saved_errno;
	run_fail(r, PHASE_SETUP, f->step, &why);
	if (f->remedy[0] != '\0')
		memcpy(r->failure.remedy, f->remedy, sizeof(f->remedy));
	run_end(r);
}

int run_launch_failed(
    struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	/* Nothing of it is left at the launcher: no RELEASE will be needed. */
	r->at_launcher = false;
	r->due[DUE_LAUNCHER] = 0;
	fail_step(r, &m->in->launch_failed);
	return 0;
}

int run_step_failed(struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	fail_step(r, &m->in->launch_failed);
	return 0;
}

int run_stopped(struct run *r, const struct run_message *m, struct error *e)
{
	if (m->fds->n != 1)
		return FAIL(e, ERROR_MALFORMED, "STOPPED without a pidfd");
	if (run_posture(r, &m->in->stopped, m->fds->fd[0], e) < 0) {
		run_fail(r, PHASE_SETUP, "posture", e);
		run_end(r);
		return 0;
	}
	if (r->s->owner.lone &&
	    run_watch_cpu(r, m->fds->fd[0], &r->program_stat_fd, e) < 0) {
		run_fail(r, PHASE_SETUP, "watch", e);
		run_end(r);
		return 0;
	}
	r->stopped = true;
	r->due[DUE_INIT] = 0;
	if (r->clock[CLOCK_STOPPED] == 0)
		r->clock[CLOCK_STOPPED] = loop_now_us();
	run_release(r);
	return 0;
}
