/*
 * policy/shape.h - what the value of a policy's key may be, said once: the
 * parser takes its ranges and words from here, and the published JSON Schema is
 * printed from here (schema.c).  Private to policy/.
 *
 * A shape accepts a superset of what the parser does: it knows one value at a
 * time.  What no schema can say is listed in man/bailiff-policy.5.
 */
#ifndef POLICY_SHAPE_H
#define POLICY_SHAPE_H

#include "base/number.h"
#include "policy/reader.h"

enum shape_kind {
	SHAPE_OBJECT,  /* by 'keys'; NULL: no key at all */
	SHAPE_LIMITS,  /* an object of the names in limit_table */
	SHAPE_AMOUNTS, /* an object of those of a compiler, an amount each */
	SHAPE_MAP,     /* an object: names of 'pattern', each an 'item' */
	SHAPE_LIST,    /* 'range' items of 'item', each once */
	SHAPE_TEXT,    /* 'range' characters of 'pattern' */
	SHAPE_NUMBER,  /* digits in 'range' */
	SHAPE_WORD, /* the first 'n_built' of 'words'; the rest is for later */
	SHAPE_CALL, /* a system call that a policy can allow */
	SHAPE_BOOL,
	SHAPE_FALSE, /* true is for later */
	SHAPE_NEVER, /* the key itself is for later */
};

struct shape {
	enum shape_kind kind;
	const char *about; /* a sentence, for editors */
	const char *group; /* printed once, under this name; or NULL */
	const struct reader_keys *keys;
	const struct shape *item;
	const char *pattern; /* ECMA-262, the whole text */
	struct number_range range;
	const struct reader_names *words;
	size_t n_built;
	const struct shape *instead; /* or this one instead; NULL */
};

/* Of keys that stand in more than one table, or whose parser is elsewhere. */
extern const struct shape shape_version;
extern const struct shape shape_name;
extern const struct shape shape_limits;
extern const struct shape shape_capabilities;
extern const struct shape shape_languages;
extern const struct shape shape_language; /* one of them */
extern const struct shape shape_modules;
extern const struct shape shape_denied;
extern const struct shape shape_only_modules;
extern const struct shape shape_libraries;
extern const struct shape shape_library_names;
extern const struct shape shape_library_from;
extern const struct shape shape_rules;
extern const struct shape shape_rule_id;
extern const struct shape shape_pattern;
extern const struct shape shape_imported;
extern const struct shape shape_place; /* "code", or a list of such */
extern const struct shape shape_places;
extern const struct shape shape_action;
extern const struct shape shape_compile_limits;
/* Capabilities. */
extern const struct shape shape_subprocess;
extern const struct shape shape_threads;
extern const struct shape shape_loopback;
extern const struct shape shape_network_capability;
extern const struct shape shape_exec_memory;
extern const struct shape shape_ipc;
extern const struct shape shape_syscalls;
extern const struct shape shape_syscalls_list;
extern const struct shape shape_only;
/* Sections of a policy and what is in them. */
extern const struct shape shape_artifacts;
extern const struct shape shape_paths;
extern const struct shape shape_read_roots;
extern const struct shape shape_export_roots;
extern const struct shape shape_network;
extern const struct shape shape_network_allow;
extern const struct shape shape_trace;
extern const struct shape shape_trace_file;
extern const struct shape shape_audit;
extern const struct shape shape_durability;
extern const struct shape shape_results;
extern const struct shape shape_keep_days;
extern const struct shape shape_max_bytes;
extern const struct shape shape_tick;
extern const struct shape shape_access;
extern const struct shape shape_args;
extern const struct shape shape_env;
extern const struct shape shape_stdin;
extern const struct shape shape_retention;
extern const struct shape shape_concurrency;
extern const struct shape shape_runs;
extern const struct shape shape_queue;
extern const struct shape shape_per_principal;
extern const struct shape shape_landlock;
extern const struct shape shape_min_abi;
extern const struct shape shape_service;
extern const struct shape shape_linger;
extern const struct shape shape_degraded;
extern const struct shape shape_extends;
extern const struct shape shape_rootfs;

#endif
