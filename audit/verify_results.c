/*
 * audit/verify_results.c - result folders beside the outcomes that name them.
 * Linked by the audit reader; names and files are hostile.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify_results.h"
#include "base/file.h"
#include "base/own.h"

/* A folder is renamed into place just after its outcome is durable: while the
 * service runs, one of the newest records may still lack its folder. */
#define FRESH_RECORDS 512

#define KEY_ID_LEN    64
#define RUN_TEXT      (2 + 2 * IDMAP_ID + 1)

static void own_dir(DIR **dir)
{
	if (*dir != NULL)
		(void)closedir(*dir);
}

/* Folders in the making, set aside and on their way out are no results. */
static bool is_ours(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       strcmp(name, ".staging") == 0 ||
	       strcmp(name, ".quarantine") == 0 ||
	       strcmp(name, ".pruning") == 0 || strcmp(name, ".pruned") == 0;
}

int verify_results_list(struct verify *v, struct error *e)
{
	__attribute__((cleanup(own_dir))) DIR *dir = NULL;
	int fd = openat(
	    v->options->results_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *d;

	if (fd >= 0)
		dir = fdopendir(fd);
	if (dir == NULL) {
		own_close(&fd);
		return FAIL_SYS(e, "list the results");
	}
	for (;;) {
		struct c1_value name;
		uint8_t run[IDMAP_ID];

		errno = 0;
		d = readdir(dir); // NOLINT(concurrency-mt-unsafe): one thread
		if (d == NULL && errno != 0)
			return FAIL_SYS(e, "list the results");
		if (d == NULL)
			return 0;
		name = (struct c1_value){ C1_STRING, d->d_name,
			strlen(d->d_name) };
		if (is_ours(d->d_name))
			continue;
		if (!entry_run_id(&name, run))
			(void)VERIFY_BAD(v, NULL, "results.unknown",
			    "folders named by run ids", "%s", d->d_name);
		else if (idmap_put(&v->folders, run, NULL, e) < 0)
			return -1;
	}
}

int verify_lost(struct verify *v, const struct verify_folder *f,
    const char *file, struct error *e)
{
	struct verify_loss *l;

	if (v->n_losses == v->losses_cap) {
		size_t cap = v->losses_cap > 0 ? v->losses_cap * 2 : 64;
		struct verify_loss *losses =
		    reallocarray(v->losses, cap, sizeof(v->losses[0]));

		if (losses == NULL)
			return FAIL_SYS(e, "allocate the list of losses");
		v->losses = losses;
		v->losses_cap = cap;
	}
	l = &v->losses[v->n_losses++];
	memset(l, 0, sizeof(*l));
	l->place = *f->place;
	memcpy(l->boot, f->outcome->boot, sizeof(l->boot));
	(void)entry_run_id(&f->outcome->fields[ENTRY_REQ], l->run);
	(void)snprintf(l->file, sizeof(l->file), "%.*s",
	    (int)sizeof(l->file) - 1, file != NULL ? file : "");
	l->set_aside = file == NULL && verify_set_aside(v, f);
	return 0;
}

struct small_file {
	const char *name;
	uint8_t *data; /* owned; NULL: what there is was reported */
	size_t len;
};

static void own_small(struct small_file *s)
{
	free(s->data);
}

/* A small file of the folder, whole. */
static int read_small(struct verify *v, const struct verify_folder *f,
    struct small_file *ret, struct error *e)
{
	struct file_open what = { f->dir_fd, ret->name, O_RDONLY, 0 };
	struct error why;
	AUTO_FD fd = -1;

	if (file_open_beneath(&what, &fd, &why) < 0) {
		if (why.saved_errno == ENOENT)
			return verify_lost(v, f, ret->name, e);
		(void)VERIFY_BAD(v, f->place, "results.kind", "a regular file",
		    "%s/%s: %s", f->name, ret->name, why.text);
		return 0;
	}
	if (file_read_all(fd, DSSE_ENVELOPE_MAX, &ret->data, &ret->len, &why) <
	    0) {
		(void)VERIFY_BAD(v, f->place, "results.kind",
		    "a small regular file", "%s/%s: %s", f->name, ret->name,
		    why.text);
		return 0;
	}
	if (ret->len > 0)
		return 0;
	free(ret->data);
	ret->data = NULL;
	return verify_lost(v, f, ret->name, e);
}

/*
 * The envelope has one spelling (audit/dsse.h), so it is built again and
 * compared; only the key id, which is a hint, may say anything that a JSON
 * string can say without escapes.
 */
static bool same_envelope(
    const struct small_file *file, const struct text_out *wanted)
{
	static const char mark[] = "\"keyid\": \"";
	const char *found = (const char *)file->data;
	const char *key =
	    memmem(wanted->data, wanted->len, mark, sizeof(mark) - 1);
	size_t at, end;

	if (key == NULL || file->len != wanted->len)
		return false;
	at = (size_t)(key - wanted->data) + sizeof(mark) - 1;
	end = at + KEY_ID_LEN;
	for (size_t i = at; i < end; i++)
		if (found[i] < 0x20 || found[i] > 0x7e || found[i] == '"' ||
		    found[i] == '\\')
			return false;
	return memcmp(found, wanted->data, at) == 0 &&
	       memcmp(found + end, wanted->data + end, file->len - end) == 0;
}

static int check_envelope(
    struct verify *v, const struct verify_folder *f, struct error *e)
{
	struct text_out out = { v->envelope, sizeof(v->envelope), 0 };
	__attribute__((cleanup(own_small))) struct small_file file = {
		"record.dsse.json", NULL, 0
	};

	if (read_small(v, f, &file, e) < 0)
		return -1;
	if (file.data == NULL)
		return 0;
	if (dsse_envelope(f->outcome->line, f->outcome->len, v->key, &out, e) <
	    0)
		return -1;
	if (!same_envelope(&file, &out))
		(void)VERIFY_BAD(v, f->place, "results.envelope",
		    "the DSSE envelope of this record", "%s/record.dsse.json",
		    f->name);
	return 0;
}

static int check_receipt(
    struct verify *v, const struct verify_folder *f, struct error *e)
{
	struct heads_one one = { .source = HEAD_RECEIPT,
		.index = f->outcome->seq };
	__attribute__((cleanup(own_small))) struct small_file file = {
		"record.tlog-proof", NULL, 0
	};
	struct note_proof proof;
	struct error why;

	/* Where no sync was promised there was nothing to sign yet. */
	if (f->outcome->fields[ENTRY_DURABILITY].kind != C1_ABSENT &&
	    faccessat(f->dir_fd, file.name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return 0;
	if (read_small(v, f, &file, e) < 0)
		return -1;
	if (file.data == NULL)
		return 0;
	if (note_proof_open(
	        file.data, file.len, &v->summary->pin, &proof, &why) < 0) {
		(void)VERIFY_BAD(v, f->place, "results.receipt",
		    "a tlog-proof signed by the pinned key", "%s: %s", f->name,
		    why.text);
		return 0;
	}
	one.head = proof.head;
	one.proves =
	    proof.index == f->outcome->seq &&
	    tree_includes(&proof.head, proof.index, v->last_leaf, &proof.path);
	/* A head below this record was passed already: it cannot cover it. */
	if (proof.head.size > f->outcome->seq)
		return heads_add(&v->heads, &one, e);
	(void)VERIFY_BAD(v, f->place, "results.receipt",
	    "a tree that holds the record", "%s: size %" PRIu64, f->name,
	    proof.head.size);
	return 0;
}

int verify_result(struct verify *v, const struct entry *outcome,
    const struct report_place *place, struct error *e)
{
	struct verify_folder f = { -1, outcome, place, "" };
	struct file_open what = { v->options->results_fd, f.name,
		O_RDONLY | O_DIRECTORY, 0 };
	const struct c1_value *run = &outcome->fields[ENTRY_REQ];
	uint8_t id[IDMAP_ID];
	struct error why;
	AUTO_FD fd = -1;

	(void)snprintf(f.name, sizeof(f.name), "%.*s", (int)run->len, run->at);
	if (entry_run_id(run, id))
		(void)idmap_drop(&v->folders, id);
	/* What never got as far as output has no folder to answer for. */
	if (outcome->fields[ENTRY_MANIFEST].kind == C1_ABSENT)
		return 0;
	if (file_open_beneath(&what, &fd, &why) < 0) {
		if (why.saved_errno == ENOENT)
			return verify_lost(v, &f, NULL, e);
		(void)VERIFY_BAD(v, place, "results.kind", "a folder", "%s: %s",
		    f.name, why.text);
		return 0;
	}
	f.dir_fd = fd;
	v->summary->results++;
	/* The envelope shows this signature to others, so it must hold. */
	if (!v->options->deep && !verify_signature(v, outcome, v->key, place))
		return 0;
	if (verify_folder(v, &f, e) < 0 || check_envelope(v, &f, e) < 0)
		return -1;
	return check_receipt(v, &f, e);
}

static void run_text(const uint8_t id[IDMAP_ID], char ret[RUN_TEXT])
{
	(void)snprintf(ret, RUN_TEXT, "r_");
	for (size_t i = 0; i < IDMAP_ID; i++)
		(void)snprintf(ret + 2 + 2 * i, 3, "%02x", id[i]);
}

static void judge_loss(
    struct verify *v, const struct verify_loss *l, bool signer_runs)
{
	char run[RUN_TEXT];
	const uint8_t *stopped = idmap_get(&v->boots, l->boot);
	struct report_what what = { VERDICT_TAMPERED, "results.lost", &l->place,
		"every file of MANIFEST" };

	run_text(l->run, run);
	if (l->file[0] == '\0' && signer_runs &&
	    l->place.seq + FRESH_RECORDS >= v->tree.size) {
		what.verdict = VERDICT_BELOW;
		report_add(v->report, &what,
		    "%s is not there yet; the signer runs", run);
		return;
	}
	if (l->set_aside) {
		what.verdict = VERDICT_INCOMPLETE;
		report_add(v->report, &what,
		    "%s was set aside by a crash before it was published", run);
		return;
	}
	if (stopped == NULL || *stopped == 0)
		what.verdict = VERDICT_INCOMPLETE;
	report_add(v->report, &what, "%s/%s is missing or short%s", run,
	    l->file,
	    what.verdict == VERDICT_INCOMPLETE
	        ? ", in a boot without a clean stop"
	        : "");
}

/* What a record explains: a whole folder, or a file of one on its way out. */
static bool is_removed(const struct verify *v, const struct verify_loss *l)
{
	const uint8_t *gone = idmap_get(&v->gone, l->run);

	if (l->file[0] == '\0' && l->place.seq < v->pruned_before)
		return true;
	return gone != NULL && (*gone & (GONE_PRUNED | GONE_RESULTS)) != 0;
}

int verify_results_end(struct verify *v, bool signer_runs, struct error *e)
{
	const uint8_t *id;
	enum promise crashed = v->crashed;
	uint64_t n_pruned = 0;
	size_t at = 0;

	if (v->ended == ENDED_NOT && !signer_runs && v->promise > crashed)
		crashed = v->promise;
	if (idmap_put(&v->boots, v->boot, &v->boot_stopped, e) < 0)
		return -1;
	for (size_t i = 0; i < v->n_losses; i++) {
		const struct verify_loss *l = &v->losses[i];

		if (is_removed(v, l))
			n_pruned += l->file[0] == '\0';
		else
			judge_loss(v, l, signer_runs);
	}
	if (n_pruned > 0)
		report_add(v->report,
		    &(struct report_what){
		        VERDICT_VERIFIED, "results.pruned", NULL, NULL },
		    "%" PRIu64 " folders are gone, and records say so",
		    n_pruned);
	while ((id = idmap_next(&v->folders, &at)) != NULL) {
		struct report_what what = { VERDICT_TAMPERED, "results.unknown",
			NULL, "folders of outcomes in the log" };
		char run[RUN_TEXT];

		run_text(id, run);
		if (crashed > PROMISE_FULL)
			what.verdict = VERDICT_INCOMPLETE;
		report_add(v->report, &what, "%s%s", run,
		    crashed > PROMISE_FULL
		        ? "; a crash may have lost its record, since "
		          "durability was not full"
		        : "");
	}
	return 0;
}
