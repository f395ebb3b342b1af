/*
 * cli/policy_schema.c - `bailiff policy schema`.  Linked by bailiff-policy.
 */
#include <stdlib.h>

#include "cli/policy.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/schema.h"

static const struct command command = {
	.name = "bailiff policy schema",
	.usage = "",
	.about = "Print the JSON Schema (2020-12) of a policy, for editors and "
	         "generators.\nWhat no schema can say is listed in "
	         "bailiff-policy(5).",
	.notes = "exit codes: 0, 2 usage\n",
};

int policy_schema_main(char **words)
{
	static const struct policy_words_want want = { &command, "", 0, 0 };
	struct policy_words_given given;
	struct text_out out = { .cap = SCHEMA_TEXT_MAX };
	struct error e;
	int code = policy_words_take(&want, words, &given);

	if (code != POLICY_WORDS_GO_ON)
		return code;
	out.data = malloc(out.cap);
	if (out.data == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	code = schema_print(&out, &e) < 0 ? say_failed(&e, 1)
	                                  : say_out(out.data, out.len);
	free(out.data);
	return code;
}
