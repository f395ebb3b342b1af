/*
 * executor/run_making.h - what is made before a program starts.  Private to the
 * supervisor.
 */
#ifndef EXECUTOR_RUN_MAKING_H
#define EXECUTOR_RUN_MAKING_H

#include "executor/collect.h"
#include "executor/layers.h"
#include "executor/run_types.h"
#include "executor/supervisor_trace.h"
#include "executor/tracer.h"

/* What goes through the launcher before the program does, in this order; each
 * is a sandbox of its own. */
enum run_making {
	MAKING_NOTHING, /* the program itself */
	MAKING_LIBRARIES,
	MAKING_PRODUCT, /* of a compiled language */
	MAKING_N,
};

/* Directories of ours that a sandbox sees at /opt. */
enum run_layer {
	RUN_LAYER_SOURCES, /* while libraries are installed from them */
	RUN_LAYER_LIBRARIES,
	RUN_LAYER_N,
};

/* How the making of something went. */
struct run_made {
	bool is_over;
	struct event_phase phase;
	enum run_trace trace;
	struct tracer_finished traced;
};

#endif
