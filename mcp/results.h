/*
 * mcp/results.h - the answer of execute_code and get_run: images, then the text
 * JSON, then links to further files.
 */
#ifndef MCP_RESULTS_H
#define MCP_RESULTS_H

#include "mcp/server.h"

extern const struct plan_kind results_of_run;    /* facts and output known */
extern const struct plan_kind results_of_stored; /* from result.json */
extern const struct plan_kind results_running;   /* what there is so far */

/* Its run is over: what is still to be fetched for its answer. */
void results_choose(struct call *c);

/* Answer with what is known; the service is gone. */
void results_abandoned(struct server *s, struct call *c);

/* The name without its encoding, as a JSON string. */
void results_put_name(struct page *to, const char *encoded);

#endif
