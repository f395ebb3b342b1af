/*
 * executor/run_collect.c - what a dead run left in its scratch is copied out
 * by the collector, file by file, into descriptors that we make.  Linked by
 * the supervisor.  Names are hostile bytes; they are stored percent-encoded.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/run_compile.h"
#include "executor/run_layers.h"
#include "executor/run_steps.h"
#include "policy/environment.h"

/* Entries of the folder that are no artifacts. */
#define FOLDER_EXTRA 12

/* The artifact that was being copied goes: it is whole or not there. */
static void drop_taken(struct run *r)
{
	if (r->taken_fd < 0)
		return;
	(void)unlinkat(r->folder_fd, r->files[r->n_files].name, 0);
	own_close(&r->taken_fd);
	r->taken_fd = -1;
}

static void fail_collect(
    struct run *r, const char *step, const struct error *why)
{
	run_close_helper(r);
	drop_taken(r);
	run_fail(r, PHASE_COLLECT, step, why);
	if (r->is_compiling) {
		output_end(&r->out);
		output_end(&r->err);
	}
	run_store(r);
}

static void collector_ready(void *owner, uint32_t events)
{
	struct run *r = owner;
	struct supervisor_heard heard;
	struct run_message m = { ROLE_COLLECTOR, 0, r->s->in, &heard.fds };
	struct error e;

	(void)events;
	if (supervisor_receive(
	        r->s, r->helper_fd, &collect_reply_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			fail_collect(r, "collect", &e);
		return;
	}
	m.verb = heard.verb;
	run_expect(r, DUE_HELPER, PATIENCE_HELPER);
	if (run_handle(r, &m, &e) < 0)
		fail_collect(r, "collect", &e);
	fd_list_close(&heard.fds);
}

static void name_ours(const struct run *r, struct collect_start *to)
{
	(void)snprintf(to->ours.items[0].name, sizeof(to->ours.items[0].name),
	    "%s", r->decision.language->language.source);
	for (size_t i = 0; i < r->n_inputs; i++)
		memcpy(to->ours.items[i + 1].name, r->inputs[i].is.name,
		    sizeof(to->ours.items[0].name));
	to->ours.n = r->n_inputs + 1;
}

/* It has nothing to say before it is asked: it ended, and the next is started
 * when there is something to ask. */
static void collector_early(void *owner, uint32_t events)
{
	(void)events;
	run_close_helper(owner);
}

void run_collector_ahead(struct run *r)
{
	struct error untold;

	if (r->helper_fd >= 0)
		return;
	r->helper_watch.ready = collector_early;
	/* A failure is met again by who needs it. */
	if (run_start_helper(r, HELPER_COLLECT, &untold) == 0)
		r->due[DUE_HELPER] = 0;
}

static bool run_has_plots(const struct run *r)
{
	return !r->is_compiling &&
	       environment_has_plots(
	           &r->decision.language->language, r->decision.limits);
}

static void put_globs(const struct run *r, struct collect_start *to)
{
	const struct policy *p = r->s->policy;

	_Static_assert(COLLECT_GLOBS_MAX == POLICY_ARTIFACTS_MAX &&
	                   COLLECT_GLOB_MAX == GLOB_MAX,
	    "a policy's patterns fit");
	for (size_t i = 0; i < p->n_artifacts; i++)
		memcpy(to->globs.items[i].text, p->artifacts[i],
		    sizeof(to->globs.items[i].text));
	to->globs.n = p->n_artifacts;
}

static int start_collector(struct run *r, struct error *e)
{
	const uint64_t *limits = run_limits(r);
	struct collect_start start = {
		.uid = r->program_uid,
		.max_files = limits[LIMIT_ARTIFACTS],
		.max_bytes = limits[LIMIT_ARTIFACT_BYTES],
		.max_depth = limits[LIMIT_ARTIFACT_DEPTH],
	};
	struct fd_list scratch = { .n = 1,
		.fd = { r->handles.fd[LAUNCH_FD_SCRATCH] } };
	struct channel_send what = { &collect_protocol, COLLECT_START, &start,
		&scratch };

	if (r->s->owner.rootless)
		name_ours(r, &start);
	if (r->helper_fd < 0 && run_start_helper(r, HELPER_COLLECT, e) < 0)
		return -1;
	put_globs(r, &start);
	if (run_has_plots(r)) {
		start.max_plots = limits[LIMIT_PLOTS];
		start.max_plot_bytes = limits[LIMIT_PLOT_BYTES];
	}
	/* What is made is no result: one file or a layer, bounded by the
	 * scratch. */
	if (r->is_compiling) {
		bool is_one = r->making == MAKING_PRODUCT;

		memcpy(start.globs.items[0].text, "**", sizeof("**"));
		start.globs.n = 1;
		start.max_files = is_one ? 1 : LAYERS_FILES_MAX;
		start.max_bytes = limits[LIMIT_SCRATCH_BYTES];
		start.max_depth = is_one ? 1 : LAYERS_DEPTH_MAX;
	}
	r->helper_watch.ready = collector_ready;
	run_expect(r, DUE_HELPER, PATIENCE_HELPER);
	return supervisor_send(r->s, r->helper_fd, &what, e);
}

void run_collect(struct run *r)
{
	struct error e;

	run_drain(r);
	if (r->clock[CLOCK_RELEASED] == 0) {
		run_record(r); /* no user code ran: there is nothing to keep */
		return;
	}
	if (r->is_compiling && run_compile_failed(r)) {
		output_end(&r->out);
		output_end(&r->err);
		run_store(r);
		return;
	}
	if (!r->is_compiling) {
		output_end(&r->out);
		output_end(&r->err);
	}
	r->stage = RUN_COLLECTING;
	r->give_up_us = loop_now_us() + PATIENCE_COLLECT;
	if (start_collector(r, &e) < 0)
		fail_collect(r, "collect", &e);
}

/* Nobody looks at files that may still change: they are set aside. */
void run_abandon(struct run *r)
{
	run_drain(r);
	if (r->clock[CLOCK_RELEASED] != 0) {
		output_end(&r->out);
		output_end(&r->err);
	}
	run_close_helper(r);
	run_set_folder_aside(r);
	run_record(r);
}

void run_collect_late(struct run *r)
{
	struct error e;

	error_fill(&e, ERROR_LIMIT, 0,
	    "collecting took too long; write fewer or smaller files");
	e.saved_errno = ETIME;
	fail_collect(r, "collector.timeout", &e);
}

static bool room_for_file(struct run *r)
{
	size_t max = r->files_max == 0 ? 16 : r->files_max * 2;
	struct result_file *more;

	if (r->n_files + FOLDER_EXTRA < r->files_max)
		return true;
	more = realloc(r->files, max * sizeof(more[0]));
	if (more == NULL)
		return false;
	r->files = more;
	r->files_max = max;
	return true;
}

/* For result.json.  Code and inputs are no results: nobody misses them. */
static void note_skipped(
    struct run *r, const uint8_t *name, size_t len, uint32_t why)
{
	struct result_skipped *s;

	if (why == COLLECT_FOREIGN || why >= COLLECT_WHY_N ||
	    r->n_skipped == RESULT_SKIPPED_MAX)
		return;
	if (r->skipped == NULL)
		r->skipped = calloc(RESULT_SKIPPED_MAX, sizeof(*r->skipped));
	if (r->skipped == NULL)
		return; /* its number is in the record all the same */
	s = &r->skipped[r->n_skipped++];
	s->why = why;
	result_skipped_name(name, len, s);
}

/* "files/" and the encoded name; false if no file can have it. */
static bool keep_name(
    const struct collect_found *found, char ret[EVENT_NAME_MAX])
{
	static const size_t n = sizeof(RESULT_FILES) - 1;
	struct error too_long;

	memcpy(ret, RESULT_FILES, n);
	if (found->name.len == 0 ||
	    text_percent_encode(found->name.data, (size_t)found->name.len,
	        ret + n, EVENT_NAME_MAX - n, &too_long) < 0)
		return false;
	for (const char *at = ret + n; *at != '\0';) {
		size_t len = strcspn(at, "/");

		/* Also "." and "..", as whole names. */
		if (len == 0 || len > NAME_MAX ||
		    (len <= 2 && strspn(at, ".") >= len))
			return false;
		at += len;
		if (*at == '/' && *++at == '\0')
			return false;
	}
	return true;
}

static int make_parents(int folder_fd, const char *name, struct error *e)
{
	char path[EVENT_NAME_MAX];

	for (const char *at = strchr(name, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		memcpy(path, name, (size_t)(at - name));
		path[at - name] = '\0';
		if (mkdirat(folder_fd, path, 0700) < 0 && errno != EEXIST)
			return FAIL_SYS(e, "make a folder for results");
	}
	return 0;
}

static int answer(
    struct run *r, uint16_t verb, const struct fd_list *fds, struct error *e)
{
	struct channel_send what = { &collect_protocol, verb, NULL, fds };

	return supervisor_send(r->s, r->helper_fd, &what, e);
}

int run_found(struct run *r, const struct run_message *m, struct error *e)
{
	struct fd_list to = { .n = 1 };
	struct result_file *file;
	int taken;

	if (r->is_compiling)
		return run_product_found(r, &m->in->found, e);
	if (r->taken_fd >= 0)
		return FAIL(e, ERROR_STATE, "collector found two at once");
	if (!room_for_file(r))
		return FAIL_SYS(e, "list the results");
	file = &r->files[r->n_files];
	if (!keep_name(&m->in->found, file->name)) {
		note_skipped(r, m->in->found.name.data,
		    (size_t)m->in->found.name.len, COLLECT_NAME);
		return answer(r, COLLECT_SKIP, NULL, e);
	}
	if (make_parents(r->folder_fd, file->name, e) < 0) {
		fail_collect(r, "results", e);
		return 0;
	}
	taken = openat(r->folder_fd, file->name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (taken < 0) {
		error_fill(e, ERROR_SYSTEM, errno, "make a result file");
		fail_collect(r, "results", e);
		return 0;
	}
	r->taken_fd = taken;
	to.fd[0] = taken;
	return answer(r, COLLECT_TAKE, &to, e);
}

static bool is_in_plots(const char *name)
{
	static const char place[] = RESULT_FILES LANGUAGE_PLOTS "/";

	return strncmp(name, place, sizeof(place) - 1) == 0;
}

int run_copied(struct run *r, const struct run_message *m, struct error *e)
{
	struct result_file *file = &r->files[r->n_files];
	struct stat st;

	if (r->is_compiling)
		return run_product_copied(r, &m->in->copied, e);
	if (r->taken_fd < 0)
		return FAIL(e, ERROR_STATE, "collector copied what it had not");
	if (fstat(r->taken_fd, &st) < 0)
		return FAIL_SYS(e, "stat a result file");
	own_close(&r->taken_fd);
	r->taken_fd = -1;
	if ((uint64_t)st.st_size != m->in->copied.size)
		return FAIL(e, ERROR_STATE, "collector copied another size");
	if (m->in->copied.kind >= PICTURE_KIND_N)
		return FAIL(e, ERROR_MALFORMED, "collector found no such kind");
	file->picture = (struct picture){ (enum picture_kind)m->in->copied.kind,
		m->in->copied.width, m->in->copied.height };
	file->is_plot = run_has_plots(r) && is_in_plots(file->name);
	file->size = m->in->copied.size;
	memcpy(file->sha256, m->in->copied.sha256, sizeof(file->sha256));
	r->n_files++;
	r->files_count++;
	r->files_bytes += file->size;
	return 0;
}

int run_skipped(struct run *r, const struct run_message *m, struct error *e)
{
	if (r->is_compiling)
		return 0;
	note_skipped(r, m->in->skipped.name.data,
	    (size_t)m->in->skipped.name.len, m->in->skipped.why);
	if (m->in->skipped.why == COLLECT_WRITE) {
		errno = ENOSPC;
		error_fill(e, ERROR_SYSTEM, errno, "copy a result file");
		fail_collect(r, "results", e);
		return 0;
	}
	drop_taken(r);
	return 0;
}

int run_collected(struct run *r, const struct run_message *m, struct error *e)
{
	if (r->taken_fd >= 0)
		return FAIL(e, ERROR_STATE, "collector is done in mid file");
	if (m->in->done.skipped < m->in->done.foreign)
		return FAIL(e, ERROR_MALFORMED, "collector counts wrong");
	run_close_helper(r);
	if (r->is_compiling) {
		if (r->making != MAKING_PRODUCT &&
		    run_layer_whole(m->in->done.why, e) < 0)
			return -1;
		run_product_start(r);
		return 0;
	}
	r->files_skipped = m->in->done.skipped - m->in->done.foreign;
	r->skipped_why = m->in->done.why;
	r->clock[CLOCK_COLLECTED] = loop_now_us();
	run_store(r);
	return 0;
}
