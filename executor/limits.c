/*
 * executor/limits.c - row "limits": resource limits of the program's process,
 * hard as soft, so that it can only lower them.  Linked by bailiff-launch.
 * The tree as a whole is bounded by its control groups; these bound what a
 * control group does not count.
 */
#include <stdbool.h>
#include <sys/resource.h>

#include "executor/confine.h"

#define MIB      (1024ull * 1024ull)
#define MS_PER_S 1000u
/*
 * 1, not 0: with a pipe in core_pattern the kernel takes 0 for "no limit on
 * what the pipe gets", and 1 for "no dump" (core(5), fs/coredump.c).  No file
 * is written either: 1 is below the least size of a dump.  A host whose hard
 * limit is 0 already keeps that, and the launcher made sure that its
 * core_pattern is no pipe.
 */
#define CORE_NONE 1

enum source {
	FIXED,
	CORE,
	OPEN_FILES,
	FILE_SIZE,
	CPU,
	PROCESSES,
	OWN_MEMORY
};

struct limit_row {
	__rlimit_resource_t resource;
	const char *name;
	enum source source;
	rlim_t fixed;
};

static const struct limit_row rows[] = {
	{ RLIMIT_CORE, "core", CORE, 0 },
	{ RLIMIT_NOFILE, "open files", OPEN_FILES, 0 },
	{ RLIMIT_FSIZE, "file size", FILE_SIZE, 0 },
	/* A net below the supervisor's own watch: whole seconds, one more. */
	{ RLIMIT_CPU, "cpu", CPU, 0 },
	{ RLIMIT_NPROC, "processes", PROCESSES, 0 },
	/* Private memory that may be written; address space is no measure, since
	 * runtimes reserve gigabytes that they never use. */
	{ RLIMIT_DATA, "data", OWN_MEMORY, 0 },
	{ RLIMIT_MEMLOCK, "locked memory", FIXED, 64ull * 1024ull },
	{ RLIMIT_MSGQUEUE, "message queues", FIXED, 0 },
	{ RLIMIT_NICE, "nice", FIXED, 0 },
	{ RLIMIT_RTPRIO, "real-time priority", FIXED, 0 },
	{ RLIMIT_SIGPENDING, "pending signals", FIXED, 4096 },
	{ RLIMIT_STACK, "stack", FIXED, 8ull * MIB },
};

static rlim_t from_u64(uint64_t value)
{
	return value >= RLIM_INFINITY ? RLIM_INFINITY : (rlim_t)value;
}

static rlim_t core_limit(void)
{
	struct rlimit now;

	if (getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max < CORE_NONE)
		return now.rlim_max;
	return CORE_NONE;
}

static rlim_t value_of(const struct limit_row *r, const struct launch_run *ask)
{
	uint64_t cpu_s = ask->cpu_ms / MS_PER_S;
	rlim_t extra;

	switch (r->source) {
	case FIXED:
		return r->fixed;
	case CORE:
		return core_limit();
	case OPEN_FILES:
		return from_u64(ask->open_files);
	case FILE_SIZE:
		return from_u64(ask->file_size);
	case CPU:
		if (ask->cpu_ms == UINT64_MAX)
			return RLIM_INFINITY;
		cpu_s += ask->cpu_ms % MS_PER_S != 0 ? 1 : 0;
		return from_u64(cpu_s + 1);
	case OWN_MEMORY:
		/* A control group bounds what is used instead. */
		return from_u64(ask->memory);
	case PROCESSES:
		break;
	}
	/* Pid 1 counts.  Where a control group does the bounding, and counts what
	 * it refuses, one above it. */
	extra = (ask->flags & LAUNCH_OWN_MEMORY) != 0 ? 1 : 2;
	return ask->pids < RLIM_INFINITY - extra ? ask->pids + extra
	                                         : RLIM_INFINITY;
}

static bool is_asked(const struct limit_row *r, const struct launch_run *ask)
{
	return r->source != OWN_MEMORY || (ask->flags & LAUNCH_OWN_MEMORY) != 0;
}

int apply_limits(struct confine *c, struct error *e)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rlim_t value = value_of(&rows[i], c->ask);
		const struct rlimit limit = { value, value };

		if (!is_asked(&rows[i], c->ask))
			continue;
		if (setrlimit(rows[i].resource, &limit) < 0)
			return FAIL_SYS(e, "limit %s to %llu", rows[i].name,
			    (unsigned long long)value);
	}
	return 0;
}

int prove_limits(struct confine *c, struct error *e)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rlim_t value = value_of(&rows[i], c->ask);
		const struct rlimit more = { value, value + 1 };
		struct rlimit now;

		if (!is_asked(&rows[i], c->ask))
			continue;
		if (getrlimit(rows[i].resource, &now) < 0)
			return FAIL_SYS(e, "read limit %s", rows[i].name);
		if (now.rlim_cur != value || now.rlim_max != value)
			return FAIL(e, ERROR_STATE, "limit %s is another",
			    rows[i].name);
		if (value != RLIM_INFINITY &&
		    setrlimit(rows[i].resource, &more) == 0)
			return FAIL(e, ERROR_STATE, "limit %s can be raised",
			    rows[i].name);
	}
	return 0;
}
