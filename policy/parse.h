/*
 * policy/parse.h - the parts of policy_parse.  Private to policy/, except that
 * bailiff-policy lists languages with parse_language_file.
 */
#ifndef POLICY_PARSE_H
#define POLICY_PARSE_H

#include "policy/policy.h"
#include "policy/reader.h"

#define PARSE_VERSION 1 /* of policy texts and language files */

struct parse {
	const struct policy_sources *sources; /* borrowed */
	struct policy *policy;                /* borrowed; being filled */
	struct limit limits[LIMIT_N];         /* what languages inherit */
	struct capabilities capabilities;
	struct reader *language_reader; /* borrowed */
};

/* Every table of keys, for the manual's test; ends with NULL. */
extern const struct reader_keys *const parse_tables[];

extern const struct reader_keys parse_policy_keys; /* for struct parse */
extern const struct reader_keys parse_entry_keys;  /* of one language */
extern const struct reader_keys parse_capability_keys;
extern const struct reader_keys parse_limit_keys;
extern const struct reader_keys parse_syscall_keys;
extern const struct reader_keys parse_path_keys;
extern const struct reader_keys parse_network_keys;
extern const struct reader_keys parse_audit_keys;
extern const struct reader_keys parse_results_keys;
extern const struct reader_keys parse_concurrency_keys;
extern const struct reader_keys parse_landlock_keys;
extern const struct reader_keys parse_service_keys;
extern const struct reader_keys parse_language_file_keys;
extern const struct reader_keys parse_module_keys; /* of one language */
extern const struct reader_keys parse_language_module_keys;  /* of its file */
extern const struct reader_keys parse_language_package_keys; /* the same */
extern const struct reader_keys parse_plot_keys;             /* the same */
extern const struct reader_names parse_capability_names;
/* Whether the one of that index is given. */
bool parse_capability(const struct capabilities *c, size_t index);

/* Fill 'limits' with what the table says when a policy is silent. */
void parse_limits_init(struct limit limits[LIMIT_N]);
/* Replace what the object names; the rest stays as it is. */
void parse_limits(struct reader *r, uint32_t node, void *limits);

/* "compile_limits": one amount each, since no request asks. */
void parse_compile_limits(
    struct reader *r, uint32_t node, struct compile_limits *to);
bool parse_binds_compiler(enum limit_id id);

void parse_capabilities_init(struct capabilities *ret);
void parse_capabilities(struct reader *r, uint32_t node, void *capabilities);
/* "syscalls", into a struct capabilities. */
void parse_syscalls(struct reader *r, uint32_t node, void *capabilities);

/* Keys of "audit", into a struct parse. */
reader_take parse_take_access, parse_take_args, parse_take_env,
    parse_take_results, parse_take_stdin, parse_take_tick;

/* A list of texts into rows of 'width' bytes; the number of rows taken. */
struct parse_rows {
	char *at;
	size_t width, cap;
	size_t least;
};
#define PARSE_ROWS(member, least)                               \
	(struct parse_rows)                                     \
	{                                                       \
		(member)[0], sizeof((member)[0]),               \
		    sizeof(member) / sizeof((member)[0]), least \
	}
size_t parse_rows(struct reader *r, uint32_t node, struct parse_rows rows);

/* "modules" of a language file, into a struct language, and of a policy. */
void parse_language_modules(struct reader *r, uint32_t node, void *to);
void parse_modules(struct reader *r, uint32_t node, struct policy_language *l);

/* "rules" of one language. */
extern const struct reader_keys parse_rule_keys;
void parse_rules(struct reader *r, uint32_t node, struct policy_language *l);

/* "languages", into a struct parse. */
void parse_languages(struct reader *r, uint32_t node, void *to);

/* "version": must be PARSE_VERSION. */
void parse_version(struct reader *r, uint32_t node, void *unused);

/* A key whose feature is not built yet: a list. */
void parse_future_list(struct reader *r, uint32_t node, void *unused);

/*
 * A language data file.  'r' is scratch space and must be zeroed but for
 * r->faults; faults are added there.  -1 when there were any.
 */
int parse_language_file(struct reader *r, const struct policy_text *text,
    struct language *ret) MUST_CHECK;

/* Fill *e with the first fault, and how many there are; -1. */
int parse_fail(const struct policy_faults *faults, struct error *e);

/* The canonical text of what the policy means; p->effective and its digest. */
int parse_effective(struct policy *p, struct error *e) MUST_CHECK;

#endif
