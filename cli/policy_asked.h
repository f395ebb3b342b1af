/*
 * cli/policy_asked.h - the request that `bailiff policy explain` is asked
 * about: by the words of `bailiff run`, or written down as JSON.
 */
#ifndef CLI_POLICY_ASKED_H
#define CLI_POLICY_ASKED_H

#include "cli/policy_screen.h"
#include "cli/run_texts.h"
#include "policy/request.h"

/* Big: on the heap, zeroed, with texts = RUN_TEXTS_NONE. */
struct policy_asked {
	struct run_options options;
	struct protocol_run run;
	struct run_texts texts;
	struct request request;  /* its 'asks' is what the policy judges */
	struct policy_code code; /* NULL in it if only its size is known */
	uint8_t *code_bytes;     /* owned: of the words' code */
	struct policy_faults faults;
	struct reader reader;
};

/*
 * Understand the words; nothing is opened yet.  Then a->options has --policy,
 * --json and --help.
 */
int policy_asked_parse(
    char **words, struct policy_asked *a, struct error *e) MUST_CHECK;

/*
 * Read what the words name and fill a->request.asks as the service would
 * (executor/run_decode.c), and a->code.
 */
int policy_asked_read(struct policy_asked *a, struct error *e) MUST_CHECK;

void policy_asked_done(struct policy_asked *a);

#endif
