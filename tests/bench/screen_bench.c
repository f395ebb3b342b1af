/*
 * tests/bench/screen_bench.c - what screening costs:
 *
 *     screen_bench RULES ROUNDS LANGUAGE TEXT...
 *
 * RULES has a rule a line: its places, a blank, its pattern.  For each file TEXT
 * it prints, separated by tabs: name, bytes, rules met, microseconds of processor time of marking
 * (least and median), microseconds of the whole (least and median).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "policy/lexer.h"
#include "policy/screening.h"

#define CAP        16777216
#define ROUNDS_MAX 1000

struct bench {
	struct code_rule rules[POLICY_RULES_MAX];
	size_t n, rounds;
	const char *language;
	struct screening *screening;
	struct screening_room *room;
	uint8_t *classes;
	double marking[ROUNDS_MAX], whole[ROUNDS_MAX];
};

static double now_us(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint32_t places_of(const char *word)
{
	return strcmp(word, "code") == 0       ? CODE_IN_CODE
	       : strcmp(word, "strings") == 0  ? CODE_IN_STRINGS
	       : strcmp(word, "comments") == 0 ? CODE_IN_COMMENTS
	       : strcmp(word, "both") == 0     ? CODE_IN_CODE | CODE_IN_STRINGS
	                                       : CODE_ANYWHERE;
}

static int read_rules(struct bench *b, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[POLICY_PATTERN_MAX + 16];

	if (f == NULL)
		return -1;
	while (b->n < POLICY_RULES_MAX && fgets(line, sizeof(line), f)) {
		struct code_rule *rule = &b->rules[b->n];
		char *blank = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (blank == NULL)
			continue;
		*blank = '\0';
		rule->places = places_of(line);
		(void)snprintf(rule->text, sizeof(rule->text), "%s", blank + 1);
		b->n++;
	}
	return fclose(f);
}

static int prepare(struct bench *b, struct error *e)
{
	const struct screening_rules rules = { b->language, b->rules, b->n };
	size_t which;

	if (screening_compile(&rules, &b->screening, &which, e) < 0)
		return FAIL_IN(e, "rule %zu", which + 1);
	b->classes = malloc(CAP);
	if (b->classes == NULL)
		return FAIL_SYS(e, "allocate");
	return screening_room(&b->screening, 1, CAP, &b->room, e);
}

static int time_one(struct bench *b, const char *path, struct error *e)
{
	const struct lexer *lexer = lexer_find(b->language);
	uint8_t *text = screening_text(b->room);
	FILE *f = fopen(path, "re");
	struct screening_hits hits;
	size_t n;

	if (f == NULL)
		return FAIL_SYS(e, "%s", path);
	n = fread(text, 1, CAP, f);
	(void)fclose(f); /* only read */
	memset(text + n, 0, LEXER_PAD);
	for (size_t i = 0; i < b->rounds; i++) {
		double start = now_us();

		lexer_mark(lexer, 0, text, n, b->classes);
		b->marking[i] = now_us() - start;
		start = now_us();
		if (screening_scan(b->screening, b->room, n, &hits, e) < 0)
			return -1;
		b->whole[i] = now_us() - start;
	}
	qsort(b->marking, b->rounds, sizeof(double), compare);
	qsort(b->whole, b->rounds, sizeof(double), compare);
	printf("%s\t%zu\t%zu\t%.0f\t%.0f\t%.0f\t%.0f\n", path, n, hits.n,
	    b->marking[0], b->marking[b->rounds / 2], b->whole[0],
	    b->whole[b->rounds / 2]);
	return 0;
}

int main(int argc, char **argv)
{
	const struct number_range rounds = { 1, ROUNDS_MAX };
	struct bench *b = calloc(1, sizeof(*b));
	struct error e = { 0 };
	uint64_t n = 0;

	if (b == NULL || argc < 5)
		return 2;
	b->language = argv[3];
	if (number_parse(argv[2], "ROUNDS", rounds, &n, &e) < 0 ||
	    read_rules(b, argv[1]) != 0 || prepare(b, &e) < 0) {
		(void)fprintf(stderr, "screen_bench: %s\n", e.text);
		return 1;
	}
	b->rounds = (size_t)n;
	for (int i = 4; i < argc; i++)
		if (time_one(b, argv[i], &e) < 0) {
			(void)fprintf(stderr, "screen_bench: %s\n", e.text);
			return 1;
		}
	screening_room_free(b->room);
	screening_free(b->screening);
	free(b->classes);
	free(b);
	return 0;
}
