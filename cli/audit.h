/*
 * cli/audit.h - what the commands of bailiff-audit share.
 */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "audit/verify.h"
#include "base/error.h"
#include "cli/options.h"

/* Words without the command's own name, ended by NULL; an exit code. */
int audit_verify_main(char **words);
int audit_show_main(char **words);
int audit_trace_main(char **words);
int audit_facts_main(char **words);
int audit_prove_main(char **words);
int audit_check_main(char **words);
int audit_checkpoint_main(char **words);
int audit_diff_main(char **words);
int audit_export_main(char **words);

/* A regular file of at most 'max_bytes'; the block is the caller's, to free. */
int audit_read_file(const char *path, size_t max_bytes, uint8_t **ret,
    size_t *ret_len, struct error *e) MUST_CHECK;

/* A log's key as --key takes it: itself, or the file that holds it.
 * ERROR_UNAVAILABLE for a type that we do not know. */
int audit_read_key(
    const char *value, struct note_key *ret, struct error *e) MUST_CHECK;

#define AUDIT_PATH_MAX 4096

/* The directories of a log, all opened before anything in them is read. */
struct audit_place {
	int audit_fd, log_fd, results_fd; /* owned; results_fd may be -1 */
	int policies_fd;                  /* owned; -1 unless asked for */
	int pin_fds[PIN_DIRECTORIES];     /* owned; -1: none */
	char path[AUDIT_PATH_MAX];        /* of audit/, for messages */
};

#define AUDIT_PLACE_NONE                    \
	{                                   \
		-1, -1, -1, -1, { -1, -1 }, \
		{                           \
			0                   \
		}                           \
	}

/*
 * Open the log in 'dir': an audit folder (it holds log/) or a state directory
 * (it holds audit/log/); NULL: the state directory of this account.
 * 'results': NULL for none, "" for results/ of the state directory, else a path.
 */
int audit_place_open(const char *dir, const char *results,
    struct audit_place *ret, struct error *e) MUST_CHECK;
/* Then policies/ beside the results, where both are: no link, and none at all
 * leaves it -1. */
int audit_place_open_policies(
    struct audit_place *p, struct error *e) MUST_CHECK;
/* The directories of pins alone. */
void audit_place_open_pins(struct audit_place *ret);
void audit_place_close(struct audit_place *p);

/* From here on only what lies beneath the directories of these places can be
 * read, and nothing written but open descriptors.  Call before the first
 * hostile byte. */
int audit_confine(
    const struct audit_place *places, size_t n, struct error *e) MUST_CHECK;
#define AUDIT_PLACES_MAX 2

/* cli/audit_print.c: the report on standard output; 0, or 1 when it could not
 * be written. */
int audit_print_text(const struct report *r, const struct verify_summary *s);
int audit_print_json(const struct report *r, const struct verify_summary *s);

#endif
