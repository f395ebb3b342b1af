/*
 * tests/policy/policy_lines.c - what the parser says of many policies.
 *
 *   policy_lines LANGUAGE.json... <POLICIES
 *
 * One policy a line of standard input; for each a line of output: "ok" and the
 * digest of what it means, or "no" and every fault, with tabs between.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/policy.h"

#define LANGUAGES_MAX 16

static struct policy_text read_text(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *data = NULL;
	struct error e;
	size_t len;

	if (fd < 0 || file_read_all(fd, POLICY_TEXT_MAX, &data, &len, &e) < 0) {
		(void)fprintf(stderr, "%s cannot be read\n", path);
		exit(1);
	}
	return (struct policy_text){ path, (const char *)data, len };
}

static void say(const struct policy_sources *sources)
{
	AUTO_FREE struct policy_faults *faults = calloc(1, sizeof(*faults));
	struct policy *policy;
	struct error e;
	char digest[SHA256_HEX];

	if (faults == NULL)
		exit(1);
	if (policy_parse(sources, &policy, faults, &e) == 0) {
		sha256_hex(policy->sha256, digest);
		printf("ok\t%s\n", digest);
		policy_free(policy);
		return;
	}
	printf("no");
	for (size_t i = 0; i < faults->n; i++)
		printf("\t%s: %s", faults->items[i].pointer,
		    faults->items[i].text);
	printf("%s\n", faults->more > 0 ? "\tmore" : "");
}

int main(int argc, char **argv)
{
	struct policy_text languages[LANGUAGES_MAX];
	struct policy_sources sources = { .policy = { "line", NULL, 0 },
		.languages = languages };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	for (int i = 1; i < argc && i <= LANGUAGES_MAX; i++)
		languages[sources.n_languages++] = read_text(argv[i]);
	while ((len = getline(&line, &cap, stdin)) > 0) {
		sources.policy.data = line;
		sources.policy.len = (size_t)len;
		say(&sources);
	}
	free(line);
	for (size_t i = 0; i < sources.n_languages; i++)
		free((void *)(uintptr_t)sources.languages[i].data);
	return 0;
}
