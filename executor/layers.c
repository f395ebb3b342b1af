/*
 * executor/layers.c - the store of layers.  Linked by the supervisor.  Nobody
 * else writes beneath it; names of files in a layer are hostile bytes.
 */
#include "executor/layers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define FRESH "new-"

static int open_directory(
    int dir_fd, const char *name, int flags, int *ret_fd, struct error *e)
{
	const struct file_open what = { dir_fd, name, flags | O_DIRECTORY, 0 };

	return file_open_beneath(&what, ret_fd, e);
}

bool layers_find(int layers_fd, const char *name, struct layer *ret)
{
	char list[LAYERS_NAME_MAX + 8];
	char tree[LAYERS_NAME_MAX + 8];
	const struct file_open what = { layers_fd, list, O_RDONLY, 0 };
	AUTO_FD list_fd = -1;
	AUTO_FD tree_fd = -1;
	uint8_t digest[SHA256_BYTES];
	uint64_t size;
	struct error none;

	(void)snprintf(list, sizeof(list), "%s/list", name);
	(void)snprintf(tree, sizeof(tree), "%s/tree", name);
	if (file_open_beneath(&what, &list_fd, &none) < 0 ||
	    sha256_of_fd(list_fd, digest, &size, &none) < 0 ||
	    open_directory(layers_fd, tree, O_PATH, &tree_fd, &none) < 0)
		return false;
	/* When it was used last, for layers_prune. */
	(void)futimens(list_fd, NULL);
	memcpy(ret->sha256, digest, sizeof(digest));
	ret->tree_fd = take_fd(&tree_fd);
	return true;
}

/* Whatever the umask says. */
static int make_directory(
    int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	AUTO_FD fd = -1;

	if (mkdirat(dir_fd, name, 0700) < 0)
		return FAIL_SYS(e, "make %s in layers/", name);
	if (open_directory(dir_fd, name, O_RDONLY, &fd, e) < 0)
		return -1;
	if (fchmod(fd, 0755) < 0)
		return FAIL_SYS(e, "set the mode of %s", name);
	*ret_fd = take_fd(&fd);
	return 0;
}

static void let_go(struct layer_making *m)
{
	own_close(&m->file_fd);
	own_close(&m->list_fd);
	own_close(&m->tree_fd);
	own_close(&m->dir_fd);
	*m = (struct layer_making){ .name = "",
		.dir_fd = -1,
		.tree_fd = -1,
		.list_fd = -1,
		.file_fd = -1 };
}

int layers_begin(
    int layers_fd, const char *id, struct layer_making *ret, struct error *e)
{
	struct layer_making m = {
		.dir_fd = -1, .tree_fd = -1, .list_fd = -1, .file_fd = -1
	};

	(void)snprintf(m.name, sizeof(m.name), FRESH "%.64s", id);
	if (make_directory(layers_fd, m.name, &m.dir_fd, e) < 0)
		return -1;
	if (make_directory(m.dir_fd, "tree", &m.tree_fd, e) < 0) {
		layers_drop(layers_fd, &m);
		return -1;
	}
	m.list_fd = openat(
	    m.dir_fd, "list", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (m.list_fd < 0) {
		error_fill(e, ERROR_SYSTEM, errno, "make a list in layers/");
		layers_drop(layers_fd, &m);
		return -1;
	}
	*ret = m;
	return 0;
}

/* Each component is a name, none of them odd. */
static int judge_name(const char *name, struct error *e)
{
	for (const char *at = name;; at++) {
		size_t n = strcspn(at, "/");

		if (n == 0 || n > NAME_MAX || (n <= 2 && strspn(at, ".") >= n))
			return FAIL(
			    e, ERROR_MALFORMED, "a file with no clean name");
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)at[i] < ' ' || at[i] == 0x7f)
				return FAIL(e, ERROR_MALFORMED,
				    "a file with a control character in its "
				    "name");
		at += n;
		if (*at == '\0')
			return 0;
	}
}

static int make_parents(int tree_fd, const char *name, struct error *e)
{
	char path[PATH_MAX];

	for (const char *at = strchr(name, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		(void)snprintf(
		    path, sizeof(path), "%.*s", (int)(at - name), name);
		if (mkdirat(tree_fd, path, 0755) < 0) {
			if (errno == EEXIST)
				continue;
			return FAIL_SYS(e, "make a directory of a layer");
		}
		if (fchmodat(tree_fd, path, 0755, 0) < 0)
			return FAIL_SYS(e, "set the mode of a directory");
	}
	return 0;
}

int layers_add(
    struct layer_making *m, const char *name, int *ret_fd, struct error *e)
{
	if (m->file_fd >= 0)
		return FAIL(e, ERROR_STATE, "two files of a layer at once");
	if (strlen(name) >= PATH_MAX)
		return FAIL(e, ERROR_MALFORMED, "a file with a long name");
	if (judge_name(name, e) < 0 || make_parents(m->tree_fd, name, e) < 0)
		return -1;
	m->file_fd = openat(m->tree_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (m->file_fd < 0)
		return FAIL_SYS(e, "make a file of a layer");
	*ret_fd = m->file_fd;
	return 0;
}

int layers_added(struct layer_making *m, const char *name,
    const uint8_t digest[SHA256_BYTES], struct error *e)
{
	char hex[SHA256_HEX];
	char line[SHA256_HEX + PATH_MAX + 4];
	int n;

	sha256_hex(digest, hex);
	n = snprintf(line, sizeof(line), "%s  %s\n", hex, name);
	if (n < 0 || (size_t)n >= sizeof(line))
		return FAIL(e, ERROR_LIMIT, "a line of a layer is too long");
	if (fchmod(m->file_fd, 0444) < 0)
		return FAIL_SYS(e, "finish a file of a layer");
	own_close(&m->file_fd);
	m->file_fd = -1;
	return file_write_all(m->list_fd, line, (size_t)n, e);
}

int layers_commit(int layers_fd, struct layer_making *m, const char *name,
    struct layer *ret, struct error *e)
{
	bool is_first;

	/* No durability: no layer outlives its boot (layers_prune). */
	is_first = renameat2(layers_fd, m->name, layers_fd, name,
	               RENAME_NOREPLACE) == 0;
	if (!is_first && errno != EEXIST) {
		error_fill(e, ERROR_SYSTEM, errno, "put a layer into place");
		layers_drop(layers_fd, m);
		return -1;
	}
	if (is_first)
		let_go(m);
	else
		layers_drop(layers_fd, m);
	if (!layers_find(layers_fd, name, ret))
		return FAIL(e, ERROR_STATE, "the layer %s vanished", name);
	return 0;
}
