/*
 * tests/escape/driver_helper.c - lets the launcher start an opener or a
 * collector and prints the helper's status.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

/* The child of the launcher that is no sandbox, from the list of them; 0. */
static unsigned long helper_of(const char *children)
{
	unsigned long pid = 0;

	for (char *at = NULL; *children != '\0'; children = at) {
		unsigned long child = strtoul(children, &at, 10);
		char path[64];
		char name[32] = "";
		FILE *f;

		if (at == children)
			break;
		(void)snprintf(path, sizeof(path), "/proc/%lu/comm", child);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL &&
		    (strncmp(name, "bailiff-opener", 14) == 0 ||
		        strncmp(name, "bailiff-collect", 15) == 0))
			pid = child;
		(void)fclose(f);
	}
	return pid;
}

void helper_show(struct driver *d)
{
	struct launch_helper out = { (uint32_t)d->o.helper };
	struct error e;
	struct fd_list fds = { .n = 1 };
	struct pollfd gone;
	int ends[2];
	char children[64];
	char text[256];
	unsigned long pid = 0;
	FILE *f;

	if (channel_pair(ends, &e) < 0)
		driver_die("channel", &e);
	fds.fd[0] = ends[1];
	driver_tell(d, LAUNCH_HELPER, &out, &fds);
	(void)close(ends[1]);
	gone = (struct pollfd){ ends[0], POLLIN, 0 };
	(void)snprintf(children, sizeof(children), "/proc/%d/task/%d/children",
	    (int)d->launch, (int)d->launch);
	/* It is there once its name is its own. */
	for (int i = 0; i < 500 && poll(&gone, 1, 10) == 0; i++) {
		f = fopen(children, "r");
		if (f == NULL || fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		if (f != NULL)
			(void)fclose(f);
		pid = helper_of(text);
		if (pid != 0 && i > 20)
			break;
	}
	if (gone.revents != 0 || pid == 0) {
		printf("helper-gone\n");
		return;
	}
	show_file("helper", pid, "status");
	show_fds(pid);
	(void)close(ends[0]);
}
