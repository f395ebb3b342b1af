/*
 * executor/retention.c - looks through results/ for what is no longer kept.
 * Linked by the supervisor.  Reads what the supervisor itself wrote; a folder
 * that is not of that form is nobody's and stays.
 */
#include "executor/retention.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/own.h"
#include "executor/result_text.h"

#define LAST_FILE "MANIFEST"
#define ID_LEN    (2 + 2 * (size_t)EVENT_RUN_BYTES)

int retention_begin(struct retention *r, int results_fd, struct error *e)
{
	int fd = openat(results_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	retention_end(r);
	r->bytes = 0;
	r->n = 0;
	r->youngest = 0;
	r->is_full = false;
	r->dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (r->dir != NULL)
		return 0;
	own_close(&fd);
	return FAIL_SYS(e, "look through the results");
}

void retention_end(struct retention *r)
{
	if (r->dir != NULL)
		(void)closedir(r->dir);
	r->dir = NULL;
}

static bool parse_id(const char *name, uint8_t ret[EVENT_RUN_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(name) != ID_LEN || name[0] != 'r' || name[1] != '_' ||
	    strspn(name + 2, digits) != ID_LEN - 2)
		return false;
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++) {
		const char *pair = name + 2 + 2 * i;

		ret[i] = (uint8_t)((strchr(digits, pair[0]) - digits) << 4 |
		                   (strchr(digits, pair[1]) - digits));
	}
	return true;
}

/* Of the files beside files/, which result.json sums up. */
static uint64_t top_bytes(int folder_fd)
{
	int copy = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	uint64_t sum = 0;
	struct stat st;

	if (dir == NULL) {
		own_close(&copy);
		return 0;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while ((d = readdir(dir)) != NULL)
		if (fstatat(folder_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
		        0 &&
		    S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	(void)closedir(dir);
	return sum;
}

/* True when it is a whole result of a policy of that name. */
static bool measure(
    int folder_fd, const char *policy, struct retention_folder *ret)
{
	const struct file_open what = { folder_fd, "result.json", O_RDONLY, 0 };
	AUTO_FREE uint8_t *text = NULL;
	AUTO_FD fd = -1;
	struct stat st;
	struct error no;
	uint64_t files;
	size_t len;

	if (file_open_beneath(&what, &fd, &no) < 0 ||
	    file_read_all(fd, RESULT_JSON_MAX, &text, &len, &no) < 0 ||
	    !result_json_is_of((const char *)text, policy) ||
	    result_json_files((const char *)text, &files, &no) < 0 ||
	    fstatat(folder_fd, LAST_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	ret->when_s = st.st_mtime > 0 ? (uint64_t)st.st_mtime : 0;
	ret->bytes = files + top_bytes(folder_fd);
	return true;
}

static void find_youngest(struct retention *r)
{
	r->youngest = 0;
	for (size_t i = 1; i < r->n; i++)
		if (r->oldest[i].when_s > r->oldest[r->youngest].when_s)
			r->youngest = i;
}

static void remember(struct retention *r, const struct retention_folder *f)
{
	r->bytes += f->bytes;
	if (r->n < RETENTION_OLDEST_MAX) {
		r->oldest[r->n++] = *f;
		if (r->n == RETENTION_OLDEST_MAX)
			find_youngest(r);
		return;
	}
	r->is_full = true;
	if (f->when_s >= r->oldest[r->youngest].when_s)
		return;
	r->oldest[r->youngest] = *f;
	find_youngest(r);
}

static int compare(const void *a, const void *b)
{
	const struct retention_folder *x = a;
	const struct retention_folder *y = b;

	if (x->when_s != y->when_s)
		return x->when_s < y->when_s ? -1 : 1;
	return memcmp(x->run, y->run, sizeof(x->run));
}

int retention_look(struct retention *r, const struct retention_rules *rules,
    size_t budget, bool *ret_more, struct error *e)
{
	for (size_t i = 0; i < budget; i++) {
		struct retention_folder f = { .is_chosen = false };
		struct file_open what = { dirfd(r->dir), NULL,
			O_RDONLY | O_DIRECTORY, 0 };
		const struct dirent *d;
		AUTO_FD fd = -1;
		struct error no;

		errno = 0;
		d = readdir(r->dir); /* NOLINT(concurrency-mt-unsafe) */
		if (d == NULL && errno != 0)
			return FAIL_SYS(e, "look through the results");
		if (d == NULL) {
			qsort(r->oldest, r->n, sizeof(r->oldest[0]), compare);
			*ret_more = false;
			return 0;
		}
		what.path = d->d_name;
		if (parse_id(d->d_name, f.run) &&
		    file_open_beneath(&what, &fd, &no) == 0 &&
		    measure(fd, rules->policy, &f))
			remember(r, &f);
	}
	*ret_more = true;
	return 0;
}

/* Oldest first, so that the first that may stay ends the search. */
static bool may_go(const struct retention *r,
    const struct retention_rules *rules, const struct retention_folder *f,
    uint64_t now_s, enum prune_reason reason)
{
	uint64_t age_s = now_s > f->when_s ? now_s - f->when_s : 0;

	if (age_s < RETENTION_FLOOR_S)
		return false;
	return reason == PRUNE_AGE ? age_s > rules->keep_s
	                           : r->bytes > rules->max_bytes;
}

size_t retention_choose(struct retention *r,
    const struct retention_rules *rules, uint64_t now_s,
    struct event_prune *ret)
{
	static const enum prune_reason reasons[] = { PRUNE_AGE, PRUNE_BYTES };

	for (size_t k = 0; k < 2; k++) {
		ret->runs.n = 0;
		ret->bytes = 0;
		ret->reason = reasons[k];
		for (size_t i = 0; i < r->n && ret->runs.n < EVENT_BATCH_MAX;
		     i++) {
			struct retention_folder *f = &r->oldest[i];

			if (f->is_chosen)
				continue;
			if (!may_go(r, rules, f, now_s, reasons[k]))
				break;
			f->is_chosen = true;
			r->bytes -= f->bytes;
			ret->bytes += f->bytes;
			memcpy(ret->runs.items[ret->runs.n++].run, f->run,
			    sizeof(f->run));
		}
		if (ret->runs.n > 0)
			return (size_t)ret->runs.n;
	}
	return 0;
}
