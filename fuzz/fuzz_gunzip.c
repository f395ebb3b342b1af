/* fuzz/fuzz_gunzip.c - a gzip file from nobody knows where: what comes out stays
 * within its bound, the same every time, and what zlib packs comes back. */
#include <string.h>
#include <zlib.h>

#include "base/gunzip.h"
#include "fuzz/fuzz.h"

#define BOUND 100000

struct seen {
	uint64_t total;
	uint32_t sum;
};

static int take(void *context, const void *data, size_t len, struct error *e)
{
	struct seen *s = context;

	(void)e;
	MUST(len > 0);
	s->total += len;
	MUST(s->total <= BOUND);
	s->sum = (uint32_t)crc32(s->sum, data, (uInt)len);
	return 0;
}

static int unpack(const void *data, size_t len, struct seen *ret)
{
	const struct gunzip_sink sink = { take, ret, BOUND };
	struct error e = { 0 };

	*ret = (struct seen){ 0, 0 };
	if (gunzip_bytes(data, len, &sink, &e) == 0)
		return 0;
	MUST(e.kind == ERROR_MALFORMED || e.kind == ERROR_LIMIT);
	return -1;
}

static void check_round_trip(const uint8_t *data, size_t size)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)data,
		.avail_in = (uInt)size };
	size_t cap = size + 1024;
	unsigned char *packed = malloc(cap);
	struct seen seen;
	size_t len;

	MUST(packed != NULL);
	MUST(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8,
	         Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_out = packed;
	z.avail_out = (uInt)cap;
	MUST(deflate(&z, Z_FINISH) == Z_STREAM_END);
	len = cap - z.avail_out;
	MUST(deflateEnd(&z) == Z_OK);
	MUST(unpack(packed, len, &seen) == (size <= BOUND ? 0 : -1));
	MUST(size > BOUND ||
	     (seen.total == size && seen.sum == crc32(0, data, (uInt)size)));
	MUST(unpack(packed, len - 1, &seen) == -1);
	packed[len] = 'x';
	MUST(unpack(packed, len + 1, &seen) == -1);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen once, again;
	int how = unpack(data, size, &once);

	MUST(unpack(data, size, &again) == how);
	MUST(once.total == again.total && once.sum == again.sum);
	check_round_trip(data, size);
	return 0;
}
