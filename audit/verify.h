/*
 * audit/verify.h - does a log hold?  The whole of `bailiff audit verify` but
 * its command line, its opening of directories and its printing.
 *
 * Only the audit reader links this.  It reads through descriptors that its
 * caller opened before the first hostile byte, and takes memory that grows with
 * the logarithm of the log, plus 16 bytes for each run id, plus open intents,
 * plus at most 9 MiB for the policies it names.
 */
#ifndef AUDIT_VERIFY_H
#define AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/note.h"
#include "audit/pin.h"
#include "audit/report.h"
#include "audit/words.h"
#include "base/error.h"

enum verify_require {
	REQUIRE_DEV, /* any: also records that nobody made durable */
	REQUIRE_LOCAL,
	REQUIRE_ANCHORED,
	REQUIRE_WITNESSED
};

/* "dev", "local", ...; NULL behind the last. */
const char *verify_require_word(enum verify_require level);

struct witness_policy;

/* A head that the caller holds from elsewhere: a checkpoint or a receipt. */
struct verify_known {
	const char *name;
	uint8_t *data; /* borrowed */
	size_t len;
};

struct verify_options {
	int audit_fd;   /* borrowed; holds checkpoint, lock, log/ */
	int log_fd;     /* borrowed; log/ */
	int results_fd; /* borrowed; -1: results are not looked at */
	int policies_fd; /* borrowed; with results; -1: there is no such folder */
	/*
	 * The key to trust; NULL: the one in <log id>/log.vkey below the first
	 * of pin_fds (-1: none) that has it.  Never one from the log folder.
	 */
	const struct note_key *key;
	int pin_fds[PIN_DIRECTORIES];
	const struct verify_known *known; /* borrowed */
	size_t n_known;
	/* Begin where this head ends; NULL: at the first record.  Needs the
	 * index, and takes no results. */
	const struct verify_known *from;
	const uint8_t *policy_sha256; /* NULL: any; of a policy file */
	const struct witness_policy *witnesses; /* NULL: none */
	enum verify_require require;
	bool deep; /* every signature, not two of each epoch */
	bool strict;
};

/* What stands on the last lines. */
struct verify_summary {
	enum verdict verdict;
	uint64_t records, bytes, signatures;
	uint64_t from;         /* records before the first that was judged */
	uint64_t covered;      /* records below the signed checkpoint */
	uint64_t results;      /* folders that were checked */
	uint64_t redacted;     /* runs whose salts are erased */
	struct tree_head head; /* of all records that hold */
	bool pinned;           /* 'pin' is set */
	bool pin_is_local;
	bool witnessed;
	enum verify_require assured;  /* what the log is worth, if it holds */
	enum promise durability;      /* the weakest that a record says */
	bool keys_files, keys_sealed; /* epochs that say so */
	uint64_t n_weaker;            /* records that say one */
	struct note_key pin;
};

/*
 * Judge the log.  Findings go to 'report'.  0: *ret is filled, whatever the
 * verdict.  -1: could not run (exit code 2); the report says nothing then.
 */
int verify_log(const struct verify_options *options, struct report *report,
    struct verify_summary *ret, struct error *e) MUST_CHECK;

#endif
