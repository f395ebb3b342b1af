/*
 * cli/results.c - LIST and OPEN, and artifacts on their way to the caller's
 * directory.  Linked by `bailiff`.  Names were chosen by hostile code: they are
 * decoded once, checked by component and opened beneath one descriptor.
 */
#include "cli/results.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/say.h"

#define ENTRIES_MAX 65536
#define REQUEST     2 /* any number but that of the run */
#define FILES       "files/"

static int ask(struct front *f, enum protocol_verb verb, const char *run_id,
    const char *name, struct error *e)
{
	/* Of a run of this very channel, if it is one: the service looks. */
	struct protocol_open m = { .request = REQUEST,
		.purpose = PROTOCOL_OWN };

	if (strlen(run_id) >= sizeof(m.run_id))
		return FAIL(e, ERROR_USAGE,
		    "%.64s is no run id; one is r_ and 32 hex digits", run_id);
	if (strlen(name) >= sizeof(m.name))
		return FAIL(e, ERROR_USAGE, "%.64s...: name too long", name);
	memcpy(m.run_id, run_id, strlen(run_id) + 1);
	memcpy(m.name, name, strlen(name) + 1);
	return front_send(f, verb, &m, NULL, e);
}

static int add(struct results_list *list, const struct protocol_entry *entry,
    struct error *e)
{
	struct results_entry *item;

	if (list->n == list->cap) {
		size_t cap = list->cap == 0 ? 64 : 2 * list->cap;
		struct results_entry *more =
		    cap <= ENTRIES_MAX
		        ? realloc(list->items, cap * sizeof(*more))
		        : NULL;

		if (more == NULL)
			return FAIL(e, ERROR_LIMIT, "too many names to list");
		list->items = more;
		list->cap = cap;
	}
	item = &list->items[list->n++];
	memcpy(item->name, entry->name, sizeof(item->name));
	item->size = entry->size;
	memcpy(item->type, entry->type, sizeof(item->type));
	item->width = entry->width;
	item->height = entry->height;
	item->is_plot = entry->is_plot != 0;
	return 0;
}

int results_list(struct front *f, const char *run_id, struct results_list *ret,
    struct error *e)
{
	struct results_list list = { 0 };

	if (ask(f, PROTOCOL_LIST, run_id, "", e) < 0)
		return -1;
	for (;;) {
		AUTO_FD fd = -1;
		uint16_t verb;
		int failed = front_receive(f, &verb, &fd, e);

		if (failed == 0 && verb == PROTOCOL_LISTED)
			break;
		if (failed == 0 && verb == PROTOCOL_ENTRY)
			failed = add(&list, &f->reply.entry, e);
		else if (failed == 0 && verb == PROTOCOL_FAILED)
			failed = front_failed(&f->reply.failed, e);
		else if (failed == 0)
			failed = FAIL(e, ERROR_MALFORMED,
			    "the service said %s to list",
			    wire_verb_name(&protocol_reply, verb));
		if (failed < 0) {
			results_list_done(&list);
			return -1;
		}
	}
	*ret = list;
	return 0;
}

void results_list_done(struct results_list *list)
{
	free(list->items);
	*list = (struct results_list){ 0 };
}

int results_open(struct front *f, const char *run_id, const char *name,
    int *ret_fd, struct error *e)
{
	AUTO_FD fd = -1;

	if (ask(f, PROTOCOL_OPEN, run_id, name, e) < 0 ||
	    front_expect(f, PROTOCOL_OPENED, &fd, e) < 0)
		return -1;
	if (fd < 0)
		return FAIL(e, ERROR_MALFORMED, "%s: no descriptor came", name);
	*ret_fd = take_fd(&fd);
	return 0;
}

int results_target(const char *path, int *ret_fd, struct error *e)
{
	int fd;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "--out %s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return FAIL_SYS(e, "--out %s", path);
	*ret_fd = fd;
	return 0;
}

/* No empty, "." or ".." component, no NUL: "a", "a/b". */
static bool is_clean(const char *name, size_t len)
{
	const char *at = name;

	if (len == 0 || strlen(name) != len)
		return false;
	for (;;) {
		size_t n = strcspn(at, "/");

		if (n == 0 || (n == 1 && at[0] == '.') ||
		    (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (at[n] == '\0')
			return true;
		at += n + 1;
	}
}

/*
 * Walk to the directory that is to hold 'name', component by component, making
 * what is missing and following no link.  *ret_last points into 'name'.
 */
static int walk(
    int dir_fd, char *name, int *ret_fd, const char **ret_last, struct error *e)
{
	AUTO_FD fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	char *slash;

	if (fd < 0)
		return FAIL_SYS(e, "duplicate");
	for (; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		int next;

		*slash = '\0';
		if (mkdirat(fd, name, 0777) < 0 && errno != EEXIST)
			return FAIL_SYS(e, "make directory %s", name);
		next = openat(
		    fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return FAIL_SYS(e, "open directory %s", name);
		(void)close(fd);
		fd = next;
	}
	*ret_fd = take_fd(&fd);
	*ret_last = name;
	return 0;
}

static int copy(int from, int to, struct error *e)
{
	char buffer[4096];

	for (;;) {
		ssize_t got = read(from, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read the result");
		if (got == 0)
			return 0;
		if (file_write_all(to, buffer, (size_t)got, e) < 0)
			return -1;
	}
}

/* One artifact; 'encoded' stands behind "files/".  Whole or not at all. */
static int write_one(
    int from_fd, int dir_fd, const char *encoded, struct error *e)
{
	char name[PROTOCOL_RESULT_NAME_MAX];
	AUTO_FD parent_fd = -1;
	AUTO_FD fd = -1;
	const char *last;
	size_t len;

	if (text_percent_decode(encoded, name, sizeof(name), &len, e) < 0)
		return -1;
	if (!is_clean(name, len))
		return FAIL(e, ERROR_MALFORMED, "no name for a file");
	if (walk(dir_fd, name, &parent_fd, &last, e) < 0)
		return -1;
	fd = openat(parent_fd, last,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return FAIL_SYS(e, "not written");
	if (copy(from_fd, fd, e) == 0)
		return 0;
	(void)unlinkat(parent_fd, last, 0);
	return FAIL_IN(e, "not written");
}

int results_export(struct front *f, const char *run_id, int dir_fd,
    size_t *ret_failed, struct error *e)
{
	struct results_list list;

	*ret_failed = 0;
	if (results_list(f, run_id, &list, e) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		const char *name = list.items[i].name;
		AUTO_FD fd = -1;

		if (strncmp(name, FILES, sizeof(FILES) - 1) != 0)
			continue;
		if (results_open(f, run_id, name, &fd, e) < 0 ||
		    write_one(fd, dir_fd, name + sizeof(FILES) - 1, e) < 0) {
			(*ret_failed)++;
			say_line(
			    "--out: %s: %s", name + sizeof(FILES) - 1, e->text);
		}
	}
	results_list_done(&list);
	return 0;
}
