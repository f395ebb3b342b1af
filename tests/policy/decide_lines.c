/*
 * tests/policy/decide_lines.c - decisions about many requests.
 *
 *   decide_lines POLICY LANGUAGES_DIR <REQUESTS
 *
 * One request in JSON a line of standard input; for each a line of output, with
 * tabs between: "allow", "deny" or "fault"; the reasons (or the fault); the
 * rules; and for each input the root and what is beneath it, or "-" twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load.h"
#include "policy/request.h"

struct work {
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct reader reader;
	struct request request;
	struct policy_decision decision;
};

static void put_words(const struct policy_words *words)
{
	printf("\t");
	for (size_t i = 0; i < words->n; i++)
		printf("%s%s", i > 0 ? "," : "", words->items[i]);
}

static void say(struct work *w)
{
	const struct policy_decision *d = &w->decision;

	policy_decide(w->loaded.policy, &w->request.asks, &w->decision);
	printf("%s", d->allow ? "allow" : "deny");
	put_words(&d->reasons);
	put_words(&d->rules);
	for (size_t i = 0; i < w->request.asks.n_inputs; i++) {
		const char *beneath = d->input_beneath[i];

		printf("\t%s\t%s",
		    beneath != NULL
		        ? w->loaded.policy->read_roots[d->input_root[i]].path
		        : "-",
		    beneath != NULL ? beneath : "-");
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct work *w = calloc(1, sizeof(*w));
	struct policy_places places;
	struct error e;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (w == NULL || argc != 3)
		return EXIT_FAILURE;
	places = (struct policy_places){ argv[1], argv[2] };
	if (policy_load(&places, &w->loaded, &w->faults, &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		return EXIT_FAILURE;
	}
	w->reader.faults = &w->faults;
	while ((len = getline(&line, &cap, stdin)) > 0) {
		const struct policy_text text = { "line", line, (size_t)len };

		w->faults.n = 0;
		if (request_decode(&w->reader, &text, &w->request, &e) < 0)
			printf("fault\t%s\n", e.text);
		else
			say(w);
	}
	free(line);
	policy_loaded_done(&w->loaded);
	free(w);
	return EXIT_SUCCESS;
}
