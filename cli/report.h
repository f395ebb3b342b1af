/*
 * cli/report.h - the one JSON object of `bailiff run --json`, described in
 * man/bailiff-run.1.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/follow.h"

/*
 * Print what is known of a run to standard output.  'failure' is the text of
 * what kept it from ending, or NULL.  0, or 1 when it cannot be written.
 */
int report_print(const struct follow *f, const char *failure) MUST_CHECK;

#endif
