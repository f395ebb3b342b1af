/*
 * executor/builds.c - digests of our own programs.  Linked by the
 * supervisor and bailiff-key.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "base/sha256.h"
#include "executor/signer_start.h"

/* Sorted; those that this installation has not are left out. */
static const struct {
	const char *name; /* in records */
	const char *file; /* beside the supervisor */
	int must;
} programs[] = {
	{ "bailiff", "../../bin/bailiff", 1 },
	{ "collect", "bailiff-collect", 1 },
	{ "launch", "bailiff-launch", 1 },
	{ "mcp", "bailiff-mcp", 0 },
	{ "opener", "bailiff-opener", 1 },
	{ "screen", "bailiff-screen", 1 },
	{ "signer", "bailiff-signer", 1 },
	{ "supervisor", "bailiff-supervisor", 1 },
	{ "syncer", "bailiff-syncer", 1 },
	{ "tracer", "bailiff-tracer", 1 },
};

int peers_builds(struct event_hello *hello, struct error *e)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char path[SERVICE_PATH_MAX];
		struct event_build *b = &hello->builds.items[hello->builds.n];
		uint64_t size;
		AUTO_FD fd = -1;

		if (service_program_path(programs[i].file, path, e) < 0)
			return -1;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && !programs[i].must)
			continue;
		if (fd < 0)
			return FAIL_SYS(e, "digest %s", path);
		(void)snprintf(
		    b->program, sizeof(b->program), "%s", programs[i].name);
		if (sha256_of_fd(fd, b->sha256, &size, e) < 0)
			return FAIL_IN(e, "digest %s", path);
		hello->builds.n++;
	}
	return 0;
}
