/*
 * audit/signer.h - how bailiff-signer is started and what it expects to find.
 * For whoever starts it (the supervisor) and for audit/signer.c; no code.
 *
 * One signer per log.  Its starter, holding an flock on RUN/signer.lock, opens
 * everything below, forks, sets the ids of the signer (UID_SIGNER as root),
 * and executes "bailiff-signer [OPTIONS]" with these descriptors open, and no other:
 */
#ifndef AUDIT_SIGNER_H
#define AUDIT_SIGNER_H

#define SIGNER_LISTEN_FD \
	3 /* SOCK_SEQPACKET, bound to RUN/signer.sock, listening */
#define SIGNER_AUDIT_FD 4 /* STATE/audit, O_DIRECTORY|O_RDONLY */
#define SIGNER_KEYS_FD  5 /* STATE/keys, likewise */
#define SIGNER_STATE_FD 6 /* STATE/state, likewise */
/*
 * With --new-log only, else closed: the fresh directory KEYS.D/<log id> where
 * log.vkey, which auditors pin, is created once.  KEYS.D is
 * /etc/bailiff/keys.d as root, ~/.config/bailiff otherwise.
 */
#define SIGNER_PIN_FD   7
#define SIGNER_LOCK_FD  8 /* the open file that holds the flock; kept for life */
#define SIGNER_READY_FD 9 /* write end of a pipe; see below */

/*
 * audit/, keys/, state/ and the pin directory must belong to the signer's own
 * uid and not be writable by group or others (0700; the pin directory 0755).
 *
 * Options:
 *   --new-log HEX      32 hex digits, random: create the log with this id.  To be
 *                      given, with descriptor 7, exactly when keys/log.key does
 *                      not exist; with it the signer creates keys, the pin and
 *                      an empty log, and without it it creates nothing.
 *   --origin TEXT      with --new-log: the origin, default "localhost/bailiff/"
 *                      and the log id; at most SIGNER_ORIGIN_MAX - 1 bytes of
 *                      0x21..0x7E without '"', '\' and '+'
 *   --seal             with --new-log: seal the keys under what is on descriptor 10
 *   --linger-ms N      end when no channel has been open for N ms, default 2000
 *
 * After "ready\n" the starter should take the pin directory and log.vkey back
 * (fchown to root), so that not even the signer can change the pin.
 */
#define SIGNER_KEY_FILE   "log.key" /* in keys/ */
#define SIGNER_PIN_FILE   "log.vkey"
#define SIGNER_ORIGIN_MAX 256
#define SIGNER_LINGER_MS  2000

/*
 * With sealed keys: what they are sealed under, the bytes up to the end, a final
 * LF not counted; at most 1024 bytes.  Closed: keys must be plain files.
 */
#define SIGNER_SECRET_FD 10

/* One line on SIGNER_READY_FD, then it is closed: this or "error: ...\n". */
#define SIGNER_READY "ready\n"

/*
 * Who may be on a channel: root, the signer's own uid, and this one, which is
 * UID_SUPERVISOR of executor/uids.h.
 */
#define SIGNER_CLIENT_UID 1900000000u

/* Exit codes. */
#define SIGNER_EXIT_OK    0 /* idle, or told to stop by SIGTERM */
#define SIGNER_EXIT_FAIL  1 /* one line on stderr (and on the pipe) says why */
#define SIGNER_EXIT_USAGE 2
#define SIGNER_EXIT_BUSY  75 /* another signer has the log; its pid is named */

/*
 * A channel that is closed before WELCOME met a signer on its way out: wait for
 * the flock on RUN/signer.lock, look for the socket again, else start another.
 */
#endif
