/*
 * audit/verify_policies.c - the kept text of each policy that a record names.
 * Linked by the audit reader; the folder is hostile.
 *
 * A service keeps the effective text as policies/<its SHA-256>.json, durable
 * before the first record that names it, and looks again at each start.  What
 * else lies there is no evidence and is not looked at.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/verify_results.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

/* Digests that are remembered.  A log that names more has the files of the rest
 * looked at each time: that takes time, and no memory. */
#define POLICIES_MAX 4096

/* The longest effective text that is ever made (policy/effective.c). */
#define POLICY_BYTES_MAX ((size_t)8 << 20)

struct kept_file {
	const struct report_place *place;
	char hex[SHA256_HEX];
	char name[SHA256_HEX + sizeof(".json")];
	bool missing, holds;
};

static int not_regular(struct verify *v, const struct kept_file *k)
{
	(void)VERIFY_BAD(v, k->place, "policies.kind", "a regular file",
	    "policies/%s is something else", k->name);
	return 0;
}

/* *ret_fd stays -1 when the file is missing, or was reported instead.  The
 * first look keeps devices from being opened, the second decides. */
static int open_kept(
    struct verify *v, struct kept_file *k, int *ret_fd, struct error *e)
{
	struct file_open what = { v->options->policies_fd, k->name, O_RDONLY,
		0 };
	struct stat st;
	AUTO_FD fd = -1;

	if (fstatat(what.dir_fd, k->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return FAIL_SYS(e, "policies/%s", k->name);
		k->missing = true;
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return not_regular(v, k);
	if (file_open_beneath(&what, &fd, e) < 0) {
		if (e->saved_errno == ELOOP || e->saved_errno == EXDEV)
			return not_regular(v, k);
		return FAIL_IN(e, "policies/%s", k->name);
	}
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "policies/%s", k->name);
	if (!S_ISREG(st.st_mode))
		return not_regular(v, k);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int check_kept(struct verify *v, const uint8_t digest[SHA256_BYTES],
    struct kept_file *k, struct error *e)
{
	AUTO_FREE uint8_t *data = NULL;
	uint8_t found[SHA256_BYTES];
	char found_hex[SHA256_HEX];
	AUTO_FD fd = -1;
	size_t len;

	sha256_hex(digest, k->hex);
	(void)snprintf(k->name, sizeof(k->name), "%s.json", k->hex);
	if (open_kept(v, k, &fd, e) < 0)
		return -1;
	if (fd < 0)
		return 0;
	if (file_read_all(fd, POLICY_BYTES_MAX, &data, &len, e) < 0) {
		if (e->kind != ERROR_LIMIT)
			return FAIL_IN(e, "policies/%s", k->name);
		(void)VERIFY_BAD(v, k->place, "policies.file", k->hex,
		    "policies/%s: more than %zu bytes", k->name,
		    POLICY_BYTES_MAX);
		return 0;
	}
	sha256_of(data, len, found);
	k->holds = memcmp(found, digest, sizeof(found)) == 0;
	if (k->holds)
		return 0;
	sha256_hex(found, found_hex);
	(void)VERIFY_BAD(v, k->place, "policies.file", k->hex,
	    "policies/%s: %s", k->name, found_hex);
	return 0;
}

static void say_missing(struct verify *v, const struct report_place *place,
    const uint8_t digest[SHA256_BYTES], enum verdict verdict)
{
	struct report_what what = { verdict, "policies.lost", place,
		"the text of each policy that is named" };
	char hex[SHA256_HEX];

	sha256_hex(digest, hex);
	report_add(v->report, &what, "policies/%s.json is missing%s", hex,
	    verdict == VERDICT_INCOMPLETE
	        ? ", last named in a boot without a clean stop"
	        : "");
}

int verify_policy(struct verify *v, const struct entry *entry,
    const struct report_place *place, struct error *e)
{
	struct c1_value text =
	    c1_member(&entry->fields[ENTRY_POLICY], "sha256");
	struct verify_policy one;
	struct kept_file k = { .place = place };
	uint8_t digest[SHA256_BYTES];
	void *known;

	if (!c1_hex(&text, digest, sizeof(digest)))
		return 0;
	v->names_policies = true;
	if (v->options->policies_fd < 0)
		return 0;
	known = idmap_get(&v->policies, digest);
	/* A value lies anywhere in its slot: copied, never pointed into. */
	if (known != NULL)
		memcpy(&one, known, sizeof(one));
	if (known != NULL && memcmp(one.digest, digest, sizeof(digest)) == 0) {
		memcpy(one.boot, entry->boot, sizeof(one.boot));
		memcpy(known, &one, sizeof(one));
		return 0;
	}
	if (check_kept(v, digest, &k, e) < 0)
		return -1;
	if (known == NULL && v->policies.n_used < POLICIES_MAX) {
		memset(&one, 0, sizeof(one));
		memcpy(one.digest, digest, sizeof(digest));
		memcpy(one.boot, entry->boot, sizeof(one.boot));
		one.place = *place;
		one.missing = k.missing;
		v->n_policies += k.holds;
		return idmap_put(&v->policies, digest, &one, e);
	}
	if (k.missing)
		say_missing(v, place, digest, VERDICT_TAMPERED);
	return 0;
}

void verify_policies_end(struct verify *v)
{
	const uint8_t *id;
	size_t at = 0;

	if (v->names_policies && v->options->policies_fd < 0)
		report_add(v->report,
		    &(struct report_what){ VERDICT_BELOW, "policies", NULL,
		        "policies/ beside the results" },
		    "none: the texts of the policies that records name were "
		    "not checked");
	while ((id = idmap_next(&v->policies, &at)) != NULL) {
		const uint8_t *stopped;
		struct verify_policy one;

		memcpy(&one, id + IDMAP_ID, sizeof(one));
		stopped = idmap_get(&v->boots, one.boot);
		if (one.missing)
			say_missing(v, &one.place, one.digest,
			    stopped == NULL || *stopped == 0
			        ? VERDICT_INCOMPLETE
			        : VERDICT_TAMPERED);
	}
}

void verify_say_policies(struct verify *v)
{
	if (v->n_policies > 0)
		report_add(v->report,
		    &(struct report_what){
		        VERDICT_VERIFIED, "policies", NULL, NULL },
		    "%" PRIu64 " policies that records name are kept, each "
		    "under its digest",
		    v->n_policies);
}
