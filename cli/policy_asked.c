/*
 * cli/policy_asked.c - a request for explain.  Linked by bailiff-policy.  It
 * reads what `bailiff run` would, with the rights of whoever called it.
 */
#include "cli/policy_asked.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/own.h"

int policy_asked_parse(char **words, struct policy_asked *a, struct error *e)
{
	a->options.command = &run_explain_command;
	a->options.run = &a->run;
	return run_options_parse(words, &a->options, e);
}

static int read_request(struct policy_asked *a, struct error *e)
{
	const char *path = a->options.request;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	AUTO_FREE uint8_t *data = NULL;
	struct policy_text text = { .name = path };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "--request: %.200s", path);
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERROR_DENIED,
		    "--request: %.200s: not a regular file", path);
	if (file_read_all(fd, POLICY_TEXT_MAX, &data, &text.len, e) < 0)
		return FAIL_IN(e, "--request: %.200s", path);
	text.data = (const char *)data;
	a->reader.faults = &a->faults;
	if (request_decode(&a->reader, &text, &a->request, e) < 0)
		return -1;
	a->code = (struct policy_code){ a->request.code,
		(size_t)a->request.asks.code_size };
	return 0;
}

static int read_code(struct policy_asked *a, struct error *e)
{
	if (file_read_all(a->texts.code_fd, SOURCE_BYTES_MAX, &a->code_bytes,
	        &a->code.n, e) < 0)
		return FAIL_IN(e, "code");
	a->code.data = a->code_bytes;
	a->request.asks.code_size = a->code.n;
	return 0;
}

static int size_of(int fd, uint64_t *ret, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat what was read");
	*ret = (uint64_t)st.st_size;
	return 0;
}

static int take_limits(
    const struct protocol_run *run, struct policy_request *to, struct error *e)
{
	for (uint64_t i = 0; i < run->limits.n; i++) {
		const struct protocol_limit *l = &run->limits.items[i];
		enum limit_id id = limit_find(l->name);

		if (id == LIMIT_N || to->asks[id])
			return FAIL(e, ERROR_USAGE,
			    "limit '%.40s' is unknown or asked for twice",
			    l->name);
		to->asks[id] = true;
		to->limits[id] = l->value;
	}
	return 0;
}

static int take_inputs(
    const struct policy_asked *a, struct policy_request *to, struct error *e)
{
	static const enum policy_input_kind kinds[] = {
		[PROTOCOL_INPUT_FILE] = POLICY_INPUT_FILE,
		[PROTOCOL_INPUT_INLINE] = POLICY_INPUT_INLINE,
		[PROTOCOL_INPUT_DIRECTORY] = POLICY_INPUT_DIRECTORY,
	};

	to->n_inputs = (size_t)a->run.inputs.n;
	to->n_inputs_asked = to->n_inputs;
	for (size_t i = 0; i < to->n_inputs; i++) {
		const struct protocol_input *input = &a->run.inputs.items[i];

		to->inputs[i] = (struct policy_input){ .host = input->host,
			.name = input->name,
			.kind = kinds[input->kind] };
	}
	for (size_t i = 0; i < a->texts.inputs.n; i++) {
		uint64_t size;

		if (size_of(a->texts.inputs.fd[i], &size, e) < 0)
			return -1;
		to->inline_size += size;
	}
	return 0;
}

static void take_libraries(
    const struct protocol_run *run, struct policy_request *to)
{
	to->n_libraries = (size_t)run->libraries.n;
	to->n_libraries_asked = to->n_libraries;
	for (size_t i = 0; i < to->n_libraries; i++)
		to->libraries[i] = run->libraries.items[i].text;
}

int policy_asked_read(struct policy_asked *a, struct error *e)
{
	struct policy_request *to = &a->request.asks;

	if (a->options.request != NULL)
		return read_request(a, e);
	if (run_texts_read(&a->options, &a->texts, e) < 0)
		return -1;
	to->language = a->texts.language;
	to->args_size = a->run.args.len;
	if (read_code(a, e) < 0 ||
	    size_of(a->texts.stdin_fd, &to->stdin_size, e) < 0 ||
	    take_limits(&a->run, to, e) < 0)
		return -1;
	take_libraries(&a->run, to);
	return take_inputs(a, to, e);
}

void policy_asked_done(struct policy_asked *a)
{
	run_texts_done(&a->texts);
	free(a->code_bytes);
	a->code_bytes = NULL;
}
