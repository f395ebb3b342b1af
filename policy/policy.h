/*
 * policy/policy.h - a policy as data, and the decision about one request.
 *
 * Everything here is pure: no system call, no clock, no global.  The caller
 * gives text and gets a struct; it gives the struct and a request and gets a
 * decision.  What the policy names on the host (roots, interpreters) is only
 * text here; the executor resolves it once at start.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"
#include "policy/callset.h"
#include "policy/glob.h"
#include "policy/limits.h"

#define POLICY_TEXT_MAX       1048576 /* bytes of a policy or language file */
#define POLICY_NAME_MAX       64
#define POLICY_PATH_MAX       4096
#define POLICY_ROOTS_MAX      32
#define POLICY_LANGUAGES_MAX  16
#define POLICY_ARGV_MAX       16
#define POLICY_ENV_MAX        32
#define POLICY_WORD_MAX       80 /* a rule id with its NUL */
#define POLICY_WORDS_MAX      64
#define POLICY_INPUTS_MAX     64
#define POLICY_ERRORS_MAX     32
#define POLICY_ETC_MAX        16
#define POLICY_ALIASES_MAX    8
#define POLICY_DENIED_MAX     64 /* modules of one language */
#define POLICY_ONLY_MAX       512
#define POLICY_ANSWERS_MAX    32
#define POLICY_RULES_MAX      48 /* code rules of one language */
#define POLICY_PATTERN_MAX    512
#define POLICY_PLOT_FILES_MAX 8 /* of one language */
#define POLICY_PLOT_ENV_MAX   8
#define POLICY_ARTIFACTS_MAX  16
#define POLICY_LAYER_ENV_MAX  8
#define POLICY_LIBRARIES_MAX  64 /* that a policy allows of one language */
#define POLICY_ASKED_MAX      16 /* that one request may ask for */

/* What a program may do beyond computing; false means refused by the filter. */
struct capabilities {
	bool subprocess; /* fork and exec; false still allows threads */
	bool threads;
	bool loopback;    /* inet sockets inside its own empty net namespace */
	bool network;     /* not built yet: true is refused by name */
	bool exec_memory; /* mmap and mprotect with PROT_EXEC of new memory */
	bool ipc;         /* System V and POSIX queues, inside its namespaces */
	struct callset
	    only; /* of the calls that these give; policy/callset.h */
};

/* A module that is part of the interpreter, and what stops what it does. */
struct module_answer {
	char module[POLICY_NAME_MAX];
	size_t capability; /* index as in struct capabilities */
};

/* How modules of a language are found; n_directories 0: it has none. */
struct language_modules {
	char directories[16][256]; /* glob patterns, absolute */
	size_t n_directories;
	/* Glob patterns beneath each directory; "{name}" is the module. */
	char files[16][64];
	size_t n_files;
	/* Modules compiled into these programs and libraries (glob patterns) are
	 * symbols there whose names begin with 'mark'. */
	char interpreters[8][256];
	size_t n_interpreters;
	char mark[POLICY_NAME_MAX];
	char inside[64][POLICY_NAME_MAX]; /* inside without a symbol */
	size_t n_inside;
	struct module_answer answers[POLICY_ANSWERS_MAX]; /* sorted */
	size_t n_answers;
};

/*
 * Debian's packages that say what is installed: names with at most one '*'.
 * Only told, never decided by, so no part of the effective policy.
 */
struct language_packages {
	char version[POLICY_NAME_MAX]; /* its '*' is a number; "": 'package' */
	char libraries[4][POLICY_NAME_MAX]; /* the '*' is the library's name */
	size_t n_libraries;
};

/* Files that a run of our own text makes, and that later runs see read-only. */
struct language_layer {
	char argv[POLICY_ARGV_MAX][256];
	size_t n_argv;    /* 0: the language has none */
	char code[12288]; /* the text, in the place of a request's code */
	/* NAME=VALUE on top of the language's: while it is made, and of runs
	 * that have it. */
	char making[POLICY_LAYER_ENV_MAX][256];
	size_t n_making;
	char env[POLICY_LAYER_ENV_MAX][256];
	size_t n_env;
};

/* How libraries are installed from files; their names follow 'argv'. */
struct language_installer {
	struct language_layer layer;
	char files[256]; /* regex(7) of a file name: (NAME) and (VERSION) */
	bool folds;      /* names as of PEP 503, else as they are */
};

/* policy/libraries.h */
struct library {
	char name[POLICY_NAME_MAX];
	char version[POLICY_NAME_MAX]; /* "": any */
};

/* A language data file, parsed: how programs of this language start. */
struct language {
	char name[POLICY_NAME_MAX];
	char aliases[POLICY_ALIASES_MAX][POLICY_NAME_MAX];
	size_t n_aliases;
	char source[POLICY_NAME_MAX];    /* "main.py", in /sandbox */
	char package[POLICY_NAME_MAX];   /* Debian package of the toolchain */
	char program[POLICY_PATH_MAX];   /* "/usr/bin/python3" */
	char argv[POLICY_ARGV_MAX][256]; /* of the run step, argv[0] included */
	size_t n_argv;
	/* Compiled languages: 'program' with these words makes 'product', a file
	 * of /sandbox, and that is what the run step executes. */
	char compile[POLICY_ARGV_MAX][256];
	size_t n_compile; /* 0: nothing is compiled */
	char product[POLICY_NAME_MAX];
	char env[POLICY_ENV_MAX][256]; /* NAME=VALUE, sorted by byte */
	size_t n_env;
	char probe[POLICY_ARGV_MAX][256]; /* prints the version */
	size_t n_probe;
	/* Files beneath /etc that its runtime needs ("ld.so.cache"); one that is
	 * missing on the host is left out, and a symbolic link stays a link. */
	char etc[POLICY_ETC_MAX][256];
	size_t n_etc;
	struct capabilities needs; /* what its runtime cannot start without */
	/* Plot capture (policy/environment.h): files of ours that every run finds in
	 * LANGUAGE_PLACE/<name>, and what leads its runtime to them. */
	char plot_files[POLICY_PLOT_FILES_MAX][POLICY_NAME_MAX];
	size_t n_plot_files;
	char plot_env[POLICY_PLOT_ENV_MAX][256]; /* as 'env'; no name twice */
	size_t n_plot_env;
	struct language_modules modules;
	struct language_packages packages;
	struct language_installer installer;
};

struct limit {
	uint64_t value; /* used when a request does not ask */
	uint64_t max;   /* what a request may ask for */
};

/* Where a code rule looks; see policy/lexer.h for what is what. */
enum code_place {
	CODE_IN_CODE = 1,
	CODE_IN_STRINGS = 2,
	CODE_IN_COMMENTS = 4,
	CODE_ANYWHERE = 7,
};

enum code_action {
	CODE_DENY,
	CODE_FLAG, /* allowed, and said in the decision */
};

/* What bailiff-screen looks for in the code of a request. */
struct code_rule {
	char id[POLICY_NAME_MAX];
	bool is_module; /* 'text' names a module, else it is a pattern */
	char text[POLICY_PATTERN_MAX];
	uint32_t places; /* enum code_place; of a pattern */
	enum code_action action;
	uint32_t line, column; /* of 'text' in the policy file */
};

/* What bounds the compiler of a compiled language; no request asks for it. */
struct compile_limits {
	bool is_said[LIMIT_N];
	uint64_t value[LIMIT_N]; /* unless said, the most of that limit */
};

/* One language that the policy allows, with the policy's view of it. */
struct policy_language {
	struct language language;
	struct capabilities capabilities;
	struct limit limits[LIMIT_N];
	struct compile_limits compile;
	char denied[POLICY_DENIED_MAX][POLICY_NAME_MAX]; /* modules; sorted */
	size_t n_denied;
	/* Of modules in files only these are there; sorted. */
	bool has_only;
	char only[POLICY_ONLY_MAX][POLICY_NAME_MAX];
	size_t n_only;
	struct library libraries[POLICY_LIBRARIES_MAX]; /* sorted */
	size_t n_libraries;
	char libraries_from[POLICY_PATH_MAX]; /* a directory of the host */
	struct code_rule *rules; /* owned; in the order of the file */
	size_t n_rules;
};

struct policy_root {
	char path[POLICY_PATH_MAX]; /* absolute, clean, no trailing slash */
};

enum trace_mode {
	TRACE_OFF,
	TRACE_BEST_EFFORT,
	TRACE_REQUIRED
};
enum durability {
	DURABILITY_FULL,
	DURABILITY_RELAXED,
	DURABILITY_NONE
};

#define POLICY_UNLIMITED UINT32_MAX

/* What the log says of arguments, environment and standard input. */
enum policy_content {
	CONTENT_COMMIT, /* a commitment, which only who has the salt can open */
	CONTENT_OMIT,   /* their number or size */
	CONTENT_STORE,  /* a commitment; the bytes lie with the results */
};

struct policy_audit {
	uint32_t keep_days; /* results; POLICY_UNLIMITED: for ever */
	uint64_t max_bytes; /* results together; UINT64_MAX: any */
	uint32_t tick_s;    /* idle services say so this often; 0: never */
	bool access;        /* who reads results is recorded */
	enum policy_content args, env, standard_input;
};

struct policy {
	char name[POLICY_NAME_MAX];
	struct policy_language languages[POLICY_LANGUAGES_MAX];
	size_t n_languages;
	struct policy_root read_roots[POLICY_ROOTS_MAX];
	size_t n_read_roots;
	/* Which files of /sandbox are kept, beside plots; sorted.  "**": all. */
	char artifacts[POLICY_ARTIFACTS_MAX][GLOB_MAX];
	size_t n_artifacts;
	enum trace_mode trace;
	bool trace_is_said; /* or it is the default: policy/tracing.h */
	bool trace_packed;  /* the file is gzip */
	enum durability durability;
	struct policy_audit audit;
	uint32_t landlock_min_abi;
	uint32_t runs_at_once; /* 0: twice the processors, at most 64 */
	uint32_t queue;
	/* Requests of one principal other than root that run or wait; 0: half
	 * of what runs and waits in all; POLICY_UNLIMITED: no such limit. */
	uint32_t per_principal;
	uint32_t linger_s;
	bool accept_degraded; /* preset "user" */
	/* The effective policy: canonical text with every default filled in,
	 * languages included.  Digested, recorded and kept. */
	char *effective;
	size_t effective_len;
	uint8_t sha256[SHA256_BYTES];      /* of 'effective' */
	uint8_t file_sha256[SHA256_BYTES]; /* of the policy file's bytes */
};

/* One thing wrong with a policy text. */
struct policy_fault {
	char file[256];        /* the text's name; its end, if that is longer */
	uint32_t line, column; /* from 1; 0 when it is about no place */
	char pointer[256];     /* JSON pointer, RFC 6901 */
	char text[256];        /* what, and what to write instead */
};

struct policy_faults {
	size_t n; /* at most POLICY_ERRORS_MAX are kept; the rest is counted */
	size_t more;
	struct policy_fault items[POLICY_ERRORS_MAX];
};

/* Bytes of a JSON file; 'name' is for messages only. */
struct policy_text {
	const char *name; /* borrowed */
	const char *data; /* borrowed */
	size_t len;
};

/* The language data files that a policy may name. */
struct policy_sources {
	struct policy_text policy;
	const struct policy_text *languages; /* borrowed */
	size_t n_languages;
	bool privileged; /* for a service of root's: what silence means */
};

/*
 * Parse and compile.  On success *ret is the caller's, to policy_free.  On
 * failure *ret is untouched, 'faults' lists what is wrong and *e holds the
 * first fault in one line: name:line:column: pointer: text.
 */
int policy_parse(const struct policy_sources *sources, struct policy **ret,
    struct policy_faults *faults, struct error *e) MUST_CHECK;

void policy_free(struct policy *p); /* NULL is fine */

/* The language of that name or alias, or NULL. */
const struct policy_language *policy_language_find(
    const struct policy *p, const char *name);

/* What the policy judges: the request as the front gave it. */
enum policy_input_kind {
	POLICY_INPUT_FILE,      /* a host file */
	POLICY_INPUT_DIRECTORY, /* a host directory; a root itself is one too */
	POLICY_INPUT_INLINE, /* the client's own bytes: no path, only a name */
};

struct policy_input {
	const char *host; /* absolute path as text; borrowed; not of inline */
	const char *name; /* the name inside /sandbox; borrowed */
	enum policy_input_kind kind;
};

struct policy_request {
	const char *language; /* borrowed */
	uint64_t code_size, stdin_size, args_size;
	bool asks[LIMIT_N];       /* the request names this limit */
	uint64_t limits[LIMIT_N]; /* and wants this */
	struct policy_input inputs[POLICY_INPUTS_MAX];
	size_t n_inputs;
	uint64_t inline_size; /* of all inline inputs together */
	const char *libraries[POLICY_ASKED_MAX]; /* texts; borrowed */
	size_t n_libraries, n_libraries_asked;   /* as with inputs */
	size_t n_inputs_asked; /* may exceed POLICY_INPUTS_MAX: then denied */
};

/* Ids of rules.  When there are more than fit, one of them is "rules.more". */
struct policy_words {
	size_t n;
	char items[POLICY_WORDS_MAX][POLICY_WORD_MAX]; /* sorted, each once */
};

/*
 * Ids of rules are stable: records and tests of policies hold them.
 *
 * What denies: language.not_allowed; limit.NAME.above_max, .below_min;
 * code.empty, code.too_large, stdin.too_large, args.too_large; inputs.too_many,
 * inputs.too_large; path.not_allowed (the policy has no roots), path.traversal,
 * path.not_absolute, path.component, path.outside_root, path.name;
 * library.not_allowed, library.name (no name of one, or one that stands there
 * twice), library.too_many.
 *
 * What matches without denying: language.NAME; path.read; library.NAME, with _
 * for -; module.NAME for the first modules, by name, that runs of the language
 * go without; the rest is "rules.more"; modules.only when a list names those that there are.
 *
 * What is found in the code: code.rule.ID, either way; code.encoding, which
 * denies; and code.rule.limit or .failed, when the screen gives no answer.
 */
struct policy_decision {
	bool allow;
	struct policy_words rules;   /* matched without denying */
	struct policy_words reasons; /* all that denied; empty when allowed */
	/* Borrowed; NULL if unknown.  Its capabilities are what filter.h
	 * compiles; what the run sees is in mounts.h. */
	const struct policy_language *language;
	uint64_t limits[LIMIT_N]; /* effective; set when language is known */
	/* What it asked for and may have, sorted. */
	struct library libraries[POLICY_ASKED_MAX];
	size_t n_libraries;
	/* For each input: which read root, and the path beneath it. */
	size_t input_root[POLICY_INPUTS_MAX];
	const char *input_beneath[POLICY_INPUTS_MAX]; /* points into request */
};

/*
 * Total and bounded: always fills *ret.  Default deny; deny beats allow; every
 * rule that matches is told, not the first.
 */
void policy_decide(const struct policy *p, const struct policy_request *request,
    struct policy_decision *ret);

/* Whether code of that size is looked at; what is too long is denied for that. */
bool policy_decision_screens(
    const struct policy_decision *d, uint64_t code_size);

/* The screen found 'rule' in the code: "code.rule.ID", denied or only said. */
void policy_decision_hit(
    struct policy_decision *d, const struct code_rule *rule);

/*
 * What is found later: a reason that denies after all (the opener's
 * "path.link", a code rule), or a rule that matched without denying.
 */
void policy_decision_deny(struct policy_decision *d, const char *reason);
void policy_decision_match(struct policy_decision *d, const char *rule);

#endif
