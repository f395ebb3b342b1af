/*
 * cli/audit.h - what the commands of bailiff-audit share.
 */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stddef.h>

#include "audit/verify.h"
#include "base/error.h"
#include "cli/options.h"

extern const struct command audit_verify_command;
extern const struct command audit_show_command;

/* Words without the command's own name, ended by NULL; an exit code. */
int audit_verify_main(char **words);
int audit_show_main(char **words);

#define AUDIT_PATH_MAX 4096

/* The directories of a log, all opened before anything in them is read. */
struct audit_place {
	int audit_fd, log_fd, results_fd; /* owned; results_fd may be -1 */
	int pin_fds[VERIFY_PINS_MAX];     /* owned; -1: none */
	char path[AUDIT_PATH_MAX];        /* of audit/, for messages */
};

#define AUDIT_PLACE_NONE                \
	{                               \
		-1, -1, -1, { -1, -1 }, \
		{                       \
			0               \
		}                       \
	}

/*
 * Open the log in 'dir': an audit folder (it holds log/) or a state directory
 * (it holds audit/log/); NULL: the state directory of this account.
 * 'results': NULL for none, "" for results/ of the state directory, else a path.
 */
int audit_place_open(const char *dir, const char *results,
    struct audit_place *ret, struct error *e) MUST_CHECK;
void audit_place_close(struct audit_place *p);

/* From here on only what lies beneath these directories can be read, and
 * nothing written but open descriptors.  Call before the first hostile byte. */
int audit_confine(const struct audit_place *p, struct error *e) MUST_CHECK;

/* cli/audit_print.c: the report on standard output; 0, or 1 when it could not
 * be written. */
int audit_print_text(const struct report *r, const struct verify_summary *s);
int audit_print_json(const struct report *r, const struct verify_summary *s);

#endif
