/*
 * executor/layers.h - what is made for runs beforehand: STATE/layers.  Linked
 * by the supervisor.
 *
 * A layer is a directory "KIND-KEY" with "tree", the files as runs see them,
 * and "list", a line in sha256sum format for each; the digest of that text is
 * the layer's.  It is made in a place of its own, renamed once it is whole, and
 * never changed after.  No run writes here: files come by the collector from
 * the scratch of a run of our own text, or from the directory that the policy
 * names.
 */
#ifndef EXECUTOR_LAYERS_H
#define EXECUTOR_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"

#define LAYERS_NAME_MAX  96
#define LAYERS_FILES_MAX 65536
#define LAYERS_DEPTH_MAX 64
/* Of all that a start finds; the least recently used go first. */
#define LAYERS_BYTES_MAX (UINT64_C(2) << 30)

struct layer {
	int tree_fd; /* owned; O_PATH; -1: none */
	uint8_t sha256[SHA256_BYTES];
};

/* True when it is there; *ret is then the caller's, and it counts as used. */
bool layers_find(int layers_fd, const char *name, struct layer *ret);

/* A layer in the making. */
struct layer_making {
	char name[LAYERS_NAME_MAX];   /* "" : none */
	int dir_fd, tree_fd, list_fd; /* owned */
	int file_fd;                  /* owned; the file being written; -1 */
};

/* 'id' is unique to the caller; 0755 and its owner's. */
int layers_begin(int layers_fd, const char *id, struct layer_making *ret,
    struct error *e) MUST_CHECK;

/* Make the file 'name' ("a/b.py"), bytes that may be hostile: a name that is
 * not clean is ERROR_MALFORMED.  *ret_fd is borrowed until layers_added. */
int layers_add(struct layer_making *m, const char *name, int *ret_fd,
    struct error *e) MUST_CHECK;
int layers_added(struct layer_making *m, const char *name,
    const uint8_t digest[SHA256_BYTES], struct error *e) MUST_CHECK;

/* It is whole: the layer 'name', or the one that somebody else made first. */
int layers_commit(int layers_fd, struct layer_making *m, const char *name,
    struct layer *ret, struct error *e) MUST_CHECK;

/* It will not be. */
void layers_drop(int layers_fd, struct layer_making *m);

/* At a start: layers of an earlier boot go (".boot" says whose they are), what
 * a dead service left half made, and what is too much. */
int layers_prune(int layers_fd, struct error *e) MUST_CHECK;

#endif
