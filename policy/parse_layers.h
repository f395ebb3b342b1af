/*
 * policy/parse_layers.h - parts of policy_parse about what is made for runs
 * beforehand.  Private to policy/.
 */
#ifndef POLICY_PARSE_LAYERS_H
#define POLICY_PARSE_LAYERS_H

#include "policy/policy.h"
#include "policy/reader.h"

extern const struct reader_keys parse_installer_keys;
extern const struct reader_keys parse_library_keys; /* of one language */

/* Variables into rows of NAME=VALUE and a NUL, sorted; 'n' is how many there are. */
#define PARSE_ENV_WIDTH 256
struct parse_env {
	char (*rows)[PARSE_ENV_WIDTH];
	size_t cap, *n;
};
#define PARSE_ENV(member, n)                                        \
	(struct parse_env)                                          \
	{                                                           \
		(member), sizeof(member) / sizeof((member)[0]), (n) \
	}
void parse_env(struct reader *r, uint32_t node, struct parse_env to);

/* An absolute clean path, of POLICY_PATH_MAX bytes. */
bool parse_root(struct reader *r, uint32_t node, char *ret);

/* parse_layers.c: of a language file, into a struct language; of a policy, and
 * that once more when the language's file was read. */
void parse_installer(struct reader *r, uint32_t node, void *to);
void parse_libraries(
    struct reader *r, uint32_t node, struct policy_language *l);
void parse_libraries_settle(
    struct reader *r, uint32_t node, struct policy_language *l);

#endif
