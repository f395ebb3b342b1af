/*
 * executor/results.c - reads result folders for their principals.  Linked by
 * the supervisor.  Run ids and names come from a hostile front; the folders
 * are ours alone.
 */
#include "executor/results.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"
#include "executor/removal.h"
#include "executor/result_text.h"

#define MANIFEST_MAX (8u << 20)
#define DAY_TEXT     16

/* A line of MANIFEST: 64 digits, two spaces, the name. */
enum {
	NAME_AT = 66
};

/* What lies beside the files that MANIFEST lists. */
static const char *const beside[] = { "MANIFEST", "record.dsse.json",
	"record.tlog-proof" };
#define N_BESIDE (sizeof(beside) / sizeof(beside[0]))

struct results_list {
	int folder_fd;  /* owned */
	char *manifest; /* owned */
	char *json;     /* owned: result.json, as far as it could be read */
	const char *item, *last_item; /* in it; NULL: no list */
	size_t at, last; /* offset of the next line, of the one before */
	size_t n_beside;
	uint64_t count;
};

static bool is_run_id(const char *text)
{
	return strlen(text) == PROTOCOL_RUN_ID_MAX - 1 &&
	       strncmp(text, "r_", 2) == 0 &&
	       strspn(text + 2, "0123456789abcdef") == PROTOCOL_RUN_ID_MAX - 3;
}

/* 2026-12-01, of seconds since 1970 in UTC; our own calendar, since gmtime_r
 * reads the zone file of the host (Howard Hinnant, "chrono-compatible low-level
 * date algorithms"). */
static void write_day(uint64_t when_s, char ret[DAY_TEXT])
{
	uint64_t days = when_s / 86400 + 719468;
	uint64_t of_era = days % 146097;
	uint64_t year =
	    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153; /* 0 is March */
	uint64_t day = of_year - (153 * month + 2) / 5 + 1;

	year += days / 146097 * 400 + (month >= 10 ? 1 : 0);
	month = month >= 10 ? month - 9 : month + 3;
	(void)snprintf(ret, DAY_TEXT, "%04u-%02u-%02u",
	    (unsigned)(year % 10000), (unsigned)(month % 100),
	    (unsigned)(day % 100));
}

/* Of those that a record names as removed, their principal is told so. */
static int deny(
    const struct results_who *who, struct error *e, const char *run_id)
{
	struct removal_note note;
	char day[DAY_TEXT];

	if (is_run_id(run_id) && removal_find(who->results_fd, run_id, &note) &&
	    (who->uid == 0 || who->uid == note.uid)) {
		write_day(note.when_s, day);
		return FAIL(e, ERROR_DENIED,
		    "the results of run %.40s were removed on %s (%s); the "
		    "log has their record",
		    run_id, day,
		    strcmp(note.why, "redact") == 0 ? "redacted" : note.why);
	}
	return FAIL(e, ERROR_DENIED,
	    "no result of run '%.40s' for you; look at the run id", run_id);
}

static int open_file(
    int dir_fd, const char *name, int flags, int *ret_fd, struct error *e)
{
	const struct file_open what = { dir_fd, name, flags, 0 };

	return file_open_beneath(&what, ret_fd, e);
}

static int read_text(
    int folder_fd, const char *name, size_t max, char **ret, struct error *e)
{
	AUTO_FD fd = -1;
	uint8_t *data;
	size_t len;

	if (open_file(folder_fd, name, O_RDONLY, &fd, e) < 0 ||
	    file_read_all(fd, max, &data, &len, e) < 0)
		return -1;
	*ret = (char *)data;
	return 0;
}

static int open_folder(const struct results_who *who, const char *run_id,
    int *ret_fd, struct error *e)
{
	AUTO_FD fd = -1;
	AUTO_FREE char *text = NULL;
	struct error hidden;
	uint32_t uid;

	if (!is_run_id(run_id) || open_file(who->results_fd, run_id,
	                              O_RDONLY | O_DIRECTORY, &fd, &hidden) < 0)
		return deny(who, e, run_id);
	if (who->uid != 0 &&
	    (read_text(fd, "result.json", RESULT_JSON_MAX, &text, &hidden) <
	            0 ||
	        result_json_uid(text, &uid, &hidden) < 0 || uid != who->uid))
		return deny(who, e, run_id);
	*ret_fd = take_fd(&fd);
	return 0;
}

uint32_t results_owner(int results_fd, const char *run_id)
{
	const struct results_who root = { results_fd, 0 };
	AUTO_FD fd = -1;
	AUTO_FREE char *text = NULL;
	struct error no;
	uint32_t uid;

	if (open_folder(&root, run_id, &fd, &no) < 0 ||
	    read_text(fd, "result.json", RESULT_JSON_MAX, &text, &no) < 0 ||
	    result_json_uid(text, &uid, &no) < 0)
		return 0;
	return uid;
}

int results_open(const struct results_who *who,
    const struct protocol_open *what, int *ret_fd, uint64_t *ret_size,
    struct error *e)
{
	AUTO_FD folder_fd = -1;
	AUTO_FD fd = -1;
	struct stat st;
	struct error hidden;

	if (open_folder(who, what->run_id, &folder_fd, e) < 0)
		return -1;
	if (open_file(folder_fd, what->name, O_RDONLY, &fd, &hidden) < 0 ||
	    fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return FAIL(e, ERROR_DENIED,
		    "run %s has no result of that name; list its names",
		    what->run_id);
	*ret_size = (uint64_t)st.st_size;
	*ret_fd = take_fd(&fd);
	return 0;
}

int results_list(const struct results_who *who, const char *run_id,
    struct results_list **ret, struct error *e)
{
	AUTO_FD folder_fd = -1;
	struct results_list *l;
	struct error untold;

	if (open_folder(who, run_id, &folder_fd, e) < 0)
		return -1;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return FAIL_SYS(e, "list results");
	l->folder_fd = take_fd(&folder_fd);
	if (read_text(l->folder_fd, "MANIFEST", MANIFEST_MAX, &l->manifest, e) <
	    0) {
		results_list_free(l);
		return FAIL_IN(e, "MANIFEST of %s", run_id);
	}
	/* Without it the types are missing, not the names. */
	if (read_text(l->folder_fd, "result.json", RESULT_JSON_MAX, &l->json,
	        &untold) == 0)
		l->item = result_files_first(l->json);
	*ret = l;
	return 0;
}

/* Lower-case hex digits, which the supervisor itself wrote. */
static void read_digest(const char *line, uint8_t ret[SHA256_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		const char *high = strchr(digits, line[2 * i]);
		const char *low = strchr(digits, line[2 * i + 1]);

		ret[i] = high != NULL && low != NULL
		             ? (uint8_t)((high - digits) << 4 | (low - digits))
		             : 0;
	}
}

/* What result.json says of that file, or nothing. */
static void put_type(
    struct results_list *l, struct protocol_entry *ret, const char *name)
{
	static const size_t n = sizeof(RESULT_FILES) - 1;
	struct result_listed is = { .type = "" };

	if (name != NULL && l->item != NULL &&
	    strncmp(name, RESULT_FILES, n) == 0)
		(void)result_files_next(&l->item, name + n, &is);
	_Static_assert(sizeof(ret->type) >= sizeof(is.type), "a type fits");
	memcpy(ret->type, is.type, sizeof(is.type));
	ret->width = is.width;
	ret->height = is.height;
	ret->is_plot = is.is_plot;
}

bool results_list_next(struct results_list *l, struct protocol_entry *ret)
{
	const char *line = l->manifest + l->at;
	size_t n = strcspn(line, "\n");
	struct stat st;

	l->last = l->at;
	l->last_item = l->item;
	put_type(l, ret, NULL);
	if (n > NAME_AT && n - NAME_AT < sizeof(ret->name)) {
		memcpy(ret->name, line + NAME_AT, n - NAME_AT);
		ret->name[n - NAME_AT] = '\0';
		read_digest(line, ret->sha256);
		put_type(l, ret, ret->name);
		l->at += n + (line[n] == '\n');
	} else if (l->n_beside < N_BESIDE) {
		const char *name = beside[l->n_beside++];

		memcpy(ret->name, name, strlen(name) + 1);
		memset(ret->sha256, 0, sizeof(ret->sha256));
	} else {
		return false;
	}
	if (fstatat(l->folder_fd, ret->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	ret->size = (uint64_t)st.st_size;
	l->count++;
	return true;
}

void results_list_back(struct results_list *l)
{
	if (l->at != l->last)
		l->at = l->last;
	else
		l->n_beside--;
	l->item = l->last_item;
	l->count--;
}

uint64_t results_list_count(const struct results_list *l)
{
	return l->count;
}

void results_list_free(struct results_list *l)
{
	if (l == NULL)
		return;
	own_close(&l->folder_fd);
	free(l->manifest);
	free(l->json);
	free(l);
}
