/*
 * executor/run_posture.c - what the posture of this run must be: that of every
 * run of the policy, and a mount for each directory it asked for.  Linked by
 * the supervisor.
 */
#include "executor/run_posture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/run_layers.h"
#include "policy/path.h"

#define PLACE "/sandbox/"

_Static_assert(
    sizeof(PLACE) + (size_t)4 * PATH_MOUNT_NAME_MAX <= LAUNCH_PATH_MAX,
    "the escaped name of a directory has room");

/* As the kernel writes mount points; a name holds no control characters. */
static void escape(const char *name, char *to)
{
	static const char odd[] = " \\";

	for (; *name != '\0'; name++) {
		if (strchr(odd, *name) == NULL) {
			*to++ = *name;
			continue;
		}
		to += snprintf(to, 5, "\\%03o", (unsigned int)*name);
	}
	*to = '\0';
}

/* *ret is the caller's: the view's mounts and those of the directories. */
static int list_mounts(const struct run *r, struct posture_mount **ret,
    size_t *ret_n, struct error *e)
{
	const struct template *view = &r->s->view;
	struct posture_mount *mounts;
	size_t n = view->n_mounts;

	mounts = calloc(n + r->n_inputs + RUN_LAYER_N, sizeof(mounts[0]));
	if (mounts == NULL)
		return FAIL_SYS(e, "list the mounts");
	memcpy(mounts, view->mounts, n * sizeof(mounts[0]));
	for (size_t i = 0; i < RUN_LAYER_N; i++) {
		if (!run_shows_layer(r, (enum run_layer)i))
			continue;
		(void)snprintf(mounts[n].point, sizeof(mounts[n].point),
		    "/opt/%s", run_layer_names[i]);
		(void)snprintf(
		    mounts[n].type, sizeof(mounts[n].type), "overlay");
		mounts[n++].read_only = true;
	}
	for (size_t i = 0; run_shows_inputs(r) && i < r->n_inputs; i++) {
		const struct result_input *input = &r->inputs[i].is;
		struct posture_mount *mount = &mounts[n];

		if (input->kind != PROTOCOL_INPUT_DIRECTORY)
			continue;
		memcpy(mount->point, PLACE, sizeof(PLACE));
		escape(input->name, mount->point + strlen(PLACE));
		(void)snprintf(mount->type, sizeof(mount->type), "overlay");
		mount->read_only = true;
		n++;
	}
	*ret = mounts;
	*ret_n = n;
	return 0;
}

int run_posture(struct run *r, const struct launch_stopped *stopped, int pid_fd,
    struct error *e)
{
	const uint64_t *limits = run_limits(r);
	const struct posture_own own = {
		.gid = getegid(),
		.groups = r->s->self.groups,
		.memory = limits[LIMIT_MEMORY],
	};
	struct posture_expected expected = {
		.open_files = limits[LIMIT_OPEN_FILES],
		.file_size = limits[LIMIT_FILE_SIZE],
		.cpu_s = (limits[LIMIT_CPU_MS] + 999) / 1000 + 1,
		.landlock_abi = r->s->landlock_abi,
		.filters = r->s->self.filters + 1,
		.split = r->s->split_cgroups,
		.own = r->s->owner.rootless ? &own : NULL,
		.lone = r->s->owner.lone,
	};
	const struct posture_names names = { r->program_uid, r->init_uid,
		stopped->landlock_abi, stopped->steps, r->cgroup, &expected };
	AUTO_FREE struct posture_mount *mounts = NULL;

	if (list_mounts(r, &mounts, &expected.n_mounts, e) < 0)
		return -1;
	expected.mounts = mounts;
	return posture_check(&r->s->self, pid_fd, &names, &r->posture, e);
}
