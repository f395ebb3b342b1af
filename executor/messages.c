/*
 * executor/messages.c - the rows of launch.h, opener.h, collect.h, syncer.h and
 * tracer.h.  Linked by the supervisor and the programs at the other end.
 */
#include "executor/collect.h"
#include "executor/launch.h"
#include "executor/opener.h"
#include "executor/syncer.h"
#include "executor/tracer.h"

static const struct wire_field entry_rows[] = {
	WIRE_ROW_U32(launch_entry, kind),
	WIRE_ROW_U32(launch_entry, mode),
	WIRE_ROW_TEXT(launch_entry, path),
	WIRE_ROW_TEXT(launch_entry, target),
};
static const struct wire_layout entry = WIRE_LAYOUT(launch_entry, entry_rows);

static const struct wire_field build_rows[] = {
	WIRE_ROW_FIXED(launch_build, instance),
	WIRE_ROW_U32(launch_build, landlock_min_abi),
	WIRE_ROW_U32(launch_build, ahead),
	WIRE_ROW_U32(launch_build, flags),
};
static const struct wire_layout build = WIRE_LAYOUT(launch_build, build_rows);

static const struct wire_field input_rows[] = {
	WIRE_ROW_TEXT(launch_input, name),
	WIRE_ROW_U32(launch_input, is_directory),
};
static const struct wire_layout input = WIRE_LAYOUT(launch_input, input_rows);

static const struct wire_field launch_group_rows[] = {
	WIRE_ROW_U32(launch_group, gid),
};
static const struct wire_layout launch_group =
    WIRE_LAYOUT(launch_group, launch_group_rows);

static const struct wire_field run_rows[] = {
	WIRE_ROW_U64(launch_run, run),
	WIRE_ROW_U32(launch_run, flags),
	WIRE_ROW_U64(launch_run, wall_ms),
	WIRE_ROW_U64(launch_run, cpu_ms),
	WIRE_ROW_U64(launch_run, memory),
	WIRE_ROW_U64(launch_run, pids),
	WIRE_ROW_U64(launch_run, open_files),
	WIRE_ROW_U64(launch_run, file_size),
	WIRE_ROW_U64(launch_run, scratch_bytes),
	WIRE_ROW_U64(launch_run, scratch_inodes),
	WIRE_ROW_TEXT(launch_run, program),
	WIRE_ROW_TEXT(launch_run, source),
	WIRE_ROW_BLOB(launch_run, argv),
	WIRE_ROW_BLOB(launch_run, env),
	WIRE_ROW_LIST(launch_run, inputs, &input),
	WIRE_ROW_U32(launch_run, uid),
	WIRE_ROW_U32(launch_run, gid),
	WIRE_ROW_LIST(launch_run, groups, &launch_group),
};
static const struct wire_layout run = WIRE_LAYOUT(launch_run, run_rows);

static const struct wire_field release_rows[] = {
	WIRE_ROW_U64(launch_release, run),
};
static const struct wire_layout release =
    WIRE_LAYOUT(launch_release, release_rows);

static const struct wire_field helper_rows[] = {
	WIRE_ROW_U32(launch_helper, kind),
};
static const struct wire_layout helper =
    WIRE_LAYOUT(launch_helper, helper_rows);

static const struct wire_message launch_requests[] = {
	{ LAUNCH_ENTRY, "entry", &entry },
	{ LAUNCH_BUILD, "build", &build },
	{ LAUNCH_RUN, "run", &run },
	{ LAUNCH_RELEASE, "release", &release },
	{ LAUNCH_HELPER, "helper", &helper },
};

const struct wire_protocol launch_protocol = { "launch",
	sizeof(launch_requests) / sizeof(launch_requests[0]), launch_requests };

static const struct wire_field ready_rows[] = {
	WIRE_ROW_U32(launch_ready, landlock_abi),
	WIRE_ROW_TEXT(launch_ready, cgroup_mode),
};
static const struct wire_layout ready = WIRE_LAYOUT(launch_ready, ready_rows);

static const struct wire_field started_rows[] = {
	WIRE_ROW_U64(launch_started, run),
	WIRE_ROW_U32(launch_started, init_pid),
	WIRE_ROW_U32(launch_started, init_uid),
	WIRE_ROW_U32(launch_started, program_uid),
	WIRE_ROW_TEXT(launch_started, cgroup),
	WIRE_ROW_U64(launch_started, group),
};
static const struct wire_layout started =
    WIRE_LAYOUT(launch_started, started_rows);

static const struct wire_field failed_rows[] = {
	WIRE_ROW_U64(launch_failed, run),
	WIRE_ROW_TEXT(launch_failed, step),
	WIRE_ROW_U32(launch_failed, saved_errno),
	WIRE_ROW_TEXT(launch_failed, text),
	WIRE_ROW_TEXT(launch_failed, remedy),
};
static const struct wire_layout failed =
    WIRE_LAYOUT(launch_failed, failed_rows);

static const struct wire_message launch_replies[] = {
	{ LAUNCH_READY, "ready", &ready },
	{ LAUNCH_STARTED, "started", &started },
	{ LAUNCH_FAILED, "failed", &failed },
	{ LAUNCH_RELEASED, "released", &release },
};

const struct wire_protocol launch_reply_protocol = { "launch reply",
	sizeof(launch_replies) / sizeof(launch_replies[0]), launch_replies };

static const struct wire_field stopped_rows[] = {
	WIRE_ROW_U32(launch_stopped, landlock_abi),
	WIRE_ROW_U32(launch_stopped, steps),
};
static const struct wire_layout stopped =
    WIRE_LAYOUT(launch_stopped, stopped_rows);

static const struct wire_field stands_rows[] = {
	WIRE_ROW_U64(launch_stands, run),
	WIRE_ROW_U64(launch_stands, wall_ms),
	WIRE_ROW_U32(launch_stands, landlock_abi),
	WIRE_ROW_U32(launch_stands, steps),
	WIRE_ROW_TEXT(launch_stands, program),
};
static const struct wire_layout stands =
    WIRE_LAYOUT(launch_stands, stands_rows);

static const struct wire_field ended_rows[] = {
	WIRE_ROW_U32(launch_ended, exit_kind),
	WIRE_ROW_U32(launch_ended, exit_value),
	WIRE_ROW_U32(launch_ended, wall),
};
static const struct wire_layout ended = WIRE_LAYOUT(launch_ended, ended_rows);

static const struct wire_message statuses[] = {
	{ LAUNCH_STOPPED, "stopped", &stopped },
	{ LAUNCH_ENDED, "ended", &ended },
	{ LAUNCH_STEP_FAILED, "step failed", &failed },
	{ LAUNCH_MAPS, "maps", NULL },
	{ LAUNCH_STANDS, "stands", &stands },
};

const struct wire_protocol launch_status_protocol = { "status",
	sizeof(statuses) / sizeof(statuses[0]), statuses };

static const struct wire_field group_rows[] = {
	WIRE_ROW_U32(opener_group, gid),
};
static const struct wire_layout group = WIRE_LAYOUT(opener_group, group_rows);

static const struct wire_field open_rows[] = {
	WIRE_ROW_U32(opener_open, uid),
	WIRE_ROW_U32(opener_open, gid),
	WIRE_ROW_LIST(opener_open, groups, &group),
	WIRE_ROW_TEXT(opener_open, root),
	WIRE_ROW_TEXT(opener_open, beneath),
	WIRE_ROW_U64(opener_open, max_bytes),
	WIRE_ROW_U32(opener_open, is_directory),
};
static const struct wire_layout open_file = WIRE_LAYOUT(opener_open, open_rows);

static const struct wire_message opener_requests[] = {
	{ OPENER_OPEN, "open", &open_file },
};

const struct wire_protocol opener_protocol = { "opener",
	sizeof(opener_requests) / sizeof(opener_requests[0]), opener_requests };

static const struct wire_field opened_rows[] = {
	WIRE_ROW_U64(opener_opened, dev),
	WIRE_ROW_U64(opener_opened, ino),
	WIRE_ROW_U64(opener_opened, size),
};
static const struct wire_layout opened =
    WIRE_LAYOUT(opener_opened, opened_rows);

static const struct wire_field denied_rows[] = {
	WIRE_ROW_TEXT(opener_denied, reason),
	WIRE_ROW_U32(opener_denied, saved_errno),
};
static const struct wire_layout denied =
    WIRE_LAYOUT(opener_denied, denied_rows);

static const struct wire_message opener_replies[] = {
	{ OPENER_OPENED, "opened", &opened },
	{ OPENER_DENIED, "denied", &denied },
};

const struct wire_protocol opener_reply_protocol = { "opener reply",
	sizeof(opener_replies) / sizeof(opener_replies[0]), opener_replies };

static const struct wire_field glob_rows[] = {
	WIRE_ROW_TEXT(collect_glob, text),
};
static const struct wire_layout glob = WIRE_LAYOUT(collect_glob, glob_rows);

static const struct wire_field start_rows[] = {
	WIRE_ROW_U32(collect_start, uid),
	WIRE_ROW_U64(collect_start, max_files),
	WIRE_ROW_U64(collect_start, max_bytes),
	WIRE_ROW_U64(collect_start, max_depth),
	WIRE_ROW_U64(collect_start, max_plots),
	WIRE_ROW_U64(collect_start, max_plot_bytes),
	WIRE_ROW_LIST(collect_start, globs, &glob),
	WIRE_ROW_LIST(collect_start, ours, &input),
};
static const struct wire_layout start = WIRE_LAYOUT(collect_start, start_rows);

static const struct wire_message collect_requests[] = {
	{ COLLECT_START, "start", &start },
	{ COLLECT_TAKE, "take", NULL },
	{ COLLECT_SKIP, "skip", NULL },
};

const struct wire_protocol collect_protocol = { "collect",
	sizeof(collect_requests) / sizeof(collect_requests[0]),
	collect_requests };

static const struct wire_field found_rows[] = {
	WIRE_ROW_BLOB(collect_found, name),
	WIRE_ROW_U64(collect_found, size),
};
static const struct wire_layout found = WIRE_LAYOUT(collect_found, found_rows);

static const struct wire_field copied_rows[] = {
	WIRE_ROW_U64(collect_copied, size),
	WIRE_ROW_FIXED(collect_copied, sha256),
	WIRE_ROW_U32(collect_copied, kind),
	WIRE_ROW_U32(collect_copied, width),
	WIRE_ROW_U32(collect_copied, height),
};
static const struct wire_layout copied =
    WIRE_LAYOUT(collect_copied, copied_rows);

static const struct wire_field skipped_rows[] = {
	WIRE_ROW_BLOB(collect_skipped, name),
	WIRE_ROW_U32(collect_skipped, why),
};
static const struct wire_layout skipped =
    WIRE_LAYOUT(collect_skipped, skipped_rows);

static const struct wire_field done_rows[] = {
	WIRE_ROW_U64(collect_done, files),
	WIRE_ROW_U64(collect_done, bytes),
	WIRE_ROW_U64(collect_done, skipped),
	WIRE_ROW_U64(collect_done, foreign),
	WIRE_ROW_U32(collect_done, why),
};
static const struct wire_layout done = WIRE_LAYOUT(collect_done, done_rows);

static const struct wire_message collect_replies[] = {
	{ COLLECT_FOUND, "found", &found },
	{ COLLECT_COPIED, "copied", &copied },
	{ COLLECT_SKIPPED, "skipped", &skipped },
	{ COLLECT_DONE, "done", &done },
};

const struct wire_protocol collect_reply_protocol = { "collect reply",
	sizeof(collect_replies) / sizeof(collect_replies[0]), collect_replies };

static const struct wire_field sync_rows[] = {
	WIRE_ROW_U64(syncer_sync, number),
};
static const struct wire_layout sync_all = WIRE_LAYOUT(syncer_sync, sync_rows);

static const struct wire_message syncer_requests[] = {
	{ SYNCER_SYNC, "sync", &sync_all },
};

const struct wire_protocol syncer_protocol = { "syncer",
	sizeof(syncer_requests) / sizeof(syncer_requests[0]), syncer_requests };

static const struct wire_field synced_rows[] = {
	WIRE_ROW_U64(syncer_synced, number),
	WIRE_ROW_U32(syncer_synced, saved_errno),
};
static const struct wire_layout synced =
    WIRE_LAYOUT(syncer_synced, synced_rows);

static const struct wire_message syncer_replies[] = {
	{ SYNCER_SYNCED, "synced", &synced },
};

const struct wire_protocol syncer_reply_protocol = { "syncer reply",
	sizeof(syncer_replies) / sizeof(syncer_replies[0]), syncer_replies };

static const struct wire_field watch_rows[] = {
	WIRE_ROW_U64(tracer_watch, run),
	WIRE_ROW_U64(tracer_watch, group),
	WIRE_ROW_TEXT(tracer_watch, name),
	WIRE_ROW_U32(tracer_watch, packed),
};
static const struct wire_layout watch = WIRE_LAYOUT(tracer_watch, watch_rows);

static const struct wire_field finish_rows[] = {
	WIRE_ROW_U64(tracer_finish, run),
	WIRE_ROW_U32(tracer_finish, undead),
};
static const struct wire_layout finish =
    WIRE_LAYOUT(tracer_finish, finish_rows);

static const struct wire_message tracer_requests[] = {
	{ TRACER_WATCH, "watch", &watch },
	{ TRACER_FINISH, "finish", &finish },
};

const struct wire_protocol tracer_protocol = { "tracer",
	sizeof(tracer_requests) / sizeof(tracer_requests[0]), tracer_requests };

static const struct wire_field tracer_ready_rows[] = {
	WIRE_ROW_U64(tracer_ready, load_us),
};
static const struct wire_layout tracer_is_ready =
    WIRE_LAYOUT(tracer_ready, tracer_ready_rows);

static const struct wire_field watching_rows[] = {
	WIRE_ROW_U64(tracer_watching, run),
};
static const struct wire_layout watching =
    WIRE_LAYOUT(tracer_watching, watching_rows);

static const struct wire_field trace_finished_rows[] = {
	WIRE_ROW_U64(tracer_finished, run),
	WIRE_ROW_U32(tracer_finished, complete),
	WIRE_ROW_U64(tracer_finished, events),
	WIRE_ROW_U64(tracer_finished, bytes),
	WIRE_ROW_FIXED(tracer_finished, sha256),
	WIRE_ROW_U64(tracer_finished, lost),
	WIRE_ROW_TEXT(tracer_finished, note),
	WIRE_ROW_U64(tracer_finished, stored_bytes),
	WIRE_ROW_FIXED(tracer_finished, stored_sha256),
};
static const struct wire_layout trace_finished =
    WIRE_LAYOUT(tracer_finished, trace_finished_rows);

static const struct wire_field trace_failed_rows[] = {
	WIRE_ROW_U64(tracer_failed, run),
	WIRE_ROW_U32(tracer_failed, saved_errno),
	WIRE_ROW_TEXT(tracer_failed, text),
};
static const struct wire_layout trace_failed =
    WIRE_LAYOUT(tracer_failed, trace_failed_rows);

static const struct wire_message tracer_replies[] = {
	{ TRACER_READY, "ready", &tracer_is_ready },
	{ TRACER_WATCHING, "watching", &watching },
	{ TRACER_FINISHED, "finished", &trace_finished },
	{ TRACER_FAILED, "failed", &trace_failed },
};

const struct wire_protocol tracer_reply_protocol = { "tracer reply",
	sizeof(tracer_replies) / sizeof(tracer_replies[0]), tracer_replies };
