/*
 * cli/run_texts.c - code, standard input and inputs of a request, read as the
 * caller.  Linked by `bailiff` and bailiff-policy.
 */
#include "cli/run_texts.h"

#include "base/own.h"

static int read_inputs(
    const struct run_options *o, struct run_texts *t, struct error *e)
{
	for (uint64_t i = 0; i < o->run->inputs.n; i++) {
		if (o->put[i] == NULL)
			continue;
		if (source_input(o->put[i], o->put_len[i],
		        &t->inputs.fd[t->inputs.n], e) < 0)
			return FAIL_IN(e, "--put");
		t->inputs.n++;
	}
	return 0;
}

int run_texts_read(
    const struct run_options *o, struct run_texts *ret, struct error *e)
{
	enum source_stdin input = o->input;

	if (source_read(&o->source, &ret->code_fd, &ret->language, e) < 0)
		return -1;
	if (o->language != NULL)
		ret->language = o->language;
	if (ret->language == NULL)
		return FAIL(e, ERROR_USAGE,
		    "which language? name it: --lang python, --lang bash");
	if (o->source.kind == SOURCE_STDIN)
		input = SOURCE_STDIN_EMPTY;
	if (source_stdin(input, &ret->stdin_fd, e) < 0)
		return -1;
	return read_inputs(o, ret, e);
}

void run_texts_done(struct run_texts *t)
{
	own_close(&t->code_fd);
	own_close(&t->stdin_fd);
	fd_list_close(&t->inputs);
}
