/*
 * executor/results.h - finished runs, read by the principal they belong to.
 */
#ifndef EXECUTOR_RESULTS_H
#define EXECUTOR_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/protocol.h"

/* What root may, beside the principal of the run. */
struct results_who {
	int results_fd; /* borrowed */
	uint32_t uid;
};

/*
 * One file of a run, read-only.  ERROR_DENIED with one and the same text
 * whether the run does not exist or belongs to somebody else.
 */
int results_open(const struct results_who *who,
    const struct protocol_open *what, int *ret_fd, uint64_t *ret_size,
    struct error *e) MUST_CHECK;

/* The uid of the principal of a run; 0 where there is no such result. */
uint32_t results_owner(int results_fd, const char *run_id);

struct results_list; /* opaque: the names of one run, one after the other */

int results_list(const struct results_who *who, const char *run_id,
    struct results_list **ret, struct error *e) MUST_CHECK;

/* The next name and size; false at the end.  results_list_back undoes one. */
bool results_list_next(struct results_list *l, struct protocol_entry *ret);
void results_list_back(struct results_list *l);

uint64_t results_list_count(const struct results_list *l); /* given out */
void results_list_free(struct results_list *l);            /* NULL is fine */

#endif
