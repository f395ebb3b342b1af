/*
 * audit/verify_results.h - result folders beside the outcomes that name them:
 * shared by verify*.c, nobody else includes this.
 */
#ifndef AUDIT_VERIFY_RESULTS_H
#define AUDIT_VERIFY_RESULTS_H

#include "audit/manifest.h"
#include "audit/verify_parts.h"
#include "base/sha256.h"

/* A result folder, or a file of one, that is missing or short: what that means
 * shows only when the end of its boot and of the log are known. */
struct verify_loss {
	uint8_t run[IDMAP_ID];
	uint8_t boot[IDMAP_ID];
	struct report_place place;
	char file[48];  /* begins its name; "" for the whole folder */
	bool set_aside; /* unpublished by a crash, but there */
};

/* A policy that records name; its key is the first half of the digest. */
struct verify_policy {
	uint8_t digest[SHA256_BYTES];
	uint8_t boot[IDMAP_ID];    /* of the last record that names it */
	struct report_place place; /* of the first */
	bool missing;
};

/* What records say is gone of a run. */
enum verify_gone {
	GONE_PRUNED = 1,  /* its results, by results.prune */
	GONE_RESULTS = 2, /* its results, by redact */
	GONE_SALT = 4     /* what opened its commitments */
};

/* verify_note.c: the same of records that are about no request. */
int verify_note_record(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good,
    struct error *e) MUST_CHECK;

/* verify_results.c: which folders there are, what each outcome's holds, and what
 * is left over at the end. */
int verify_results_list(struct verify *v, struct error *e) MUST_CHECK;
int verify_result(struct verify *v, const struct entry *outcome,
    const struct report_place *place, struct error *e) MUST_CHECK;
int verify_results_end(
    struct verify *v, bool signer_runs, struct error *e) MUST_CHECK;

/* verify_policies.c: the kept text of the policy that a record names, if it names
 * one; then, once all boots are known, what is missing; last, what holds. */
int verify_policy(struct verify *v, const struct entry *entry,
    const struct report_place *place, struct error *e) MUST_CHECK;
void verify_policies_end(struct verify *v);
void verify_say_policies(struct verify *v);

/* verify_folder.c: the files of one folder against its MANIFEST. */
struct verify_folder {
	int dir_fd; /* borrowed */
	const struct entry *outcome;
	const struct report_place *place;
	char name[40]; /* "r_" and 32 digits */
};
int verify_folder(struct verify *v, const struct verify_folder *f,
    struct error *e) MUST_CHECK;
/* Note that a file (NULL: the folder) is missing or short. */
int verify_lost(struct verify *v, const struct verify_folder *f,
    const char *file, struct error *e) MUST_CHECK;

/* verify_trace.c: the trace that the outcome tells, unpacked if need be. */
int verify_trace(struct verify *v, const struct verify_folder *f,
    const struct manifest *m, struct error *e) MUST_CHECK;

/* verify_aside.c: whether a folder that is not in its place lies unpublished in
 * .staging or .quarantine, with the MANIFEST that the outcome tells. */
bool verify_set_aside(const struct verify *v, const struct verify_folder *f);

#endif
