/*
 * mcp/args.h - the arguments of a tool: a table of rows says which there are,
 * what they hold and what a schema says of them; one function reads them.
 *
 * As lenient as the peer's server where clients rely on it: null is "not
 * given", a number may be a string of digits, a list a string of JSON.  Strict
 * otherwise: an unknown name, a wrong type or a number out of range is an
 * error that names the argument.
 */
#ifndef MCP_ARGS_H
#define MCP_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "executor/protocol.h"

enum argument_kind {
	ARGUMENT_TEXT,   /* struct args_text */
	ARGUMENT_WORD,   /* the same, without NUL */
	ARGUMENT_NUMBER, /* uint64_t */
	ARGUMENT_FLAG,   /* bool */
	ARGUMENT_NAMES,  /* struct args_names */
	ARGUMENT_FILES,  /* struct args_files */
	ARGUMENT_RUN_ID, /* struct args_text: "r_" and 32 hex digits */
};

struct argument {
	const char *name;
	enum argument_kind kind;
	size_t offset; /* into struct args */
	bool required;
	uint64_t min, max;  /* of a number; 'max' bytes of a text */
	const char *schema; /* JSON members behind its type */
};

/* Bytes of the client, which may hold NUL; a NUL stands behind. */
struct args_text {
	char *data; /* owned; NULL: not given */
	size_t len;
};

#define ARGS_NAMES_MAX 64
struct args_names {
	size_t n;
	struct args_text items[ARGS_NAMES_MAX];
};

struct args_file {
	struct args_text path, content; /* content as bytes, decoded */
};
struct args_files {
	size_t n;
	struct args_file items[PROTOCOL_INPUTS_MAX];
};

/* Of any tool; what was not given is zero. */
struct args {
	struct args_text code, language, input, run_id, path;
	struct args_names libraries;
	struct args_files files;
	uint64_t timeout_s, wait_s, offset, limit;
	bool background;
};

/*
 * Read the object at 'node' (SCAN_NONE: no arguments) into *ret, which the
 * caller zeroed and gives to args_done, also after a failure.
 */
struct args_table {
	const struct argument *rows;
	size_t n;
};
int args_read(const struct scan *s, uint32_t node,
    const struct args_table *table, struct args *ret,
    struct error *e) MUST_CHECK;
void args_done(struct args *a);

#endif
