/*
 * executor/protocol.h - what a front (bailiff run, bailiff-mcp) and a
 * supervisor say to each other.  The only header of executor/ that a front
 * includes.  Messages of base/wire over one SOCK_SEQPACKET channel.
 *
 * The front sends HELLO first and waits for WELCOME, STALE or FAILED.  Then
 * any number of requests, each with a 'request' number of its choice that
 * every answer carries:
 *   RUN     -> DECIDED, then if allowed OUTPUT..., FINISHED
 *   CANCEL     of a request: its run is killed; FINISHED follows
 *   LIST    -> ENTRY..., LISTED       names of a result folder
 *   OPEN    -> OPENED with one read-only descriptor
 *   DESCRIBE -> LANGUAGE..., DESCRIBED with the effective policy's text
 *   REFUSE  -> DECIDED: a request that the front could not decode is denied
 *              and recorded; like a RUN that cannot be decoded, not often
 *   REDACT  -> REDACTED: what opens the commitments of these runs is erased
 *   STOP    -> STOPPED, then end of file
 * Whatever cannot be done is answered by FAILED.  A front that closes the
 * channel cancels its runs.
 */
#ifndef EXECUTOR_PROTOCOL_H
#define EXECUTOR_PROTOCOL_H

#include <stdint.h>

#include "base/wire.h"

#define PROTOCOL_VERSION         6
#define PROTOCOL_WORD_MAX        80
#define PROTOCOL_WORDS_MAX       64
#define PROTOCOL_PATH_MAX        4096
#define PROTOCOL_NAME_MAX        256 /* an input's name in /sandbox, with NUL */
#define PROTOCOL_ARGS_MAX        65536
#define PROTOCOL_LIBRARY_MAX     128 /* "NAME==VERSION" with its NUL */
#define PROTOCOL_LIBRARIES_MAX   16  /* of one RUN */
#define PROTOCOL_INPUTS_MAX      8   /* of all kinds, of one RUN */
#define PROTOCOL_LIMITS_MAX      32
#define PROTOCOL_CLAIM_MAX       257
#define PROTOCOL_OUTPUT_MAX      32768
#define PROTOCOL_INSTALLED_MAX   16384
#define PROTOCOL_RUN_ID_MAX      35  /* "r_", 32 hex digits, NUL */
#define PROTOCOL_RESULT_NAME_MAX 512 /* percent-encoded, with NUL */

enum protocol_verb {
	PROTOCOL_HELLO = 1,
	PROTOCOL_RUN,
	PROTOCOL_CANCEL,
	PROTOCOL_LIST,
	PROTOCOL_OPEN,
	PROTOCOL_STOP,
	PROTOCOL_DESCRIBE,
	PROTOCOL_REFUSE,
	PROTOCOL_REDACT,
};

enum protocol_reply_verb {
	PROTOCOL_WELCOME = 1,
	PROTOCOL_STALE,
	PROTOCOL_FAILED,
	PROTOCOL_DECIDED,
	PROTOCOL_OUTPUT,
	PROTOCOL_FINISHED,
	PROTOCOL_ENTRY,
	PROTOCOL_LISTED,
	PROTOCOL_OPENED,
	PROTOCOL_STOPPED,
	PROTOCOL_LANGUAGE,
	PROTOCOL_DESCRIBED,
	PROTOCOL_REDACTED,
};

struct protocol_hello {
	uint32_t version;
	/* 1: take the service as it is (system socket, stop) */
	uint32_t any_policy;
	uint8_t policy_file[32]; /* SHA-256 of the policy file's bytes */
};

struct protocol_limit {
	char name[PROTOCOL_WORD_MAX]; /* "wall_ms", "memory": policy/limits.h */
	uint64_t value;
};

enum protocol_input_kind {
	PROTOCOL_INPUT_FILE = 1, /* a copy of a host file; the policy decides */
	PROTOCOL_INPUT_INLINE,   /* its bytes come as a descriptor */
	PROTOCOL_INPUT_DIRECTORY, /* a host directory, live and read-only */
};

struct protocol_input {
	/* absolute; the front joins its own cwd; "" if inline */
	char host[PROTOCOL_PATH_MAX];
	char name[PROTOCOL_NAME_MAX];
	uint32_t kind; /* enum protocol_input_kind */
};

/*
 * Descriptors: code, stdin, then one for each inline input, in their order;
 * all sealed memory files.
 */
#define PROTOCOL_RUN_FDS 2

struct protocol_library {
	char text[PROTOCOL_LIBRARY_MAX]; /* "NAME" or "NAME==VERSION" */
};

struct protocol_run {
	uint64_t request;
	char language[PROTOCOL_WORD_MAX];
	WIRE_LIST_OF(struct protocol_limit, PROTOCOL_LIMITS_MAX) limits;
	WIRE_BLOB_OF(PROTOCOL_ARGS_MAX) args; /* each argument and a NUL */
	WIRE_LIST_OF(struct protocol_input, PROTOCOL_INPUTS_MAX) inputs;
	/* Claims: percent-encoded, "" if none. */
	char client[PROTOCOL_CLAIM_MAX];
	char client_version[PROTOCOL_CLAIM_MAX];
	char client_request[PROTOCOL_CLAIM_MAX];
	char traceparent[PROTOCOL_CLAIM_MAX];
	char label[PROTOCOL_CLAIM_MAX];
	WIRE_LIST_OF(struct protocol_library, PROTOCOL_LIBRARIES_MAX) libraries;
};

struct protocol_cancel {
	uint64_t request;
};

/* run_id is "r_" and 32 hex digits; name is as LIST gave it. */
struct protocol_open {
	uint64_t request;
	char run_id[PROTOCOL_RUN_ID_MAX];
	char name[PROTOCOL_RESULT_NAME_MAX]; /* "" in LIST */
	uint32_t purpose;                    /* enum protocol_purpose */
};

/* Is it the reply of a run that was asked for over this channel?  Then nobody
 * reads, whatever the policy wants to know about readers. */
enum protocol_purpose {
	PROTOCOL_READ,
	PROTOCOL_OWN
};

#define PROTOCOL_REDACT_MAX 64
struct protocol_run_id {
	char text[PROTOCOL_RUN_ID_MAX];
};
struct protocol_redact {
	uint64_t request;
	uint32_t results; /* 1: their result folders go too */
	WIRE_LIST_OF(struct protocol_run_id, PROTOCOL_REDACT_MAX) runs;
};

struct protocol_stop {
	uint64_t request;
};

struct protocol_describe {
	uint64_t request;
};

/* A request of a client that never became a RUN; claims as there. */
struct protocol_refuse {
	uint64_t request;
	uint8_t raw_sha256[32]; /* of its bytes, as the client sent them */
	uint64_t raw_size;
	char client[PROTOCOL_CLAIM_MAX];
	char client_version[PROTOCOL_CLAIM_MAX];
	char client_request[PROTOCOL_CLAIM_MAX];
	char traceparent[PROTOCOL_CLAIM_MAX];
	uint64_t unsaid; /* further ones since the last that the front kept */
};

struct protocol_welcome {
	uint32_t version;
	char instance[40]; /* 32 hex digits */
	char policy_name[PROTOCOL_WORD_MAX];
};

/* Why: one line, what, where, why, what to do about it. */
struct protocol_failed {
	uint64_t request; /* 0: the channel itself */
	uint32_t kind;    /* enum error_kind */
	char text[ERROR_TEXT_MAX];
};

struct protocol_word {
	char text[PROTOCOL_WORD_MAX];
};

struct protocol_decided {
	uint64_t request;
	char run_id[PROTOCOL_RUN_ID_MAX];
	uint32_t allow;
	WIRE_LIST_OF(struct protocol_word, PROTOCOL_WORDS_MAX) rules;
	WIRE_LIST_OF(struct protocol_word, PROTOCOL_WORDS_MAX) reasons;
	uint64_t seq; /* of the intent or denial, durable */
	uint8_t leaf[32];
	char log_path[PROTOCOL_PATH_MAX]; /* where the log lies */
};

enum protocol_stream {
	PROTOCOL_STDOUT = 1,
	PROTOCOL_STDERR = 2
};

/* The head of a stream, in order, as it comes; nothing beyond its limit. */
struct protocol_output {
	uint64_t request;
	uint32_t stream;
	WIRE_BLOB_OF(PROTOCOL_OUTPUT_MAX) data;
};

struct protocol_stream_end {
	uint64_t size;      /* bytes of the head, all of them sent as OUTPUT */
	uint64_t total;     /* bytes that the program produced */
	uint8_t sha256[32]; /* of the head */
};

struct protocol_step {
	char name[PROTOCOL_WORD_MAX];
	uint64_t us;
};

struct protocol_finished {
	uint64_t request;
	char run_id[PROTOCOL_RUN_ID_MAX];
	char status[PROTOCOL_WORD_MAX];
	char phase[PROTOCOL_WORD_MAX];
	char killed_by[PROTOCOL_WORD_MAX]; /* "" if nothing killed it */
	uint32_t exit_kind;                /* 0 none, 1 code, 2 signal */
	uint32_t exit_value;
	char step[PROTOCOL_WORD_MAX]; /* a failed step of ours, else "" */
	uint32_t step_errno;
	char remedy[256]; /* what to do about a failed step, else "" */
	struct protocol_stream_end out, err;
	uint64_t files_count, files_bytes;
	uint64_t cpu_us, wall_us;
	uint64_t memory_peak, pids_peak; /* 0: nobody counted */
	WIRE_LIST_OF(struct protocol_step, 16) timing;
	WIRE_LIST_OF(struct protocol_word, 16) degraded;
	uint64_t seq; /* of the outcome, durable */
	uint8_t leaf[32];
	char folder[PROTOCOL_PATH_MAX]; /* of the results; "" if none */
	uint64_t files_skipped; /* that it left and that were not kept */
};

struct protocol_entry {
	uint64_t request;
	char name[PROTOCOL_RESULT_NAME_MAX];
	uint64_t size;
	uint8_t sha256[32]; /* as MANIFEST has it; zero beside MANIFEST */
	/* Of what the program left, by content; "" if nobody looked. */
	char type[PROTOCOL_WORD_MAX]; /* a media type */
	uint32_t width, height;       /* of a picture; 0: not known */
	uint32_t is_plot;             /* 1: a figure that it showed */
};

struct protocol_listed {
	uint64_t request;
	uint64_t count;
};

struct protocol_opened {
	uint64_t request;
	uint64_t size;
};

struct protocol_stopped {
	uint64_t request;
	uint64_t cancelled; /* runs that were still going */
};

struct protocol_bound {
	char name[PROTOCOL_WORD_MAX]; /* policy/limits.h */
	uint64_t value; /* unless a request asks; UINT64_MAX: unlimited */
	uint64_t max;
};

/* A language that the policy allows. */
struct protocol_language {
	uint64_t request;
	char name[PROTOCOL_WORD_MAX];
	char package[PROTOCOL_WORD_MAX]; /* Debian's, which brings it */
	uint32_t missing;                /* 1: it is not on this host */
	WIRE_LIST_OF(struct protocol_word, 8) aliases;
	WIRE_LIST_OF(struct protocol_word, 8) capabilities; /* granted */
	WIRE_LIST_OF(struct protocol_word, PROTOCOL_WORDS_MAX) denied_modules;
	WIRE_LIST_OF(struct protocol_bound, PROTOCOL_LIMITS_MAX) limits;
	char version[PROTOCOL_WORD_MAX]; /* "" if nobody knows */
	/* Libraries that the host's packages bring: "NAME VERSION\n" each, by
	 * name; 'more' did not fit. */
	WIRE_BLOB_OF(PROTOCOL_INSTALLED_MAX) installed;
	uint64_t installed_more;
};

/* With one descriptor: the effective policy, a sealed memory file of JSON. */
struct protocol_described {
	uint64_t request;
	char name[PROTOCOL_WORD_MAX]; /* of the policy */
	uint64_t size;                /* of the text */
	uint8_t sha256[32];   /* of the text; the policy of every record */
	uint64_t runs, queue; /* at once, and waiting beside them */
};

struct protocol_redacted {
	uint64_t request;
	uint64_t seq; /* of the record */
};

extern const struct wire_protocol protocol;       /* front to supervisor */
extern const struct wire_protocol protocol_reply; /* supervisor to front */

#endif
