/*
 * audit/recall.h - an outcome found again in the log, with a fresh receipt, for
 * a supervisor that was killed between the record and the publication of its
 * result folder.  Linked by the signer.
 */
#ifndef AUDIT_RECALL_H
#define AUDIT_RECALL_H

#include <stdint.h>

#include "audit/event.h"
#include "audit/tree.h"

struct recall {
	int log_dir_fd; /* borrowed: log/ */
	uint64_t size;  /* records that are acknowledged; no more are read */
	const struct event_recall *what; /* borrowed */
};

/*
 * Read the log from its front.  Fills seq, leaf, line and record_key of *ret,
 * and the inclusion path of the record in the tree of 'size' records.
 * ERROR_STATE when no outcome of that run commits to that manifest.
 */
int recall_find(const struct recall *r, struct event_stored *ret,
    struct tree_path *ret_path, struct error *e) MUST_CHECK;

#endif
