/*
 * executor/layers_prune.c - layers that go.  Linked by the supervisor.  What
 * lies there are directories and files that we made.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/layers.h"

#define SECONDS_UNUSED 3600 /* a service of another policy may have it in use */
#define KEPT_MAX       1024
#define BOOT           ".boot"
#define BOOT_ID        "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_MAX    64

/* Calls 'each' with every entry beneath layers/NAME, directories last. */
static void walk(int layers_fd, const char *name,
    void (*each)(const FTSENT *entry, void *to), void *to)
{
	char path[LAYERS_NAME_MAX + 40];
	char *paths[] = { path, NULL };
	FTS *tree;

	(void)snprintf(
	    path, sizeof(path), "/proc/self/fd/%d/%s", layers_fd, name);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (tree == NULL)
		return;
	for (const FTSENT *at = fts_read(tree); at != NULL; at = fts_read(tree))
		if (at->fts_info != FTS_D)
			each(at, to);
	(void)fts_close(tree);
}

static void remove_entry(const FTSENT *entry, void *to)
{
	(void)to;
	/* What cannot be removed stays for the next start. */
	(void)unlinkat(AT_FDCWD, entry->fts_accpath,
	    entry->fts_info == FTS_DP ? AT_REMOVEDIR : 0);
}

static void add_size(const FTSENT *entry, void *to)
{
	uint64_t *sum = to;

	if (entry->fts_info == FTS_F)
		*sum += (uint64_t)entry->fts_statp->st_size;
}

void layers_drop(int layers_fd, struct layer_making *m)
{
	if (m->name[0] == '\0')
		return;
	own_close(&m->file_fd);
	own_close(&m->list_fd);
	own_close(&m->tree_fd);
	own_close(&m->dir_fd);
	walk(layers_fd, m->name, remove_entry, NULL);
	*m = (struct layer_making){ .name = "",
		.dir_fd = -1,
		.tree_fd = -1,
		.list_fd = -1,
		.file_fd = -1 };
}

struct kept {
	char name[LAYERS_NAME_MAX];
	time_t used;
	uint64_t bytes;
};

static int compare_used(const void *a, const void *b)
{
	const struct kept *k_a = a;
	const struct kept *k_b = b;

	return (k_a->used > k_b->used) - (k_a->used < k_b->used);
}

static time_t last_used(int layers_fd, const char *name)
{
	char list[LAYERS_NAME_MAX + 8];
	struct stat st;

	(void)snprintf(list, sizeof(list), "%s/list", name);
	return fstatat(layers_fd, list, &st, AT_SYMLINK_NOFOLLOW) == 0
	           ? st.st_mtime
	           : 0;
}

static size_t list_layers(int layers_fd, struct kept *to)
{
	int copy = openat(layers_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	size_t n = 0;

	if (dir == NULL) {
		own_close(&copy);
		return 0;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (n < KEPT_MAX && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.' || strlen(d->d_name) >= LAYERS_NAME_MAX)
			continue;
		to[n] = (struct kept){ .bytes = 0 };
		memcpy(to[n].name, d->d_name, strlen(d->d_name) + 1);
		to[n].used = last_used(layers_fd, to[n].name);
		walk(layers_fd, to[n].name, add_size, &to[n].bytes);
		n++;
	}
	(void)closedir(dir);
	return n;
}

/* Layers are not synced when they are made, so those of an earlier boot may be
 * torn where their lists are whole. */
static bool is_of_this_boot(int layers_fd, const char *boot)
{
	const struct file_open what = { layers_fd, BOOT, O_RDONLY, 0 };
	AUTO_FREE uint8_t *text = NULL;
	AUTO_FD fd = -1;
	struct error none;
	size_t len;

	return file_open_beneath(&what, &fd, &none) == 0 &&
	       file_read_all(fd, BOOT_ID_MAX, &text, &len, &none) == 0 &&
	       strcmp((const char *)text, boot) == 0;
}

/* Last, so that a start that dies meanwhile leaves the rest to the next. */
static int mark(int layers_fd, const char *boot, struct error *e)
{
	const struct file_open what = { layers_fd, BOOT,
		O_WRONLY | O_CREAT | O_TRUNC, 0600 };
	AUTO_FD fd = -1;

	if (file_open_beneath(&what, &fd, e) < 0 ||
	    file_write_all(fd, boot, strlen(boot), e) < 0)
		return FAIL_IN(e, "layers/" BOOT);
	return 0;
}

static int forget_earlier_boots(
    int layers_fd, struct kept *kept, struct error *e)
{
	AUTO_FREE uint8_t *boot = NULL;
	AUTO_FD fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	size_t len;

	if (fd < 0)
		return FAIL_SYS(e, "open " BOOT_ID);
	if (file_read_all(fd, BOOT_ID_MAX, &boot, &len, e) < 0)
		return FAIL_IN(e, BOOT_ID);
	if (is_of_this_boot(layers_fd, (const char *)boot))
		return 0;
	for (size_t n = list_layers(layers_fd, kept); n > 0; n--)
		walk(layers_fd, kept[n - 1].name, remove_entry, NULL);
	if (list_layers(layers_fd, kept) > 0)
		return FAIL(e, ERROR_STATE,
		    "layers of an earlier boot cannot be removed; remove what "
		    "is in layers/ of the state directory");
	return mark(layers_fd, (const char *)boot, e);
}

static void remove_unused(int layers_fd, struct kept *kept)
{
	time_t long_ago = time(NULL) - SECONDS_UNUSED;
	uint64_t sum = 0;
	size_t n = list_layers(layers_fd, kept);

	qsort(kept, n, sizeof(*kept), compare_used);
	for (size_t i = 0; i < n; i++)
		sum += kept[i].bytes;
	for (size_t i = 0; i < n && kept[i].used < long_ago; i++) {
		bool is_half = strncmp(kept[i].name, "new-", 4) == 0;

		if (!is_half && sum <= LAYERS_BYTES_MAX)
			continue;
		sum -= kept[i].bytes;
		walk(layers_fd, kept[i].name, remove_entry, NULL);
	}
}

/* Another service of this state may begin at the same time. */
static int prune(int layers_fd, struct kept *kept, struct error *e)
{
	int failed;

	if (flock(layers_fd, LOCK_EX) < 0)
		return FAIL_SYS(e, "lock layers/");
	failed = forget_earlier_boots(layers_fd, kept, e);
	if (failed == 0)
		remove_unused(layers_fd, kept);
	(void)flock(layers_fd, LOCK_UN);
	return failed;
}

int layers_prune(int layers_fd, struct error *e)
{
	struct kept *kept = calloc(KEPT_MAX, sizeof(*kept));
	int failed;

	if (kept == NULL)
		return FAIL_SYS(e, "list layers");
	failed = prune(layers_fd, kept, e);
	free(kept);
	return failed;
}
