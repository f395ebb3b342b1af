/*
 * fuzz/fuzz_index.c - an index that anybody may have written: lookups end, and
 * a path that comes of it is no longer than a proof may be.  The first two bytes
 * of an input say how it is cut into the three files.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/index_read.h"
#include "fuzz/fuzz.h"

static void fill(int *fd, const uint8_t *data, size_t len)
{
	*fd = memfd_create("index", MFD_CLOEXEC);
	MUST(*fd >= 0 && write(*fd, data, len) == (ssize_t)len);
}

static void look_up(const struct index_read *x, uint64_t size)
{
	uint8_t tag[INDEX_TAG] = { 0 };
	struct index_place place;
	struct tree_path path;
	struct error e;
	bool found = true;

	for (uint64_t seq = 0; seq < size; seq += 1 + seq / 2) {
		if (index_read_path(x, seq, size, &path, &e) == 0)
			MUST(path.n_hashes <= TREE_PROOF_MAX);
		if (index_read_place(x, seq, &place, &e) == 0)
			MUST(place.records <= seq &&
			     seq - place.records < INDEX_BLOCK);
	}
	for (uint64_t seq = size; found && seq > 0;) {
		uint64_t before = seq;

		if (index_read_tag(x, tag, &seq, &found, &e) < 0)
			break;
		MUST(seq < before);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index_read x;
	size_t first, second;

	if (size < 2)
		return 0;
	first = (size - 2) * data[0] / 256;
	second = (size - 2 - first) * data[1] / 256;
	fill(&x.fds[INDEX_LEAVES], data + 2, first);
	fill(&x.fds[INDEX_RUNS], data + 2 + first, second);
	fill(&x.fds[INDEX_BLOCKS], data + 2 + first + second,
	    size - 2 - first - second);
	look_up(&x, 1);
	look_up(&x, first / TREE_HASH);
	look_up(&x, 300);
	index_read_close(&x);
	return 0;
}
