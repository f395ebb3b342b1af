/*
 * cli/results.h - files of a result folder, fetched from the service that
 * keeps them and written as the caller.
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/front.h"

struct results_entry {
	char name[PROTOCOL_RESULT_NAME_MAX]; /* percent-encoded */
	uint64_t size;
	char type[PROTOCOL_WORD_MAX]; /* a media type; "": not known */
	uint32_t width, height;       /* of a picture; 0: not known */
	bool is_plot;
};

struct results_list {
	struct results_entry *items; /* owned */
	size_t n, cap;
};

/* The names of a run's result folder, in the service's order. */
int results_list(struct front *f, const char *run_id, struct results_list *ret,
    struct error *e) MUST_CHECK;

void results_list_done(struct results_list *list);

/* A read-only descriptor of one of them; the caller's. */
int results_open(struct front *f, const char *run_id, const char *name,
    int *ret_fd, struct error *e) MUST_CHECK;

/* A directory to write artifacts to: made if its parent is there. */
int results_target(const char *path, int *ret_fd, struct error *e) MUST_CHECK;

/*
 * Write every artifact of the run ("files/...") beneath 'dir_fd': names
 * decoded, no link followed, nothing that exists replaced.  One line is printed
 * for each that cannot be written; *ret_failed counts them.
 */
int results_export(struct front *f, const char *run_id, int dir_fd,
    size_t *ret_failed, struct error *e) MUST_CHECK;

#endif
