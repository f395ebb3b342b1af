/*
 * executor/knob.h - short texts written to and read from files that the kernel
 * offers: control groups, /proc.
 */
#ifndef EXECUTOR_KNOB_H
#define EXECUTOR_KNOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define KNOB_TEXT_MAX 4096

/* Write 'text' to 'path' beneath 'dir_fd' in one call. */
int knob_write(
    int dir_fd, const char *path, const char *text, struct error *e) MUST_CHECK;

int knob_write_number(
    int dir_fd, const char *path, uint64_t value, struct error *e) MUST_CHECK;

/* The content, at most 'cap' - 1 bytes, with a NUL behind it. */
int knob_read(int dir_fd, const char *path, char *ret, size_t cap,
    struct error *e) MUST_CHECK;

/* Read it back: its first word must be the number 'value'. */
int knob_expect(
    int dir_fd, const char *path, uint64_t value, struct error *e) MUST_CHECK;

/* Write 'value' to an open file and read it back; 'path' is for errors. */
int knob_set(
    int fd, const char *path, uint64_t value, struct error *e) MUST_CHECK;

#endif
