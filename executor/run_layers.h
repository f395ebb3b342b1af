/*
 * executor/run_layers.h - directories of ours that a run sees at /opt: made by
 * runs of our own text before the program starts, where they are not there yet.
 * Private to the supervisor.
 *
 * Libraries of a request are installed by a sandbox of their own that sees
 * nothing of the request but their names, and at /opt/sources the files that
 * the policy allows.  What it leaves in its scratch becomes a layer (layers.h);
 * user code runs only later, in other sandboxes, where layers are read-only.
 * So no run can write what a later one reads.
 */
#ifndef EXECUTOR_RUN_LAYERS_H
#define EXECUTOR_RUN_LAYERS_H

#include "executor/run.h"
#include "executor/run_compile.h"
#include "policy/environment.h"

extern const char *const run_layer_names[RUN_LAYER_N];

/* What the sandbox of now sees. */
bool run_shows_inputs(const struct run *r);
bool run_shows_layer(const struct run *r, enum run_layer which);

/* What is to be made next; layers that are there already are taken. */
enum run_making run_making_next(struct run *r);

/* The environment of 'part' as rows of NAME=VALUE, sorted; their number. */
#define RUN_ENV_MAX (ENVIRONMENT_MAX + POLICY_LAYER_ENV_MAX)
size_t run_environment(const struct run *r, const struct run_part *part,
    const char *ret[RUN_ENV_MAX]);

/* A file of the layer in the making was found, copied. */
int run_layer_found(
    struct run *r, const struct collect_found *found, struct error *e);
int run_layer_copied(
    struct run *r, const struct collect_copied *copied, struct error *e);
/* All was: it is a layer now.  'why' has a bit for each reason to skip. */
int run_layer_done(struct run *r, struct error *e) MUST_CHECK;
int run_layer_whole(uint32_t why, struct error *e) MUST_CHECK;

#endif
