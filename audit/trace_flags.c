/*
 * audit/trace_flags.c - numbers to words.  Linked by bailiff-audit.
 */
#include "audit/trace_flags.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct word {
	uint64_t mask, value;
	const char *name;
};

static const struct word open_words[] = {
	{ O_ACCMODE, O_RDONLY, "RDONLY" },
	{ O_ACCMODE, O_WRONLY, "WRONLY" },
	{ O_ACCMODE, O_RDWR, "RDWR" },
	{ O_CREAT, O_CREAT, "CREAT" },
	{ O_EXCL, O_EXCL, "EXCL" },
	{ O_TRUNC, O_TRUNC, "TRUNC" },
	{ O_APPEND, O_APPEND, "APPEND" },
	{ O_NONBLOCK, O_NONBLOCK, "NONBLOCK" },
	{ O_DIRECTORY, O_DIRECTORY, "DIRECTORY" },
	{ O_NOFOLLOW, O_NOFOLLOW, "NOFOLLOW" },
	{ O_CLOEXEC, O_CLOEXEC, "CLOEXEC" },
	{ O_PATH, O_PATH, "PATH" },
};
static const struct word protection_words[] = {
	{ PROT_READ, PROT_READ, "READ" },
	{ PROT_WRITE, PROT_WRITE, "WRITE" },
	{ PROT_EXEC, PROT_EXEC, "EXEC" },
};
static const struct word family_words[] = {
	{ UINT64_MAX, AF_UNIX, "UNIX" },
	{ UINT64_MAX, AF_INET, "INET" },
	{ UINT64_MAX, AF_INET6, "INET6" },
	{ UINT64_MAX, AF_NETLINK, "NETLINK" },
	{ UINT64_MAX, AF_PACKET, "PACKET" },
};
static const struct word type_words[] = {
	{ 15, SOCK_STREAM, "STREAM" },
	{ 15, SOCK_DGRAM, "DGRAM" },
	{ 15, SOCK_RAW, "RAW" },
	{ 15, SOCK_SEQPACKET, "SEQPACKET" },
	{ SOCK_CLOEXEC, SOCK_CLOEXEC, "CLOEXEC" },
	{ SOCK_NONBLOCK, SOCK_NONBLOCK, "NONBLOCK" },
};

#define SIGNALS_MAX 64 /* of the kernel */
#define WORDS(a)    a, sizeof(a) / sizeof((a)[0])

/* Which argument of which call has which words. */
static const struct row {
	const char *call;
	int argument;
	const struct word *words; /* NULL: a signal */
	size_t n;
} rows[] = {
	{ "open", 1, WORDS(open_words) },
	{ "openat", 2, WORDS(open_words) },
	{ "mmap", 2, WORDS(protection_words) },
	{ "mprotect", 2, WORDS(protection_words) },
	{ "pkey_mprotect", 2, WORDS(protection_words) },
	{ "socket", 0, WORDS(family_words) },
	{ "socket", 1, WORDS(type_words) },
	{ "kill", 1, NULL, 0 },
	{ "tkill", 1, NULL, 0 },
	{ "tgkill", 2, NULL, 0 },
};

static int put_words(
    const struct row *r, uint64_t value, struct text_out *out, struct error *e)
{
	bool first = true;

	for (size_t i = 0; i < r->n; i++) {
		if ((value & r->words[i].mask) != r->words[i].value)
			continue;
		if (text_printf(
		        out, e, first ? " %s" : "|%s", r->words[i].name) < 0)
			return -1;
		first = false;
	}
	return first ? text_printf(out, e, " 0x%" PRIx64, value) : 0;
}

int trace_flags(const char *call, const uint64_t args[6], struct text_out *out,
    struct error *e)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		uint64_t value = args[r->argument];
		const char *name;

		if (strcmp(call, r->call) != 0)
			continue;
		if (r->words != NULL) {
			if (put_words(r, value, out, e) < 0)
				return -1;
			continue;
		}
		name = value <= SIGNALS_MAX ? sigabbrev_np((int)value) : NULL;
		if (name != NULL && text_printf(out, e, " SIG%s", name) < 0)
			return -1;
	}
	return 0;
}
