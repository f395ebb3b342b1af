/*
 * executor/run_steps.h - what can be done with a run: the first part is for
 * sessions and the loop, the rest is between the files run*.c.
 */
#ifndef EXECUTOR_RUN_STEPS_H
#define EXECUTOR_RUN_STEPS_H

#include "executor/run.h"

/* ---- run.c: the life of a run ---- */

/* A front's RUN.  Takes the descriptors. */
void run_begin(struct session *c, const struct protocol_run *message,
    struct fd_list *take_fds);

/* A message for this run; what the table does not know is ERROR_STATE. */
int run_handle(
    struct run *r, const struct run_message *m, struct error *e) MUST_CHECK;

struct run *run_of_number(const struct supervisor *s, uint64_t number);

/* The client cancels or left; the service stops. */
void run_cancel(struct run *r, enum killer killer);
void run_leave(struct run *r);    /* its session is over */
void run_released(struct run *r); /* the launcher holds nothing of it */

/* Between turns; when to call again (loop_now_us), UINT64_MAX for never. */
uint64_t run_tend(struct supervisor *s);

/* Send to the front what it can take; true if more is there. */
bool run_stream(struct run *r);

void run_advance(struct run *r); /* digest a step, then screen or decide */
void run_judged(struct run *r);  /* all is known: deny it, or let it wait */
void run_admit(struct run *r);   /* there is a slot for it */
void run_destroy(struct run *r);

/* ---- run_patience.c: answers that do not come ---- */
void run_expect(struct run *r, enum run_due whose, uint64_t within_us);
/* Ends what waits in vain; returns when to look again. */
uint64_t run_patience(struct run *r, uint64_t now_us);

/* ---- run_helper.c: an opener or a collector, one at a time ---- */
int run_start_helper(
    struct run *r, enum launch_helper_kind kind, struct error *e) MUST_CHECK;
void run_close_helper(struct run *r);

/* A request that ends before anything was recorded about it: FAILED. */
void run_refuse(struct run *r, const char *what, const struct error *why);
/* Its intent was refused: it is killed and leaves no record but ours. */
void run_unrecorded(struct run *r, const struct error *why);

/* ---- run_decode.c, run_request.c: decode, decide, digest, open ---- */
void run_keep_context(struct run *r); /* what every record of it says */
void run_keep_refused_claims(struct run *r, const struct protocol_refuse *m);
int run_decode(struct run *r, const struct protocol_run *message,
    struct fd_list *take_fds, struct error *e) MUST_CHECK;
struct result_input *run_sorted_inputs(const struct run *r, size_t *ret_n);
bool run_digest_step(struct run *r); /* true when done */
void run_open_next(struct run *r);
void run_open_late(struct run *r); /* the opener does not answer */
int run_opened(struct run *r, const struct run_message *m, struct error *e);
int run_not_opened(struct run *r, const struct run_message *m, struct error *e);

/* ---- run_decision.c: what the signer and the front are told ---- */
void run_deny(struct run *r);
void run_send_event(struct run *r); /* again, if the signer was behind */
void run_tell_decision(
    struct run *r, const struct event_stored *stored, bool allow);

/* ---- run_start.c: launch, gate ---- */
void run_start(struct run *r);
int run_denied(struct run *r, const struct run_message *m, struct error *e);
int run_intent_stored(
    struct run *r, const struct run_message *m, struct error *e);
int run_started(struct run *r, const struct run_message *m, struct error *e);
int run_launch_failed(
    struct run *r, const struct run_message *m, struct error *e);
int run_stopped(struct run *r, const struct run_message *m, struct error *e);
int run_step_failed(
    struct run *r, const struct run_message *m, struct error *e);

/* ---- run_watch.c: while it runs, until it is dead ---- */
int run_watch_pipes(struct run *r, struct error *e);
int run_watch_handles(struct run *r, struct error *e);
void run_fail(
    struct run *r, enum phase phase, const char *step, const struct error *why);
void run_kill(struct run *r, enum killer killer);
void run_end(struct run *r); /* enter RUN_ENDING, or go on if it is dead */
int run_ended(struct run *r, const struct run_message *m, struct error *e);
void run_drain(struct run *r); /* what is left in the pipes */
void run_sample(struct run *r, uint64_t now_us);
void run_close_handles(struct run *r);

/* ---- run_collect.c ---- */
void run_collect(struct run *r);
void run_collector_ahead(struct run *r); /* while the program runs */
void run_collect_late(struct run *r);    /* its time is over */
void run_abandon(struct run *r);         /* it does not die */
int run_found(struct run *r, const struct run_message *m, struct error *e);
int run_copied(struct run *r, const struct run_message *m, struct error *e);
int run_skipped(struct run *r, const struct run_message *m, struct error *e);
int run_collected(struct run *r, const struct run_message *m, struct error *e);

/* ---- run_store.c: the folder ---- */
void run_store(struct run *r);      /* enter RUN_STORING */
void run_store_step(struct run *r); /* one step; goes on to RUN_RECORDING */
int run_publish(struct run *r, const struct event_stored *stored,
    struct error *e) MUST_CHECK;
void run_set_folder_aside(struct run *r);

/* ---- run_finish.c: outcome, reply ---- */
int run_build_outcome(struct run *r, struct error *e) MUST_CHECK;
void run_record(struct run *r); /* enter RUN_RECORDING */
int run_outcome_stored(
    struct run *r, const struct run_message *m, struct error *e);
void run_give_back(struct run *r); /* handles closed, RELEASE */
void run_finish(struct run *r);    /* FINISHED */

#endif
