/*
 * fuzz/replay.c - runs a corpus through one harness, without libFuzzer: every
 * file named, and every file of every folder named.  No input at all is a
 * failure, since a corpus that vanished must not pass.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "fuzz/fuzz.h"

#define INPUT_MAX (64u << 20)

static int replay_file(int dir_fd, const char *name, size_t *n, struct error *e)
{
	AUTO_FD fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	AUTO_FREE uint8_t *data = NULL;
	size_t len = 0;

	if (fd < 0)
		return FAIL_SYS(e, "open %s", name);
	if (file_read_all(fd, INPUT_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "%s", name);
	/* Said first: if it aborts, the last line names the input. */
	(void)printf("%s\n", name);
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput(data, len);
	(*n)++;
	return 0;
}

static int replay_folder(const char *path, size_t *n, struct error *e)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int result = 0;

	if (folder == NULL)
		return FAIL_SYS(e, "open %s", path);
	while (result == 0 && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			result =
			    replay_file(dirfd(folder), entry->d_name, n, e);
	(void)closedir(folder);
	return result;
}

int main(int argc, char **argv)
{
	struct error e = { 0 };
	struct stat st;
	size_t n = 0;

	for (int i = 1; i < argc; i++) {
		int result = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)
		                 ? replay_folder(argv[i], &n, &e)
		                 : replay_file(AT_FDCWD, argv[i], &n, &e);

		if (result < 0) {
			(void)fprintf(stderr, "replay: %s\n", e.text);
			return EXIT_FAILURE;
		}
	}
	(void)printf("%zu inputs\n", n);
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
