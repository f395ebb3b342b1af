/*
 * audit/pin.h - the key that this account trusts for a log, where none was
 * given: <log id>/log.vkey below a directory of pins.  Linked by the audit
 * reader.
 *
 * The log id is only a name to look under: a log that names another log's id
 * meets a key that did not sign it.
 */
#ifndef AUDIT_PIN_H
#define AUDIT_PIN_H

#include "audit/entry.h"
#include "audit/note.h"

#define PIN_DIRECTORIES 2

/*
 * The key below the first of 'pin_fds' (borrowed; -1: none) that has one for
 * the log that 'entry' names.  ERROR_STATE where none has, or where the file
 * is not one that its owner alone writes.
 */
int pin_find(const int pin_fds[PIN_DIRECTORIES], const struct entry *entry,
    struct note_key *ret, struct error *e) MUST_CHECK;

/*
 * The key in <log id>/log.vkey below 'pin_fd'; *ret_found false: none.
 * ERROR_STATE for a file that others may write.
 */
int pin_read(int pin_fd, const char *log_hex, struct note_key *ret,
    bool *ret_found, struct error *e) MUST_CHECK;

#endif
