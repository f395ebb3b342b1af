/*
 * executor/run_store.c - the result folder: written in staging, renamed into
 * results when its outcome is durable.  Linked by the supervisor.  Never
 * half-made where others look.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/dsse.h"
#include "base/file.h"
#include "base/own.h"
#include "executor/run_layers.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"

static int write_file(struct run *r, const char *name,
    const struct text_out *text, struct error *e)
{
	AUTO_FD fd = openat(r->folder_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return FAIL_SYS(e, "make %s", name);
	if (file_write_all(fd, text->data, text->len, e) < 0)
		return FAIL_IN(e, "%s", name);
	return 0;
}

/* One more line of MANIFEST; run_found left room for these. */
static void list_file(struct run *r, const char *name, uint64_t size,
    const uint8_t digest[SHA256_BYTES])
{
	struct result_file *f = &r->files[r->n_files++];

	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	f->size = size;
	memcpy(f->sha256, digest, sizeof(f->sha256));
}

static int store_text(struct run *r, const char *name,
    const struct text_out *text, struct error *e)
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(text->data, text->len, digest);
	list_file(r, name, text->len, digest);
	return write_file(r, name, text, e);
}

static int store_stream(struct run *r, const struct output *o, const char *name,
    const char *tail_name, struct error *e)
{
	struct text_out tail = { (char *)r->s->block, SUPERVISOR_BLOCK,
		output_tail_size(o) };

	if (o->file_errno != 0) {
		errno = o->file_errno;
		return FAIL_SYS(e, "write %s", name);
	}
	if (o->tail_lost)
		return FAIL(e, ERROR_SYSTEM, "no memory for %s", tail_name);
	list_file(r, name, o->head_size, o->head_sha256);
	if (tail.len == 0)
		return 0;
	output_tail(o, (uint8_t *)tail.data);
	return store_text(r, tail_name, &tail, e);
}

/* What is copied from sealed memory into the folder, a step at a time. */
struct copy {
	int from_fd, to_fd; /* borrowed */
	uint64_t size;
	const char *what;
};

/* True when all has been copied, or nothing more can be. */
static int copy_step(
    const struct copy *c, uint64_t *copied, bool *ret_done, struct error *e)
{
	uint64_t left = c->size - *copied;
	off_t at = (off_t)*copied;
	ssize_t n;

	if (left == 0) {
		*ret_done = true;
		return 0;
	}
	n = sendfile(c->to_fd, c->from_fd, &at,
	    left < SUPERVISOR_STEP ? (size_t)left : SUPERVISOR_STEP);
	if (n <= 0)
		return FAIL_SYS(e, "keep the %s", c->what);
	*copied += (uint64_t)n;
	*ret_done = *copied == c->size;
	return 0;
}

/* Code, and standard input where the policy keeps it. */
static int copy_sealed(struct run *r, bool *ret_done, struct error *e)
{
	const struct copy code = { r->code_fd, r->code_copy_fd,
		r->intent.code_size, "code" };
	struct copy in = { r->stdin_fd, r->stdin_copy_fd, r->intent.stdin_size,
		"standard input" };

	if (copy_step(&code, &r->code_copied, ret_done, e) < 0)
		return -1;
	if (!*ret_done || r->s->policy->audit.standard_input != CONTENT_STORE)
		return 0;
	if (in.to_fd < 0) {
		in.to_fd = openat(r->folder_fd, "stdin",
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (in.to_fd < 0)
			return FAIL_SYS(e, "make stdin");
		r->stdin_copy_fd = in.to_fd;
	}
	return copy_step(&in, &r->stdin_copied, ret_done, e);
}

/* Each NAME=VALUE and a NUL, in the order that the commitment has. */
static int store_environment(struct run *r, struct error *e)
{
	struct text_out text = { (char *)r->s->block, SUPERVISOR_BLOCK, 0 };
	const struct run_part program = { .made = NULL };
	const char *rows[RUN_ENV_MAX];
	size_t n_rows = run_environment(r, &program, rows);

	for (size_t i = 0; i < n_rows; i++) {
		size_t n = strlen(rows[i]) + 1;

		if (n > text.cap - text.len)
			return FAIL(e, ERROR_LIMIT, "environment too long");
		memcpy(text.data + text.len, rows[i], n);
		text.len += n;
	}
	return store_text(r, "env", &text, e);
}

/* What the policy wants to be kept beside the commitments. */
static int store_secrets(struct run *r, struct error *e)
{
	const struct policy_audit *a = &r->s->policy->audit;
	const struct text_out args = { (char *)r->args, r->args_len,
		r->args_len };

	if (a->args == CONTENT_STORE && store_text(r, "args", &args, e) < 0)
		return -1;
	if (a->env == CONTENT_STORE && store_environment(r, e) < 0)
		return -1;
	if (a->standard_input == CONTENT_STORE)
		list_file(
		    r, "stdin", r->intent.stdin_size, r->intent.stdin_sha256);
	return 0;
}

static int store_manifest(struct run *r, struct error *e)
{
	size_t cap = r->n_files * (SHA256_HEX + 2 + EVENT_NAME_MAX) + 1;
	AUTO_FREE char *data = malloc(cap);
	struct text_out text = { data, cap, 0 };

	if (data == NULL)
		return FAIL_SYS(e, "write MANIFEST");
	result_files_sort(r->files, r->n_files);
	if (result_manifest(r->files, r->n_files, &text, e) < 0)
		return -1;
	sha256_of(text.data, text.len, r->outcome->manifest);
	return write_file(r, "MANIFEST", &text, e);
}

static int store_json(
    struct run *r, const struct result_facts *facts, struct error *e)
{
	AUTO_FREE char *text = malloc(RESULT_JSON_MAX);
	struct text_out json = { text, RESULT_JSON_MAX, 0 };

	if (text == NULL)
		return FAIL_SYS(e, "write result.json");
	if (result_json(facts, &json, e) < 0)
		return -1;
	return store_text(r, "result.json", &json, e);
}

static void list_traces(struct run *r)
{
	if (r->trace == RUN_TRACE_FINISHED)
		list_file(r, run_trace_name(r, r->making),
		    r->traced.stored_bytes, r->traced.stored_sha256);
	for (size_t i = MAKING_LIBRARIES; i < MAKING_N; i++)
		if (r->made[i].trace == RUN_TRACE_FINISHED)
			list_file(r, run_trace_name(r, (enum run_making)i),
			    r->made[i].traced.stored_bytes,
			    r->made[i].traced.stored_sha256);
}

/* What the program saw at /opt: digests of the layers' lists. */
static int store_layers(struct run *r, struct error *e)
{
	char block[RUN_LAYER_N * (SHA256_HEX + 16)];
	struct text_out text = { block, sizeof(block), 0 };

	for (size_t i = 0; i < RUN_LAYER_N; i++) {
		char hex[SHA256_HEX];

		if (r->layers[i].tree_fd < 0)
			continue;
		sha256_hex(r->layers[i].sha256, hex);
		if (text_printf(&text, e, "%s  %s\n", hex, run_layer_names[i]) <
		    0)
			return -1;
	}
	return text.len == 0 ? 0 : store_text(r, "layers", &text, e);
}

static int store_rest(struct run *r, struct error *e)
{
	const char *dot = strrchr(r->decision.language->language.source, '.');
	char code_name[POLICY_NAME_MAX + 8];
	size_t n_inputs = 0;
	AUTO_FREE struct result_input *inputs = run_sorted_inputs(r, &n_inputs);
	struct result_facts facts = { &r->intent, r->outcome, r->skipped,
		r->n_skipped, r->failure.remedy, inputs, n_inputs, NULL, 0 };

	if (inputs == NULL)
		return FAIL_SYS(e, "list the inputs");
	(void)snprintf(
	    code_name, sizeof(code_name), "code%s", dot != NULL ? dot : "");
	list_file(r, code_name, r->intent.code_size, r->intent.code_sha256);
	list_traces(r);
	if (store_layers(r, e) < 0 || store_secrets(r, e) < 0 ||
	    store_stream(r, &r->out, "stdout", "stdout.tail", e) < 0 ||
	    store_stream(r, &r->err, "stderr", "stderr.tail", e) < 0)
		return -1;
	r->clock[CLOCK_STORED] = loop_now_us();
	if (run_build_outcome(r, e) < 0)
		return -1;
	facts.outcome = r->outcome;
	facts.files = r->files; /* the outcome has sorted them */
	facts.n_files = r->n_files;
	if (store_json(r, &facts, e) < 0)
		return -1;
	return store_manifest(r, e);
}

void run_store(struct run *r)
{
	r->stage = RUN_STORING;
	run_store_step(r);
}

void run_store_step(struct run *r)
{
	bool done = false;
	struct error e;

	if (r->files == NULL) {
		r->files_max = 16;
		r->files = calloc(r->files_max, sizeof(r->files[0]));
	}
	if (r->files == NULL)
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "list the results");
	else if (copy_sealed(r, &done, &e) == 0 && !done)
		return; /* again in the next turn */
	else if (done && store_rest(r, &e) == 0) {
		run_record(r);
		return;
	}
	run_fail(r, PHASE_COLLECT, "results", &e);
	run_set_folder_aside(r);
	run_record(r);
}

/* Out of staging, into quarantine: kept for a person, never shown. */
void run_set_folder_aside(struct run *r)
{
	const struct supervisor *s = r->s;

	if (!r->has_folder)
		return;
	r->has_folder = false;
	if (r->clock[CLOCK_RELEASED] != 0 || r->clock[CLOCK_COMPILED] != 0) {
		/* If even that fails the next start sweeps it. */
		(void)renameat(
		    s->state.staging_fd, r->id, s->state.quarantine_fd, r->id);
		return;
	}
	/* No user code ran: our own empty files and the code go. */
	if (r->folder_fd >= 0) {
		const char *dot =
		    strrchr(r->decision.language->language.source, '.');
		char code_name[POLICY_NAME_MAX + 8];

		(void)snprintf(code_name, sizeof(code_name), "code%s",
		    dot != NULL ? dot : "");
		(void)unlinkat(r->folder_fd, code_name, 0);
		(void)unlinkat(r->folder_fd, "stdout", 0);
		(void)unlinkat(r->folder_fd, "stderr", 0);
		run_trace_remove(r);
	}
	(void)unlinkat(s->state.staging_fd, r->id, AT_REMOVEDIR);
}

int run_publish(
    struct run *r, const struct event_stored *stored, struct error *e)
{
	struct text_out envelope = { (char *)r->s->block, SUPERVISOR_BLOCK, 0 };
	struct text_out proof = { NULL, 0, (size_t)stored->proof.len };

	if (dsse_envelope(stored->line.data, (size_t)stored->line.len,
	        stored->record_key, &envelope, e) < 0 ||
	    write_file(r, "record.dsse.json", &envelope, e) < 0)
		return -1;
	/* After the envelope has left the block. */
	memcpy(r->s->block, stored->proof.data, proof.len);
	proof.data = (char *)r->s->block;
	/* There is none for a record that is not on stable storage yet. */
	if (proof.len > 0 && write_file(r, "record.tlog-proof", &proof, e) < 0)
		return -1;
	if (renameat(r->s->state.staging_fd, r->id, r->s->state.results_fd,
	        r->id) < 0)
		return FAIL_SYS(e, "move the results into place");
	r->has_folder = false;
	r->is_published = true;
	return 0;
}
