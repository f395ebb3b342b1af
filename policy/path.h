/*
 * policy/path.h - paths and names as text: what is refused before anything is
 * opened.  By components, never by string prefix; nothing is decoded, so
 * "%2e%2e" is a name like any other.
 */
#ifndef POLICY_PATH_H
#define POLICY_PATH_H

#include <stdbool.h>

#define PATH_NAME_MAX 255 /* bytes of a file name, NAME_MAX of Linux */
/* Of an input that is a mount, so that its line in /proc has a bound. */
#define PATH_MOUNT_NAME_MAX 60

/* Bits: all that apply are told. */
enum path_fault {
	PATH_FINE = 0,
	PATH_TRAVERSAL = 1,    /* a component is ".." */
	PATH_NOT_ABSOLUTE = 2, /* no slash in front */
	PATH_COMPONENT = 4,    /* ".", "//", a slash at the end, too long, not
	                        * UTF-8, control or invisible characters */
};

/* Bits of enum path_fault; PATH_FINE when there is none. */
unsigned int path_judge(const char *path);

/*
 * The rest of 'path' beneath 'root', without a slash in front, or NULL when it
 * is the root itself or elsewhere.  Both are PATH_FINE.
 */
const char *path_beneath(const char *root, const char *path);

/*
 * Whether 'name' can be a file in /sandbox: one component, UTF-8 without
 * control or invisible characters, no dot or dash in front.
 */
bool path_is_name(const char *name);

#endif
