/*
 * policy/numbers.h - names and numbers of system calls, on either architecture.
 */
#ifndef POLICY_NUMBERS_H
#define POLICY_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Beyond it no table of ours has a name; a filter answers ENOSYS. */
#define NUMBER_LAST 511

/* Long enough for every name of a call, with its NUL. */
#define NUMBER_NAME_MAX 40

/*
 * 'arch' is an AUDIT_ARCH_* word.  *ret is negative when that architecture has
 * no such call; false for a name that neither libseccomp nor our table knows.
 */
bool number_of_name(uint32_t arch, const char *name, int *ret);

/* "-" if the number has no name there. */
void number_name(uint32_t arch, int number, char ret[NUMBER_NAME_MAX]);

#endif
