/*
 * tests/bench/policy_bench.c - how many decisions a second, from a decoded
 * request and from JSON.
 *
 *     policy_bench POLICY LANGUAGES_DIR WAY SECONDS
 *
 * WAY is "decoded" or "json".  The same eight requests in turn, one allowed and
 * seven denied; each must be decided as the table says before anything is
 * timed.  Prints decisions in all, the nanoseconds they took, and of batches of
 * eight the median and 99th percentile in nanoseconds a decision.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/load.h"
#include "policy/request.h"

#define CASES_N     8
#define SAMPLES_MAX 4194304

#define REQUEST(language, path, limits)                                    \
	"{\"language\":\"" language "\",\"code\":1200,\"limits\":{" limits \
	"},\"inputs\":[{\"file\":\"" path "\"}]}"
#define PLAIN "\"memory\":268435456,\"cpu_ms\":2000,\"pids\":32"

/* NULL: allowed. */
static const struct {
	const char *json, *reason;
} cases[CASES_N] = {
	{ REQUEST("python", "/job/in/a.csv", PLAIN), NULL },
	{ REQUEST("perl", "/job/in/a.csv", PLAIN), "language.not_allowed" },
	{ REQUEST("python", "/etc/shadow", PLAIN), "path.outside_root" },
	{ REQUEST("python", "/job/input/a", PLAIN), "path.outside_root" },
	{ REQUEST("python", "/job/in/a.csv", "\"memory\":1073741824"),
	    "limit.memory.above_max" },
	{ REQUEST("python", "/job/in/a.csv", "\"pids\":65"),
	    "limit.pids.above_max" },
	{ REQUEST("python", "/job/in//k", PLAIN), "path.component" },
	{ REQUEST("python", "/job/in/../../etc/x", PLAIN), "path.traversal" },
};

struct bench {
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct reader reader;
	struct request requests[CASES_N];
	struct policy_decision decision;
	uint64_t samples[SAMPLES_MAX]; /* of a batch, ns */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	(void)fprintf(stderr, "policy_bench: %s\n", what);
	exit(EXIT_FAILURE);
}

static void decode(struct bench *b, size_t which, struct request *to)
{
	const struct policy_text text = { "request", cases[which].json,
		strlen(cases[which].json) };
	struct error e;

	if (request_decode(&b->reader, &text, to, &e) < 0)
		die(e.text);
}

static void decide(struct bench *b, const struct request *request)
{
	policy_decide(b->loaded.policy, &request->asks, &b->decision);
}

/* Every case as the table has it, or nothing is timed. */
static void check(struct bench *b)
{
	for (size_t i = 0; i < CASES_N; i++) {
		const struct policy_words *reasons = &b->decision.reasons;

		decode(b, i, &b->requests[i]);
		decide(b, &b->requests[i]);
		if (b->decision.allow != (cases[i].reason == NULL) ||
		    (cases[i].reason != NULL &&
		        (reasons->n != 1 ||
		            strcmp(reasons->items[0], cases[i].reason) != 0)))
			die(cases[i].json);
	}
}

static void batch_decoded(struct bench *b)
{
	for (size_t i = 0; i < CASES_N; i++)
		decide(b, &b->requests[i]);
}

static void batch_json(struct bench *b)
{
	for (size_t i = 0; i < CASES_N; i++) {
		decode(b, i, &b->requests[0]);
		decide(b, &b->requests[0]);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

static void run(struct bench *b, void (*batch)(struct bench *), uint64_t ns)
{
	uint64_t start;
	uint64_t before;
	size_t n = 0;

	for (start = now_ns(); now_ns() - start < ns / 4;)
		batch(b); /* warm */
	start = now_ns();
	for (before = start; before - start < ns && n < SAMPLES_MAX; n++) {
		uint64_t after;

		batch(b);
		after = now_ns();
		b->samples[n] = after - before;
		before = after;
	}
	qsort(b->samples, n, sizeof(b->samples[0]), compare);
	(void)printf("%zu %" PRIu64 " %.1f %.1f\n", n * CASES_N, before - start,
	    (double)b->samples[n / 2] / CASES_N,
	    (double)b->samples[n * 99 / 100] / CASES_N);
}

int main(int argc, char **argv)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct policy_places places;
	struct error e;
	double seconds;

	if (b == NULL || argc != 5)
		die("POLICY LANGUAGES_DIR decoded|json SECONDS");
	places = (struct policy_places){ argv[1], argv[2] };
	if (policy_load(&places, &b->loaded, &b->faults, &e) < 0)
		die(e.text);
	b->faults.n = 0;
	b->reader.faults = &b->faults;
	check(b);
	seconds = strtod(argv[4], NULL);
	if (!(seconds > 0 && seconds < 3600))
		die("SECONDS: above 0");
	if (strcmp(argv[3], "decoded") == 0)
		run(b, batch_decoded, (uint64_t)(seconds * 1e9));
	else if (strcmp(argv[3], "json") == 0)
		run(b, batch_json, (uint64_t)(seconds * 1e9));
	else
		die("decoded or json");
	policy_loaded_done(&b->loaded);
	free(b);
	return EXIT_SUCCESS;
}
