/*
 * mcp/facts.h - how a run ended, as a client is told: from the service's own
 * messages, or from a stored result.json.
 */
#ifndef MCP_FACTS_H
#define MCP_FACTS_H

#include "base/scan.h"
#include "executor/protocol.h"
#include "mcp/about.h"
#include "mcp/page.h"

#define FACTS_WORDS_MAX 512

struct facts_receipt {
	uint64_t seq;
	char leaf[65];
	bool of_intent; /* of the intent: the outcome's is not known here */
};

struct facts {
	char run_id[PROTOCOL_RUN_ID_MAX];
	char status[16]; /* DESIGN.md, "Words"; "running" too */
	char killed_by[16];
	char step[PROTOCOL_WORD_MAX]; /* of ours that failed */
	char remedy[256];
	bool allow;
	char rules[FACTS_WORDS_MAX]; /* joined by ", ": why it was denied, or
	                                * what allowed it */
	char advice[FACTS_WORDS_MAX * 2]; /* of a denial */
	char degraded[FACTS_WORDS_MAX];
	uint32_t exit_kind, exit_value; /* as in FINISHED */
	uint64_t wall_us, memory_peak;
	uint64_t out_size, out_total, err_size, err_total;
	uint64_t files, files_skipped;
	uint64_t wall_ms_limit, memory_limit; /* 0: not known */
	uint64_t n_libraries; /* asked for; nothing is ever installed */
	char policy_hash[65];
	struct facts_receipt audit;
};

/* By which policy, when nothing was decided. */
void facts_of_policy(struct facts *f, const struct about *about);
void facts_decide(struct facts *f, const struct protocol_decided *d,
    const struct about *about);
void facts_finish(struct facts *f, const struct protocol_finished *m);

/* Of result.json, scanned; false if it is not one. */
bool facts_recall(struct facts *f, const struct scan *s);

/* Whether a model should take the result for an error. */
bool facts_are_error(const struct facts *f);

/* What the peer calls exit_code: 124 timeout, 126 denied, 137 memory. */
int facts_exit_code(const struct facts *f);

/* Bytes of a stream that are shown. */
struct facts_stream {
	const char *data; /* borrowed */
	size_t len;
};

/*
 * The JSON body of execute_code and get_run; 'artifacts' is a JSON list.
 * A line about what went wrong goes in front of the program's own stderr when
 * it did not end by itself.
 */
struct facts_body {
	struct facts_stream out, err;
	uint64_t out_offset; /* of 'out' in the program's whole output */
	const struct page *artifacts;
};
void facts_print(
    const struct facts *f, const struct facts_body *body, struct page *to);

#endif
