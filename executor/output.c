/*
 * executor/output.c - the accounting of executor/output.h.  Linked by the
 * supervisor.
 */
#include "executor/output.h"

#include <string.h>

#include "base/file.h"
#include "base/own.h"

void output_init(struct output *o, int take_file_fd, uint64_t head_max)
{
	memset(o, 0, sizeof(*o));
	o->file_fd = take_file_fd;
	o->head_max = head_max;
	sha256_init(&o->hash);
}

/* The digest of the head is that of everything up to here. */
static void close_head(struct output *o)
{
	struct sha256 so_far = o->hash;

	o->head_closed = true;
	sha256_done(&so_far, o->head_sha256);
}

static size_t add_to_head(struct output *o, const uint8_t *data, size_t len)
{
	uint64_t room = o->head_max - o->head_size;
	size_t n = len < room ? len : (size_t)room;
	size_t done = 0;

	while (done < n) {
		ssize_t wrote = write(o->file_fd, data + done, n - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			o->file_errno = wrote < 0 ? errno : ENOSPC;
			break;
		}
		done += (size_t)wrote;
	}
	sha256_add(&o->hash, data, done);
	o->head_size += done;
	return done;
}

static void add_to_tail(struct output *o, const uint8_t *data, size_t len)
{
	uint64_t after_head = o->total - o->head_size;

	if (o->tail == NULL && !o->tail_lost) {
		o->tail = malloc(OUTPUT_TAIL_MAX);
		o->tail_lost = o->tail == NULL;
	}
	if (o->tail == NULL)
		return;
	if (len > OUTPUT_TAIL_MAX) {
		data += len - OUTPUT_TAIL_MAX;
		after_head += len - OUTPUT_TAIL_MAX;
		len = OUTPUT_TAIL_MAX;
	}
	while (len > 0) {
		size_t at = (size_t)(after_head % OUTPUT_TAIL_MAX);
		size_t n = OUTPUT_TAIL_MAX - at;

		n = n < len ? n : len;
		memcpy(o->tail + at, data, n);
		data += n;
		after_head += n;
		len -= n;
	}
}

void output_add(struct output *o, const void *from, size_t len)
{
	const uint8_t *data = from;

	if (!o->head_closed) {
		size_t kept = add_to_head(o, data, len);

		data += kept;
		len -= kept;
		o->total += kept;
	}
	if (len == 0)
		return;
	if (!o->head_closed)
		close_head(o);
	add_to_tail(o, data, len);
	sha256_add(&o->hash, data, len);
	o->total += len;
}

void output_end(struct output *o)
{
	if (!o->head_closed)
		close_head(o);
	sha256_done(&o->hash, o->total_sha256);
}

size_t output_tail_size(const struct output *o)
{
	uint64_t after_head = o->total - o->head_size;

	if (o->tail == NULL)
		return 0;
	return after_head < OUTPUT_TAIL_MAX ? (size_t)after_head
	                                    : OUTPUT_TAIL_MAX;
}

void output_tail(const struct output *o, uint8_t *to)
{
	uint64_t after_head = o->total - o->head_size;
	size_t size = output_tail_size(o);
	size_t from = (size_t)((after_head - size) % OUTPUT_TAIL_MAX);
	size_t first = OUTPUT_TAIL_MAX - from;

	if (size == 0)
		return;
	first = first < size ? first : size;
	memcpy(to, o->tail + from, first);
	memcpy(to + first, o->tail, size - first);
}

int output_restart(struct output *o, struct error *e)
{
	int fd = o->file_fd;
	uint64_t max = o->head_max;

	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return FAIL_SYS(e, "empty a result file");
	free(o->tail);
	output_init(o, fd, max);
	return 0;
}

void output_done(struct output *o)
{
	own_close(&o->file_fd);
	o->file_fd = -1;
	free(o->tail);
	o->tail = NULL;
}
