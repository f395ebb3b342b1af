/*
 * executor/service.h - where a service lives and how it is found or started:
 * the part that a front and a supervisor must agree on.
 *
 * As gpg finds gpg-agent: connect to the socket of this policy in the RUN
 * directory of this state directory; if nobody answers, start a supervisor and
 * connect again.  Twenty commands at once start up to twenty supervisors; one
 * wins the lock, the others say so and end.
 *
 * RUN is /run/bailiff/<first 16 hex of SHA-256 of "dev:ino" of STATE> as root,
 * STATE/run otherwise.  In it, for a policy whose bytes have the SHA-256 that
 * begins with the 16 digits H: H.sock (the supervisor's), H.lock (held by it
 * for life), signer.sock and signer.lock.  Sockets are bound and connected
 * through /proc/self/fd/<directory>, so the length of a path never matters
 * (sun_path holds 108 bytes).
 */
#ifndef EXECUTOR_SERVICE_H
#define EXECUTOR_SERVICE_H

#include <stdint.h>

#include "base/channel.h"
#include "base/error.h"

#define SERVICE_PATH_MAX      4096
#define SERVICE_NAME_MAX      32 /* "0123456789abcdef.sock" and a NUL */
#define SERVICE_SYSTEM_SOCKET "/run/bailiff/bailiff.sock"

/* What a started supervisor writes to its descriptor 3, one line, then closes:
 * "ready", "taken" (another one holds the lock), or "error: ..." */
#define SERVICE_READY "ready\n"
#define SERVICE_TAKEN "taken\n"

struct service {
	char state[SERVICE_PATH_MAX];  /* absolute, symlinks resolved */
	char policy[SERVICE_PATH_MAX]; /* absolute */
	uint8_t policy_sha256[32];     /* of the file's bytes */
	/* Of an account that is not root: where the keys of its logs are pinned,
	 * in .config/bailiff; "" if it has none, and for root. */
	char home[SERVICE_PATH_MAX];
	int state_fd; /* owned; O_DIRECTORY */
	int run_fd;   /* owned; RUN */
};

/*
 * Resolve 'state' (NULL: the default of this account) and 'policy' (NULL:
 * /etc/bailiff/policy.json if there is one, else the built-in preset), make
 * STATE and RUN if they are missing, and check both: a directory of this
 * account, no symlink, not writable by group or others, on a file system that
 * is not read-only.  The policy file is opened without following a final link,
 * must be a regular file of this account or root, not writable by group or
 * others, of at most 1 MiB; its bytes are hashed.
 */
int service_locate(const char *state, const char *policy, struct service *ret,
    struct error *e) MUST_CHECK;

/* The same without a policy: 'policy' and 'policy_sha256' stay as they are. */
int service_locate_state(
    const char *state, struct service *ret, struct error *e) MUST_CHECK;

/* The name of the supervisor's socket in RUN: "H.sock". */
void service_socket_name(const struct service *s, char ret[SERVICE_NAME_MAX]);

void service_done(struct service *s); /* closes; {.state_fd=-1,.run_fd=-1} ok */

/*
 * The path of a program or data file of ours, from the place of the running
 * executable: PREFIX/bin/bailiff and PREFIX/libexec/bailiff/bailiff-x both
 * find PREFIX/libexec/bailiff/ and PREFIX/share/bailiff/.
 */
int service_program_path(
    const char *name, char ret[SERVICE_PATH_MAX], struct error *e) MUST_CHECK;
int service_data_path(
    const char *name, char ret[SERVICE_PATH_MAX], struct error *e) MUST_CHECK;

/* Connect to RUN/<name>; ERROR_CLOSED when nobody listens there. */
int service_connect(
    int run_fd, const char *name, int *ret_fd, struct error *e) MUST_CHECK;

/* Bind RUN/<name> (an old socket of that name is removed) and listen. */
int service_listen(
    int run_fd, const char *name, int *ret_fd, struct error *e) MUST_CHECK;

#endif
