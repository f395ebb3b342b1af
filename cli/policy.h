/*
 * cli/policy.h - the commands of bailiff-policy and where its data lies.
 */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "base/error.h"
#include "policy/policy.h"

/* Each gets the words behind its name and is worth an exit code. */
int policy_check_main(char **words);
int policy_languages_main(char **words);
int policy_diff_main(char **words);
int policy_explain_main(char **words);
int policy_init_main(char **words);
int policy_learn_main(char **words);
int policy_schema_main(char **words);
int policy_test_main(char **words);

/*
 * PREFIX/share/bailiff/'name', from the place of this program in
 * PREFIX/libexec/bailiff/.
 */
int policy_place(
    const char *name, char ret[POLICY_PATH_MAX], struct error *e) MUST_CHECK;

#endif
