/*
 * executor/trace/record.h - what the programs in the kernel (trace.bpf.c) hand
 * to bailiff-tracer: events in a ring, counters in memory that both see.
 * Compiled for both sides; every member has a fixed size and place.
 *
 * What stands in an event is the kernel's word but for the strings, which are
 * hostile bytes: 'given' is what the program passed, read when it called and
 * perhaps changed since; 'truth' is what the kernel made of it.
 */
#ifndef EXECUTOR_TRACE_RECORD_H
#define EXECUTOR_TRACE_RECORD_H

#include <linux/types.h>

/* System call numbers; the last stands for all from there on. */
#define TRACE_CALLS     512
#define TRACE_SLOTS_MAX 64
#define TRACE_ARGS      6

/* Where the strings lie behind an event's head, and how long they may be. */
#define TRACE_GIVEN_MAX 256
#define TRACE_TRUTH_AT  256
#define TRACE_TRUTH_MAX 768
#define TRACE_ARGV_AT   1024
#define TRACE_ARGV_MAX  4096
#define TRACE_DATA_MAX  (TRACE_ARGV_AT + TRACE_ARGV_MAX)

/* Events of one run; from there on calls are counted only. */
#define TRACE_EVENTS_MAX 200000
/* Denials of one call that are told one by one; all are counted. */
#define TRACE_DENIALS_MAX 64
/* Kinds of (call, errno) that one run may have. */
#define TRACE_ERRORS_MAX 1024

/* Whose call it was. */
enum trace_plane {
	TRACE_SETUP,   /* ours: pid 1, and the program before its exec */
	TRACE_PROGRAM, /* the program and what it started */
	TRACE_FOREIGN, /* by the gate of another architecture; other numbers */
	TRACE_PLANES
};

enum trace_type {
	TRACE_EXEC = 1, /* a program was executed; given, truth: path; argv */
	TRACE_CALL,     /* a call that came back */
	TRACE_FORK,     /* ret: the new task's id, args[0]: its process */
	TRACE_EXIT,     /* ret: status as of wait(2); nr: call not come back */
	TRACE_DENIED,   /* the filter answered a call: ret is its answer */
	TRACE_KILLED,   /* the filter killed the task in call 'nr' */
	TRACE_SIGNAL, /* nr: the signal, args[0]: to which task, args[1]: code */
	TRACE_TYPES
};

#define TRACE_LATE_STRING 1u /* 'given' was read when the call came back */
#define TRACE_NO_STRING   2u /* 'given' could not be read */
#define TRACE_CUT_GIVEN   4u
#define TRACE_CUT_TRUTH   8u
#define TRACE_CUT_ARGV    16u
#define TRACE_IS_ADDRESS  32u /* 'given' is a sockaddr, 'truth' trace_address */

struct trace_record {
	__u32 len; /* of the whole, a multiple of 8 */
	__u16 type;
	__u16 flags;
	__u64 seq;      /* from 0, without a gap unless an event was lost */
	__u64 at_ns;    /* CLOCK_BOOTTIME */
	__u32 pid, tid; /* in the initial namespace */
	__s32 nr;
	__u32 plane;
	__s64 ret;
	__u64 args[TRACE_ARGS];
	__u16 given_len, truth_len, argv_len, unused;
	__u64 argv_size; /* of which argv_len bytes came along */
};

/* The peer of a connected socket, or what one is bound to. */
struct trace_address {
	__u16 family;
	__u16 port; /* big-endian as on the wire */
	__u8 address[16];
	__u32 unused;
};

struct trace_count {
	__u64 enter;  /* calls that began */
	__u64 ok;     /* came back */
	__u64 error;  /* came back with an error number */
	__u64 denied; /* never began: the filter answered */
};

struct trace_counts {
	struct trace_count call[TRACE_PLANES][TRACE_CALLS];
};

/* What is needed to know that nothing is missing. */
struct trace_books {
	__u64
	    generation; /* of the slot: what an earlier run left is not seen */
	__u64 seq;
	__u64 emitted[TRACE_TYPES];
	__u64 lost[TRACE_TYPES];
	__u64 capped;     /* beyond TRACE_EVENTS_MAX */
	__u64 repeats;    /* denials beyond TRACE_DENIALS_MAX */
	__u64 stateless;  /* a task that no state could be kept for */
	__u64 unkept;     /* error numbers that were not kept */
	__u64 unfinished; /* tasks that ended in a call */
	__u64 joined;     /* tasks met in the middle of a call */
	__u64 born;       /* first returns of new tasks, which began no call */
	__u64 restarts;   /* calls that the kernel makes anew after a signal */
	__u64 strange;    /* came back from another call than it began */
	__u64 errors;     /* kinds of errors so far */
};

struct trace_run {
	__u32 slot;
	__u32 generation;
};

struct trace_error {
	__u16 slot, plane, nr, number;
};

/* What is done about a call, by its number. */
#define TRACE_DO_PATH     7u   /* 1 + which argument is a path; 0: none */
#define TRACE_DO_EVENT    8u   /* tell it */
#define TRACE_DO_ADDRESS  16u  /* arguments 1 and 2 are a sockaddr */
#define TRACE_DO_CODE     32u  /* only with PROT_EXEC in argument 2 */
#define TRACE_DO_OPEN     64u  /* it returns a descriptor: look what it is */
#define TRACE_DO_LOCAL    128u /* truth is the own address, not the peer's */
#define TRACE_DO_TO       256u /* the sockaddr is in arguments 4 and 5 */

#define TRACE_TASK_IDLE   0u
#define TRACE_TASK_CALL   1u
#define TRACE_TASK_NEW    2u /* made by a task that we know */
#define TRACE_TASK_JOINED 3u /* made before we knew its group */

struct trace_task {
	__u32 slot, generation;
	__s32 nr;
	__u32 in;
	__u32 plane, call_plane;
	__u32 todo, given_len;
	__u64 args[TRACE_ARGS];
	__u8 given[TRACE_GIVEN_MAX];
};

#endif
