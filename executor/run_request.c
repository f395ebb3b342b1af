/*
 * executor/run_request.c - what a decided request consists of is digested, and
 * its host files are fetched.  Linked by the supervisor.  Code, stdin and
 * inputs are sealed, so what is hashed here is what runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/run_steps.h"

/* Larger code is denied by any policy and not worth hashing. */
#define CODE_DIGEST_MAX (UINT64_C(64) << 20)

/* What is digested, in order: code, stdin, inputs. */
enum {
	PART_CODE,
	PART_STDIN,
	PART_INPUTS
};

static bool part_of(
    struct run *r, int *ret_fd, uint64_t *ret_size, uint8_t **ret_digest)
{
	struct run_input *input;
	size_t i;

	if (r->hash_part == PART_CODE) {
		*ret_fd = r->code_fd;
		*ret_size = r->intent.code_size;
		*ret_digest = r->intent.code_sha256;
		return r->intent.code_size <= CODE_DIGEST_MAX;
	}
	if (r->hash_part == PART_STDIN) {
		*ret_fd = r->stdin_fd;
		*ret_size = r->intent.stdin_size;
		*ret_digest = r->intent.stdin_sha256;
		return r->decision.allow;
	}
	i = (size_t)(r->hash_part - PART_INPUTS);
	if (i >= r->n_opened)
		return false;
	input = &r->inputs[i];
	/* A directory is live: there is nothing to digest. */
	if (input->is.kind == PROTOCOL_INPUT_DIRECTORY)
		return false;
	*ret_fd = input->fd;
	*ret_size = input->is.size;
	*ret_digest = input->is.sha256;
	return true;
}

/* True when this part is done; 'budget' bytes at most. */
static bool digest_part(
    struct run *r, int fd, uint64_t size, uint64_t *budget, uint8_t *digest)
{
	if (r->hash_at == 0)
		sha256_init(&r->hash);
	while (r->hash_at<size && * budget> 0) {
		ssize_t got =
		    pread(fd, r->s->block, SUPERVISOR_BLOCK, (off_t)r->hash_at);

		/* Sealed memory: it can be neither short nor unreadable. */
		if (got <= 0)
			abort();
		sha256_add(&r->hash, r->s->block, (size_t)got);
		r->hash_at += (uint64_t)got;
		*budget -= (uint64_t)got < *budget ? (uint64_t)got : *budget;
	}
	if (r->hash_at < size)
		return false;
	sha256_done(&r->hash, digest);
	r->hash_at = 0;
	return true;
}

bool run_digest_step(struct run *r)
{
	uint64_t budget = SUPERVISOR_STEP;
	int last = r->stage == RUN_DIGESTING
	               ? PART_STDIN
	               : PART_INPUTS + (int)r->n_inputs - 1;

	while (r->hash_part <= last) {
		int fd = -1;
		uint64_t size = 0;
		uint8_t *digest = NULL;

		if (part_of(r, &fd, &size, &digest)) {
			if (!digest_part(r, fd, size, &budget, digest))
				return false;
			if (r->hash_part == PART_CODE)
				r->has_code_digest = true;
		}
		r->hash_part++;
	}
	return true;
}

/* The opener failed us: what cannot be judged is denied. */
static void deny_unopened(struct run *r)
{
	run_close_helper(r);
	policy_decision_deny(&r->decision, "path.failed");
	run_deny(r);
}

static void helper_ready(void *owner, uint32_t events)
{
	struct run *r = owner;
	struct supervisor_heard heard;
	struct run_message m = { ROLE_OPENER, 0, r->s->in, &heard.fds };
	struct error e;

	(void)events;
	if (supervisor_receive(
	        r->s, r->helper_fd, &opener_reply_protocol, &heard, &e) < 0) {
		if (e.kind == ERROR_SYSTEM && e.saved_errno == EAGAIN)
			return;
		deny_unopened(r);
		return;
	}
	m.verb = heard.verb;
	if (run_handle(r, &m, &e) < 0)
		deny_unopened(r);
	fd_list_close(&heard.fds);
}

static void put_request(struct run *r, struct opener_open *o)
{
	const struct channel_peer *peer = &r->session->peer;
	const struct policy_decision *d = &r->decision;
	size_t i = r->n_opened;
	uint64_t left = d->limits[LIMIT_INPUT_BYTES];

	memset(o, 0, sizeof(*o));
	o->uid = peer->uid;
	o->gid = peer->gid;
	for (size_t j = 0; j < peer->n_groups; j++)
		o->groups.items[j].gid = peer->groups[j];
	o->groups.n = peer->n_groups;
	(void)snprintf(o->root, sizeof(o->root), "%s",
	    r->s->policy->read_roots[d->input_root[i]].path);
	(void)snprintf(
	    o->beneath, sizeof(o->beneath), "%s", d->input_beneath[i]);
	/* Of what is not open yet the size is 0; inline ones are known. */
	for (size_t j = 0; j < r->n_inputs; j++)
		left -=
		    r->inputs[j].is.size < left ? r->inputs[j].is.size : left;
	o->max_bytes = left;
	o->is_directory = r->inputs[i].is.kind == PROTOCOL_INPUT_DIRECTORY;
}

void run_open_late(struct run *r)
{
	run_close_helper(r);
	policy_decision_deny(&r->decision, "opener.timeout");
	run_deny(r);
}

void run_open_next(struct run *r)
{
	struct opener_open *o = &r->s->out->open;
	struct fd_list root = { .n = 1 };
	struct channel_send what = { &opener_protocol, OPENER_OPEN, o, &root };
	struct error e;

	while (r->n_opened < r->n_inputs &&
	       r->inputs[r->n_opened].is.kind == PROTOCOL_INPUT_INLINE)
		r->n_opened++;
	if (r->n_opened == r->n_inputs)
		return; /* run_tend digests them, then starts */
	root.fd[0] = r->s->root_fds[r->decision.input_root[r->n_opened]];
	r->helper_watch.ready = helper_ready;
	if (run_start_helper(r, HELPER_OPENER, &e) < 0) {
		deny_unopened(r);
		return;
	}
	put_request(r, o);
	if (supervisor_send(r->s, r->helper_fd, &what, &e) < 0)
		deny_unopened(r);
}

/* What the opener handed back is what it was to be. */
static int check_opened(
    const struct run *r, int fd, struct result_input *is, struct error *e)
{
	struct stat st;

	if (is->kind != PROTOCOL_INPUT_DIRECTORY)
		return memfd_check(
		    fd, r->decision.limits[LIMIT_INPUT_BYTES], &is->size, e);
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at it");
	if (!S_ISDIR(st.st_mode) || st.st_dev != is->dev ||
	    st.st_ino != is->ino)
		return FAIL(e, ERROR_MALFORMED, "another directory");
	return 0;
}

int run_opened(struct run *r, const struct run_message *m, struct error *e)
{
	struct run_input *input = &r->inputs[r->n_opened];

	run_close_helper(r);
	if (m->fds->n != 1)
		return FAIL(e, ERROR_MALFORMED, "opener sent no file");
	input->is.dev = m->in->opened.dev;
	input->is.ino = m->in->opened.ino;
	if (check_opened(r, m->fds->fd[0], &input->is, e) < 0)
		return FAIL_IN(e, "what the opener sent");
	input->fd = m->fds->fd[0];
	m->fds->n = 0;
	r->n_opened++;
	run_open_next(r);
	return 0;
}

int run_not_opened(struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	run_close_helper(r);
	policy_decision_deny(&r->decision, m->in->denied.reason);
	run_deny(r);
	return 0;
}
