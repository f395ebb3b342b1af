/*
 * policy/limits.c - the table of limits.  Linked by bailiff-policy and the
 * supervisor; pure.
 */
#include "policy/limits.h"

#include <string.h>

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/*
 * Floors: below them nothing could start, or the kernel reads the number as
 * "no limit" (tmpfs size=0 and nr_inodes=0).  Where 0 is a floor it means that
 * nothing of the kind is allowed.
 * Ceilings: open_files stays below the numbers of the gate and the program
 * (policy/filter.h); args and inputs are what one message carries
 * (executor/protocol.h).
 */
/* clang-format off */
const struct limit_info limit_table[LIMIT_N] = {
	/* name, rule, floor, ceiling, default, max, may be unlimited */
	[LIMIT_WALL_MS] = { "wall_ms", "wall",
	    1, 86400000, 30000, 300000, 0 },
	[LIMIT_CPU_MS] = { "cpu_ms", "cpu",
	    1, 86400000, 30000, 300000, 0 },
	[LIMIT_MEMORY] = { "memory", "memory",
	    8 * MIB, TIB, 512 * MIB, 2 * GIB, 0 },
	[LIMIT_PIDS] = { "pids", "pids",
	    2, 32768, 64, 256, 0 },
	[LIMIT_OPEN_FILES] = { "open_files", "open_files",
	    16, 4032, 256, 4032, 0 },
	[LIMIT_FILE_SIZE] = { "file_size", "file_size",
	    0, TIB, 64 * MIB, GIB, 1 },
	[LIMIT_SCRATCH_BYTES] = { "scratch_bytes", "scratch_bytes",
	    64 * KIB, TIB, 256 * MIB, GIB, 0 },
	[LIMIT_SCRATCH_INODES] = { "scratch_inodes", "scratch_inodes",
	    32, 16777216, 16384, 65536, 0 },
	[LIMIT_STDOUT] = { "stdout", "stdout",
	    0, GIB, MIB, 16 * MIB, 0 },
	[LIMIT_STDERR] = { "stderr", "stderr",
	    0, GIB, MIB, 16 * MIB, 0 },
	[LIMIT_OUTPUT] = { "output", "output",
	    0, TIB, 64 * MIB, GIB, 1 },
	[LIMIT_CODE] = { "code", "code",
	    0, LIMIT_CODE_MAX, MIB, 16 * MIB, 0 },
	[LIMIT_STDIN] = { "stdin", "stdin",
	    0, GIB, 16 * MIB, 64 * MIB, 0 },
	[LIMIT_ARGS] = { "args", "args",
	    0, 64 * KIB, 64 * KIB, 64 * KIB, 0 },
	[LIMIT_INPUTS] = { "inputs", "inputs",
	    0, 8, 8, 8, 0 },
	[LIMIT_INPUT_BYTES] = { "input_bytes", "input_bytes",
	    0, GIB, 64 * MIB, 64 * MIB, 0 },
	[LIMIT_ARTIFACTS] = { "artifacts", "artifacts",
	    0, 4096, 64, 256, 0 },
	[LIMIT_ARTIFACT_BYTES] = { "artifact_bytes", "artifact_bytes",
	    0, TIB, 64 * MIB, 256 * MIB, 0 },
	[LIMIT_ARTIFACT_DEPTH] = { "artifact_depth", "artifact_depth",
	    0, 64, 8, 16, 0 },
	[LIMIT_PLOTS] = { "plots", "plots",
	    0, 1024, 32, 128, 0 },
	[LIMIT_PLOT_BYTES] = { "plot_bytes", "plot_bytes",
	    0, TIB, 32 * MIB, 128 * MIB, 0 },
};
/* clang-format on */

enum limit_id limit_find(const char *name)
{
	for (size_t i = 0; i < LIMIT_N; i++)
		if (strcmp(limit_table[i].name, name) == 0)
			return (enum limit_id)i;
	return LIMIT_N;
}
