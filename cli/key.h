/*
 * cli/key.h - what the commands of bailiff-key share.
 */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/options.h"

#define KEY_PATH_MAX 4096
#define KEY_LOG_HEX  32 /* digits of a log id */

/* Words without the command's own name, ended by NULL; an exit code. */
int key_init_main(char **words);
int key_unlock_main(char **words);
int key_rotate_main(char **words);
int key_show_main(char **words);
int key_enroll_main(char **words);

/* No core, not to be traced by others of this account. */
int key_harden(struct error *e) MUST_CHECK;

/*
 * The directory where this account keeps the keys of logs; made if it is
 * missing and 'make' says so, else ERROR_CLOSED.  'ret_path' is for messages.
 */
int key_open_pins(bool make, int *ret_fd, char ret_path[KEY_PATH_MAX],
    struct error *e) MUST_CHECK;

/*
 * STATE as a front finds it ('state' NULL: the default), which must exist.
 * 'ret_path' is for messages.
 */
int key_open_state(const char *state, int *ret_fd, char ret_path[KEY_PATH_MAX],
    struct error *e) MUST_CHECK;

#endif
