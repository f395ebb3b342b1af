/*
 * executor/exchange.h - room for any one message that a supervisor hears or
 * says.
 */
#ifndef EXECUTOR_EXCHANGE_H
#define EXECUTOR_EXCHANGE_H

#include "audit/client.h"
#include "executor/collect.h"
#include "executor/launch.h"
#include "executor/opener.h"
#include "executor/protocol.h"
#include "executor/screen.h"
#include "executor/syncer.h"
#include "executor/tracer.h"

/* Messages are never half done, so one buffer of each kind serves all. */
union incoming {
	struct protocol_hello hello;
	struct protocol_run run;
	struct protocol_cancel cancel;
	struct protocol_open open;
	struct protocol_stop stop;
	struct protocol_describe describe;
	struct protocol_refuse refuse;
	struct protocol_redact redact;
	struct launch_started started;
	struct launch_failed launch_failed;
	struct launch_release released;
	struct launch_stopped stopped;
	struct launch_ended ended;
	struct opener_opened opened;
	struct opener_denied denied;
	struct collect_found found;
	struct collect_copied copied;
	struct collect_skipped skipped;
	struct collect_done done;
	struct syncer_synced synced;
	struct tracer_ready trace_ready;
	struct tracer_watching watching;
	struct tracer_finished traced;
	struct tracer_failed trace_failed;
	struct screen_fault screen_fault;
	struct screen_hits screen_hits;
	union audit_reply audit;
};

union outgoing {
	struct protocol_decided decided;
	struct protocol_output output;
	struct protocol_finished finished;
	struct protocol_entry entry;
	struct protocol_failed failed;
	struct protocol_language language;
	struct protocol_described described;
	struct launch_run launch;
	struct opener_open open;
	struct event_denial denial;
};

#endif
