/*
 * executor/run_turn.c - what runs want between two turns of the loop: steps of
 * work, deadlines, output for their front, an end.  Linked by the supervisor.
 */
#include <unistd.h>

#include "executor/run_steps.h"

/* One chunk of a head, if the socket takes it. */
static void send_chunk(struct run *r, enum protocol_stream stream)
{
	struct protocol_output *o = &r->s->out->output;
	struct output *from = stream == PROTOCOL_STDOUT ? &r->out : &r->err;
	uint64_t *sent =
	    stream == PROTOCOL_STDOUT ? &r->out_sent : &r->err_sent;
	struct channel_send what = { &protocol_reply, PROTOCOL_OUTPUT, o,
		NULL };
	uint64_t left = from->head_size - *sent;
	struct error e;
	ssize_t got;

	if (left == 0)
		return;
	got = pread(from->file_fd, o->data.data,
	    left < PROTOCOL_OUTPUT_MAX ? (size_t)left : PROTOCOL_OUTPUT_MAX,
	    (off_t)*sent);
	if (got <= 0) {
		*sent = from->head_size; /* unreadable: FINISHED still comes */
		return;
	}
	o->request = r->request;
	o->stream = stream;
	o->data.len = (uint64_t)got;
	if (supervisor_send(r->s, r->session->fd, &what, &e) < 0) {
		if (e.kind != ERROR_SYSTEM)
			session_end(r->session);
		return;
	}
	*sent += (uint64_t)got;
}

bool run_stream(struct run *r)
{
	if (r->stage < RUN_RUNNING || r->stage > RUN_SENDING)
		return false;
	/* What a compiler prints counts only once it has failed. */
	if (r->is_compiling && r->stage < RUN_STORING)
		return false;
	send_chunk(r, PROTOCOL_STDOUT);
	if (r->session != NULL)
		send_chunk(r, PROTOCOL_STDERR);
	if (r->session == NULL)
		return false;
	if (r->out_sent < r->out.head_size || r->err_sent < r->err.head_size)
		return true;
	if (r->stage == RUN_SENDING)
		run_finish(r);
	return false;
}

void run_released(struct run *r)
{
	r->at_launcher = false;
	r->due[DUE_LAUNCHER] = 0;
	if (r->holds_slot)
		r->s->slots--;
	r->holds_slot = false;
}

/* One run's share of a turn; returns when it wants the next one. */
static uint64_t tend_one(struct run *r, uint64_t now_us)
{
	switch (r->stage) {
	case RUN_DIGESTING:
		run_advance(r);
		return now_us;
	case RUN_QUEUED:
		if (r->s->slots < r->s->slots_max)
			run_admit(r);
		return UINT64_MAX;
	case RUN_OPENING:
		if (r->n_opened < r->n_inputs)
			return UINT64_MAX; /* the opener is at work */
		if (!run_digest_step(r))
			return now_us;
		run_start(r);
		return UINT64_MAX;
	case RUN_RUNNING:
	case RUN_ENDING:
		if (now_us >= r->next_sample_us)
			run_sample(r, now_us);
		return r->next_sample_us;
	case RUN_COLLECTING:
		if (now_us >= r->give_up_us)
			run_collect_late(r);
		return r->give_up_us;
	case RUN_STORING:
		run_store_step(r);
		return now_us;
	case RUN_SCREENING:
	case RUN_STARTING:
	case RUN_TRACING:
	case RUN_DENYING:
	case RUN_RECORDING:
	case RUN_SENDING:
	case RUN_OVER:
	case RUN_STAGE_N:
		break;
	}
	return UINT64_MAX;
}

static void free_over(struct supervisor *s)
{
	struct run **at = &s->runs;

	while (*at != NULL) {
		struct run *r = *at;

		if (r->stage != RUN_OVER ||
		    (r->at_launcher && s->launch_fd >= 0)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		s->n_runs--;
		if (r->session != NULL)
			r->session->n_runs--;
		if (r->holds_slot)
			s->slots--;
		run_destroy(r);
	}
}

uint64_t run_tend(struct supervisor *s)
{
	uint64_t next = UINT64_MAX;
	uint64_t now_us = loop_now_us();

	for (struct run *r = s->runs; r != NULL; r = r->next) {
		uint64_t due = run_patience(r, now_us);
		uint64_t at = tend_one(r, now_us);

		next = at < next ? at : next;
		next = due < next ? due : next;
	}
	free_over(s);
	return next;
}
