/*
 * audit/verify_aside.c - results that a crash kept from being published.
 * Linked by the audit reader.
 *
 * A supervisor that is killed between the record of an outcome and the last
 * rename leaves the whole folder in results/.staging, and the next start moves
 * it to results/.quarantine (executor/state.c).  Nothing of it is lost, and the
 * digest of its MANIFEST in the record tells that it is the very folder.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify_results.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

#define PATH_ROOM 384

/* Whether <where>/<run>/MANIFEST has the digest that the outcome tells. */
static bool holds(
    const struct verify *v, const struct verify_folder *f, const char *where)
{
	const struct c1_value *wanted = &f->outcome->fields[ENTRY_MANIFEST];
	char path[PATH_ROOM];
	struct file_open what = { v->options->results_fd, path, O_RDONLY, 0 };
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];
	AUTO_FD fd = -1;
	struct error no;
	uint64_t size;

	(void)snprintf(path, sizeof(path), "%s/%s/MANIFEST", where, f->name);
	if (file_open_beneath(&what, &fd, &no) < 0 ||
	    sha256_of_fd(fd, digest, &size, &no) < 0)
		return false;
	sha256_hex(digest, hex);
	return c1_is(wanted, hex);
}

bool verify_set_aside(const struct verify *v, const struct verify_folder *f)
{
	struct file_open what = { v->options->results_fd, ".staging",
		O_RDONLY | O_DIRECTORY, 0 };
	const struct dirent *d;
	struct error no;
	bool found = false;
	DIR *dir;
	int fd;

	if (holds(v, f, ".quarantine"))
		return true;
	if (file_open_beneath(&what, &fd, &no) < 0)
		return false;
	dir = fdopendir(fd);
	if (dir == NULL) {
		(void)close(fd);
		return false;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (!found && (d = readdir(dir)) != NULL) {
		char where[PATH_ROOM - 64];

		(void)snprintf(where, sizeof(where), ".staging/%s", d->d_name);
		found = d->d_name[0] != '.' && holds(v, f, where);
	}
	(void)closedir(dir);
	return found;
}
