/*
 * policy/degraded.c - one row for each protection that root gives and the
 * kernel does not, sorted by word as records are.  Linked by the supervisor and
 * bailiff-policy; pure.
 */
#include "policy/degraded.h"

const struct degraded degraded_without_root[DEGRADED_N] = {
	{ "cgroup.cpu",
	    "unless a control group is delegated to you, cpu time is counted "
	    "for the program and for what it has waited "
	    "for; other processes are bounded one by one (RLIMIT_CPU)",
	    DEGRADED_LONE },
	{ "cgroup.memory",
	    "unless a control group is delegated to you, memory is bounded for "
	    "each process (RLIMIT_DATA), not for all of a "
	    "run, and shared memory, memory files, pipes and socket buffers "
	    "are not; running "
	    "out is an error of the program, status memory is "
	    "never given",
	    DEGRADED_LONE },
	{ "cgroup.pids",
	    "unless a control group is delegated to you, processes are bounded "
	    "by RLIMIT_NPROC; refusals are not counted",
	    DEGRADED_LONE },
	{ "groups",
	    "your supplementary groups stay with the program, which sees no "
	    "file of theirs but beneath /usr",
	    DEGRADED_WITH_GROUPS },
	{ "service_ids",
	    "supervisor, opener, collector and signer have your uid: whoever "
	    "has it can take the log's keys",
	    DEGRADED_ALWAYS },
	{ "uid_separation",
	    "the program has your uid, as its pid 1 and all other runs do; "
	    "namespaces, Landlock and the filter stand between them",
	    DEGRADED_ALWAYS },
};
