/*
 * executor/steps.c - walks tables of rows and words their failures.  Linked by
 * bailiff-launch; allocates nothing, since it also runs after clone.
 */
#include "executor/steps.h"

#include <stdio.h>

int steps_failed(const char *name, const char *remedy, const struct error *e,
    struct launch_failed *ret)
{
	(void)snprintf(ret->step, sizeof(ret->step), "%s", name);
	(void)snprintf(ret->text, sizeof(ret->text), "%s", e->text);
	(void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
	ret->saved_errno = (uint32_t)e->saved_errno;
	return -1;
}

int steps_run(struct stages stages, void *context, struct launch_failed *ret)
{
	for (size_t i = 0; i < stages.n; i++) {
		const struct stage *s = &stages.rows[i];
		struct error e = { 0 };

		if (s->act(context, &e) < 0)
			return steps_failed(s->name, s->remedy, &e, ret);
	}
	return 0;
}
