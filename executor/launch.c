/*
 * executor/launch.c - main of bailiff-launch, the builder of sandboxes.
 *
 * Started by bailiff-supervisor, as root, with a channel on descriptor 3, an
 * empty environment and nothing else.  Trusts the supervisor for what to run
 * with which limits, and nobody for texts: it reads fixed-size members only,
 * and files of the kernel.  See launch.h for the conversation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "executor/launcher.h"

static int run(struct launcher *l, struct error *e)
{
	struct error why = { 0 };
	int ret;

	if (launcher_attach(l, e) < 0)
		return -1;
	/* The supervisor hears of it as the answer to BUILD. */
	if (launcher_open(l, &why) < 0)
		launcher_break(l, "start", &why);
	ret = launcher_serve(l, e);
	launcher_close(l);
	return ret;
}

int main(int argc, char **argv)
{
	struct launcher *l;
	struct error e = { 0 };

	(void)argv;
	if (argc != 1 || environ[0] != NULL) {
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
	if (run(l, &e) < 0) {
		(void)fprintf(stderr, "bailiff-launch: ending: %s\n", e.text);
		return 1;
	}
	return 0;
}
