/*
 * base/own.h - ownership of locals: what is declared AUTO is released when it
 * goes out of scope, unless TAKE or take_fd moved it out.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <stdlib.h>
#include <unistd.h>

static inline void own_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void own_free(void *where)
{
	free(*(void **)where);
}

/* An owned descriptor; initialise it where it is declared, -1 for none. */
#define AUTO_FD __attribute__((cleanup(own_close))) int
/* A block from malloc. */
#define AUTO_FREE __attribute__((cleanup(own_free)))

#endif
