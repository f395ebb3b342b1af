/*
 * executor/run_types.h - the words of a run: its stages, clocks, failures and
 * the messages that move it.  Private to the supervisor.
 */
#ifndef EXECUTOR_RUN_TYPES_H
#define EXECUTOR_RUN_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"
#include "base/channel.h"
#include "base/sha256.h"
#include "executor/launch.h"
#include "executor/protocol.h"
#include "executor/result_inputs.h"

union incoming;

enum run_stage {
	RUN_DIGESTING, /* code and stdin are hashed, in steps */
	RUN_SCREENING, /* the screen looks at the code, or will */
	RUN_QUEUED,    /* allowed so far; waits for a slot */
	RUN_OPENING,   /* the opener fetches host files, one by one */
	RUN_DENYING,   /* denial sent, not yet durable */
	RUN_STARTING, /* intent sent, sandbox being built: exec waits for both */
	RUN_RUNNING,  /* the gate is open */
	RUN_ENDING,   /* killed or ended; its cgroup is not empty yet */
	RUN_TRACING,  /* all is dead; the tracer writes its last line */
	RUN_COLLECTING, /* the collector walks the scratch */
	RUN_STORING,    /* the result folder is being written, in steps */
	RUN_RECORDING,  /* outcome sent, not yet durable */
	RUN_SENDING,    /* over; the client has not got everything */
	RUN_OVER,       /* to be freed */
	RUN_STAGE_N,
};

enum run_clock {
	CLOCK_RECEIVED,
	CLOCK_DECIDED,
	CLOCK_SENT,     /* intent and launch on their way */
	CLOCK_INTENT,   /* intent durable */
	CLOCK_STOPPED,  /* sandbox built, posture proven */
	CLOCK_RELEASED, /* gate open */
	CLOCK_ENDED,    /* program ended, or we killed it */
	CLOCK_DEAD,     /* cgroup empty */
	CLOCK_COLLECTED,
	CLOCK_COMPILING, /* of compiled languages: RELEASED of the compiler */
	CLOCK_COMPILED,  /* and DEAD */
	CLOCK_STORED,    /* folder whole */
	CLOCK_OUTCOME,   /* outcome durable */
	CLOCK_N,
};

/* Whose answer is due when: run_patience.c. */
enum run_due {
	DUE_LAUNCHER, /* STARTED, later RELEASED */
	DUE_INIT,     /* STOPPED */
	DUE_DEATH,    /* populated 0 */
	DUE_SIGNER,
	DUE_TRACER, /* WATCHING, FINISHED */
	DUE_HELPER, /* opener or collector */
	DUE_N,
};

/* What STARTED brought, by enum launch_started_fd; -1 when not there. */
struct run_handles {
	int fd[LAUNCH_FD_STARTED_N]; /* owned */
};

/* A step of ours that failed: what the client and the record are told. */
struct run_failure {
	bool is_set;
	enum phase phase;
	int saved_errno;
	char step[LAUNCH_STEP_MAX];
	char text[ERROR_TEXT_MAX];
	char remedy[LAUNCH_REMEDY_MAX];
};

struct run_input {
	int fd; /* owned; sealed; -1 until opened */
	char host[PROTOCOL_PATH_MAX];
	struct result_input is; /* what the record says of it */
};

/* Who said it: the first column of the table. */
enum run_role {
	ROLE_SIGNER,
	ROLE_LAUNCHER,
	ROLE_STATUS, /* pid 1 of the run */
	ROLE_OPENER,
	ROLE_COLLECTOR,
	ROLE_TRACER,
	ROLE_SCREEN,
};

struct run_message {
	enum run_role from;
	uint16_t verb;
	const union incoming *in; /* borrowed */
	struct fd_list *fds;      /* borrowed; the act takes what it needs */
};

#endif
