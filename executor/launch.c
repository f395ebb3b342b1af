/*
 * executor/launch.c - main of bailiff-launch, the builder of sandboxes.
 *
 * Started by bailiff-supervisor, as root or as the account that both serve,
 * with a channel on descriptor 3, an empty environment and nothing else.  Trusts the supervisor for what to run
 * with which limits, and nobody for texts: it reads fixed-size members only,
 * and files of the kernel.  See launch.h for the conversation.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "executor/launch_nest.h"
#include "executor/launcher.h"

/* An account other than root begins by executing us anew. */
static bool must_nest(int argc)
{
	return argc == 1 && geteuid() != 0;
}

static int run(struct launcher *l, int argc, char **argv, struct error *e)
{
	struct error why = { 0 };
	bool fit = !must_nest(argc) || launcher_nest(argv[0], &why) == 0;
	int ret;

	if (launcher_attach(l, e) < 0)
		return -1;
	/* The supervisor hears of it as the answer to BUILD. */
	if (!fit || launcher_open(l, &why) < 0)
		launcher_break(l, "start", &why);
	ret = launcher_serve(l, e);
	launcher_close(l);
	return ret;
}

static bool is_called_right(int argc, char **argv)
{
	return argc == 1 ||
	       (argc == 2 && strcmp(argv[1], LAUNCHER_NESTED) == 0 &&
	           geteuid() != 0);
}

int main(int argc, char **argv)
{
	struct launcher *l;
	struct error e = { 0 };

	if (!is_called_right(argc, argv) || environ[0] != NULL) {
		(void)fprintf(stderr,
		    "bailiff-launch: started by bailiff-supervisor only, "
		    "without arguments or environment\n");
		return 1;
	}
	l = calloc(1, sizeof(*l));
	if (l == NULL) {
		(void)fprintf(stderr, "bailiff-launch: out of memory\n");
		return 1;
	}
	if (run(l, argc, argv, &e) < 0) {
		(void)fprintf(stderr, "bailiff-launch: ending: %s\n", e.text);
		return 1;
	}
	return 0;
}
