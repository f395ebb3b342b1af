/*
 * audit/verify_trace.c - the trace that an outcome tells, against what lies in
 * its folder.  Linked by the audit reader; the file is hostile.
 *
 * MANIFEST has the digest of the file, the record that of the lines in it.  A
 * packed file is unpacked to compare the two, and no further than the record
 * says.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify_results.h"
#include "base/file.h"
#include "base/gunzip.h"
#include "base/own.h"
#include "base/sha256.h"

struct trace_told {
	uint64_t bytes;
	uint8_t sha256[SHA256_BYTES];
};

static const struct trace_name {
	const char *name;
	bool is_packed;
} names[] = {
	{ "trace.jsonl", false },
	{ "trace.jsonl.gz", true },
	/* Where it ended while compiling. */
	{ "trace.compile.jsonl", false },
	{ "trace.compile.jsonl.gz", true },
	/* Or while installing libraries. */
	{ "trace.install.jsonl", false },
	{ "trace.install.jsonl.gz", true },
};

struct lines_digest {
	struct sha256 hash;
	uint64_t bytes;
};

static int take(void *context, const void *data, size_t len, struct error *e)
{
	struct lines_digest *d = context;

	(void)e;
	sha256_add(&d->hash, data, len);
	d->bytes += len;
	return 0;
}

/* What cannot be opened was reported with the rest of MANIFEST. */
static int unpacks_to(const struct verify_folder *f, const char *name,
    const struct trace_told *told, bool *ret, struct error *e)
{
	struct lines_digest d = { .bytes = 0 };
	const struct gunzip_sink sink = { take, &d, told->bytes };
	struct file_open what = { f->dir_fd, name, O_RDONLY, 0 };
	uint8_t found[SHA256_BYTES];
	struct error why;
	AUTO_FD fd = -1;

	*ret = true;
	if (file_open_beneath(&what, &fd, &why) < 0)
		return 0;
	sha256_init(&d.hash);
	if (gunzip_fd(fd, &sink, &why) < 0) {
		*ret = false;
		if (why.kind != ERROR_SYSTEM)
			return 0;
		*e = why;
		return FAIL_IN(e, "results/%s/%s", f->name, name);
	}
	sha256_done(&d.hash, found);
	*ret = d.bytes == told->bytes &&
	       memcmp(found, told->sha256, sizeof(found)) == 0;
	return 0;
}

static bool read_told(const struct c1_value *trace, struct trace_told *ret)
{
	struct c1_value sha256 = c1_member(trace, "sha256");
	struct c1_value bytes = c1_member(trace, "bytes");

	return c1_hex(&sha256, ret->sha256, sizeof(ret->sha256)) &&
	       c1_number(&bytes, &ret->bytes);
}

int verify_trace(struct verify *v, const struct verify_folder *f,
    const struct manifest *m, struct error *e)
{
	const struct c1_value *trace = &f->outcome->fields[ENTRY_TRACE];
	char expected[SHA256_HEX];
	struct trace_told told;
	bool same = false;

	if (trace->kind == C1_ABSENT)
		return 0;
	if (trace->kind != C1_OBJECT || !read_told(trace, &told)) {
		(void)VERIFY_BAD(v, f->place, "record.field",
		    "trace, with bytes and sha256", "something else");
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !same; i++) {
		const struct manifest_line *line =
		    manifest_find(m, names[i].name, strlen(names[i].name));

		if (line == NULL)
			continue;
		if (!names[i].is_packed)
			same = memcmp(line->sha256, told.sha256,
			           sizeof(told.sha256)) == 0;
		else if (unpacks_to(f, names[i].name, &told, &same, e) < 0)
			return -1;
	}
	if (same)
		return 0;
	sha256_hex(told.sha256, expected);
	(void)VERIFY_BAD(v, f->place, "results.trace", expected,
	    "%s: no trace of %" PRIu64 " bytes with that digest", f->name,
	    told.bytes);
	return 0;
}
