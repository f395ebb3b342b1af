/*
 * executor/supervisor.h - what the parts of bailiff-supervisor share: one
 * struct that main owns.  Private to the supervisor's own files.
 */
#ifndef EXECUTOR_SUPERVISOR_H
#define EXECUTOR_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/client.h"
#include "executor/account.h"
#include "executor/exchange.h"
#include "executor/outbox.h"
#include "executor/posture.h"
#include "executor/service.h"
#include "executor/state.h"
#include "executor/supervisor_keep.h"
#include "executor/supervisor_screen.h"
#include "executor/supervisor_sync.h"
#include "executor/supervisor_trace.h"
#include "executor/template.h"
#include "executor/toolchain.h"
#include "policy/load.h"

struct packages;
struct run;
struct session;

struct supervisor {
	struct service service;
	struct policy_loaded loaded;
	const struct policy *policy; /* of 'loaded' */
	struct account owner;
	bool nested, any_user; /* any_user: all accounts may connect */
	uint8_t instance[16];
	char instance_hex[33];
	int lock_fd; /* owned; held for life or until stale */
	struct state state;
	struct template view;
	struct posture_self self;
	bool split_cgroups;
	uint32_t landlock_abi;
	struct toolchain toolchains[POLICY_LANGUAGES_MAX];
	struct packages *packages; /* owned; NULL: none are known */
	int init_filter_fd;        /* owned */
	int nothing_fd; /* owned; standard input of what we start ourselves */
	int root_fds[POLICY_ROOTS_MAX]; /* owned; O_PATH of read roots */
	uint8_t launch_sha256[SHA256_BYTES];
	struct loop loop;
	struct watch listen_watch, signal_watch, audit_watch, launch_watch;
	int listen_fd, signal_fd;   /* owned; -1 */
	struct audit_client *audit; /* owned */
	struct outbox launch_box;
	int launch_fd, launch_pid_fd; /* owned; -1 once the launcher is gone */
	struct syncing syncing;
	struct keeping keeping;
	struct tracing tracing;
	struct screen_link screen;
	struct channel io; /* its fd is borrowed for the length of one call */
	union incoming *in;
	union outgoing *out;
	uint8_t *block; /* SUPERVISOR_BLOCK bytes */
	struct session *sessions;
	struct run *runs;
	size_t n_sessions, n_runs;
	size_t slots_max, slots; /* runs that may be and are at the launcher */
	uint64_t last_number;    /* of a run, for the launcher and tickets */
	uint64_t idle_since_us;  /* when the last session went away */
	uint64_t quiet_since_us; /* when the last run was over */
	bool stopping; /* no new runs; end when the last is recorded */
	bool stale;    /* a source changed: no new clients either */
	bool lost;     /* nothing may run on: end at once, ... */
	char lost_text[ERROR_TEXT_MAX]; /* ... which the fronts are told */
	char broken[ERROR_TEXT_MAX];    /* why no run is accepted, or "" */
};

#define SUPERVISOR_BLOCK 262144
#define SUPERVISOR_STEP  1048576 /* bytes copied or hashed in one turn */

/* supervisor_start.c: everything up to "ready". */
struct supervisor_options {
	/* Borrowed; NULL for the defaults, and for no home (struct service). */
	const char *policy, *state, *home;
	bool allow_nested;
	int listen_fd, secret_fd; /* inherited, -1: none; socket, seal */
};
enum supervisor_started {
	SUPERVISOR_READY,
	SUPERVISOR_TAKEN
};
int supervisor_start(struct supervisor *s,
    const struct supervisor_options *options, enum supervisor_started *ret,
    struct error *e) MUST_CHECK;
int supervisor_serve(struct supervisor *s, struct error *e) MUST_CHECK;
/* supervisor_layers.c: what layers are made from. */
int supervisor_layers_start(struct supervisor *s, struct error *e) MUST_CHECK;
void supervisor_stop(struct supervisor *s);  /* cancel all, then end */
void supervisor_stale(struct supervisor *s); /* let a successor in */
void supervisor_lose(struct supervisor *s, const char *why); /* at once */
void supervisor_lose_launcher(struct supervisor *s); /* record, then end */
/* Messages on a descriptor that somebody else owns. */
struct supervisor_heard {
	uint16_t verb;
	struct fd_list fds; /* owned by whoever heard */
};
int supervisor_receive(struct supervisor *s, int fd,
    const struct wire_protocol *p, struct supervisor_heard *ret,
    struct error *e) MUST_CHECK;
int supervisor_send(struct supervisor *s, int fd,
    const struct channel_send *what, struct error *e) MUST_CHECK;

/* To the launcher; a launcher that is gone is noticed by the loop. */
void supervisor_tell_launcher(struct supervisor *s, uint16_t verb,
    const void *message, const struct fd_list *fds);

#endif
