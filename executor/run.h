/*
 * executor/run.h - one request to run code, from RUN to FINISHED.  Private to
 * the supervisor.
 *
 * Every run walks the stages of run_types.h in order, some are left out.  Which
 * message of whom means what in which stage is the table in run.c; a message
 * that is not in it ends its sender.
 */
#ifndef EXECUTOR_RUN_H
#define EXECUTOR_RUN_H

#include "executor/output.h"
#include "executor/result_text.h"
#include "executor/run_making.h"
#include "executor/run_types.h"
#include "executor/session.h"
#include "executor/supervisor.h"
#include "executor/tracer.h"
#include "executor/verdict.h"

struct run {
	struct run *next;
	struct supervisor *s;    /* borrowed */
	struct session *session; /* borrowed; NULL when the front left */
	enum run_stage stage;
	uint64_t request; /* the front's number */
	uint64_t number;  /* ours */
	char id[PROTOCOL_RUN_ID_MAX];
	uint64_t clock[CLOCK_N]; /* microseconds; 0: not reached */
	uint64_t due[DUE_N];     /* answers, as loop_now_us; 0: none */

	/* The request and its decision. */
	int code_fd, stdin_fd; /* owned; sealed */
	uint8_t *args;         /* owned */
	size_t args_len;
	struct run_input *inputs; /* owned */
	size_t n_inputs, n_opened;
	struct policy_decision decision;
	const struct toolchain
	    *toolchain;             /* borrowed; NULL: unknown language */
	struct event_intent intent; /* filled as facts come in */
	bool has_code_digest;
	struct sha256 hash; /* of what is being digested */
	uint64_t hash_at;
	int hash_part;
	/* Could not be judged: digest of the message, DENIAL_HAS_RAW. */
	bool has_raw;
	uint8_t raw_sha256[SHA256_BYTES];
	uint64_t raw_size;
	bool
	    is_nameless; /* its number could not be read: FAILED, not DECIDED */

	/* What is made before the program starts. */
	bool is_compiling; /* until it does */
	enum run_making making;
	struct run_made made[MAKING_N];
	uint64_t compile_limits[LIMIT_N];
	int product_fd; /* owned; sealed once it is whole */
	struct layer layers[RUN_LAYER_N];
	struct layer_making layer_making;
	char layer_file[COLLECT_NAME_MAX + 1]; /* that is being copied */

	/* At the launcher. */
	bool at_launcher; /* RUN was sent, RELEASED has not come */
	bool is_released; /* RELEASE was sent */
	bool holds_slot;
	bool started, stopped, dead;
	bool is_undead; /* killed, and it does not die */
	bool intent_stored, event_waits;
	bool is_unrecorded; /* its intent was refused: no outcome either */
	uint64_t intent_seq;
	uint8_t intent_leaf[SHA256_BYTES];
	struct run_handles handles;
	int program_stat_fd; /* owned; /proc/<pid>/stat where no group counts */
	uint32_t init_uid, program_uid;
	char cgroup[LAUNCH_PATH_MAX];
	struct posture posture;
	int out_fd, err_fd, helper_fd; /* owned: pipes, opener or collector */
	int helper_pid_fd; /* owned; -1 where the launcher started it */
	struct watch out_watch, err_watch, status_watch, events_watch,
	    init_watch, helper_watch;
	struct output out, err;
	uint64_t out_sent, err_sent;

	enum run_trace trace;
	struct tracer_finished traced; /* once it is RUN_TRACE_FINISHED */

	/* How it ended. */
	enum killer kill;
	struct run_failure failure;
	bool ended, init_wall, init_lost;
	uint32_t exit_kind, exit_value;
	uint64_t cpu_us, memory_peak, pids_peak, oom_kills, pids_hits;
	uint64_t next_sample_us, give_up_us;

	/* Its results. */
	int folder_fd; /* owned; in staging, later in results */
	bool has_folder;
	uint64_t code_copied;
	int code_copy_fd;          /* owned */
	uint64_t stdin_copied;     /* where the policy keeps it */
	int stdin_copy_fd;         /* owned */
	struct result_file *files; /* owned; artifacts first, then the rest */
	size_t n_files, files_max;
	int taken_fd; /* owned; the artifact being copied */
	uint64_t files_count, files_bytes, files_skipped;
	uint32_t skipped_why;           /* bits, as in collect_done */
	struct result_skipped *skipped; /* owned; the first of them, by name */
	size_t n_skipped;
	struct event_outcome *outcome; /* owned */
	uint64_t outcome_seq;
	uint8_t outcome_leaf[SHA256_BYTES];
	bool is_published;
};

#endif
