/*
 * cli/run_texts.h - what `bailiff run` reads before it asks anything of a
 * service, and what `bailiff policy explain` reads by the same words.
 */
#ifndef CLI_RUN_TEXTS_H
#define CLI_RUN_TEXTS_H

#include "base/channel.h"
#include "cli/run_options.h"

/* Sealed memory files; start with RUN_TEXTS_NONE. */
struct run_texts {
	int code_fd, stdin_fd; /* owned */
	struct fd_list inputs; /* owned: of the inline ones, in order */
	const char *language;  /* static or of the words */
};
#define RUN_TEXTS_NONE                        \
	{                                     \
		.code_fd = -1, .stdin_fd = -1 \
	}

/*
 * All of it as the caller.  ERROR_USAGE when nothing tells the language; on
 * failure what was read stays in *ret.
 */
int run_texts_read(const struct run_options *o, struct run_texts *ret,
    struct error *e) MUST_CHECK;

void run_texts_done(struct run_texts *t);

#endif
