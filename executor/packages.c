/*
 * executor/packages.c - reads /var/lib/dpkg/status.  Linked by the supervisor.
 * The file is root's, as the toolchain is; what it says is shown to clients,
 * so only plain characters of it are taken.
 *
 * A paragraph a package, of lines "Field: value" (deb-control(5)); what is
 * installed has "Status: ... installed" (dpkg-query(1)).
 */
#include "executor/packages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define DATABASE     "/var/lib/dpkg/status"
#define DATABASE_MAX (16 << 20)

/* Bytes of somebody else. */
struct span {
	const char *at;
	size_t len;
};

struct package {
	struct span name, version;
	bool installed;
};

struct packages *packages_open(void)
{
	AUTO_FD fd = open(DATABASE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct packages *p;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p != NULL)
		p->fd = take_fd(&fd);
	return p;
}

/* "2:3.1.7+really3.1.2-0+deb12u1" is 3.1.2: without epoch and revision. */
static struct span upstream(struct span v)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz.";
	static const char really[] = "+really";
	const char *colon = memchr(v.at, ':', v.len);
	const char *begin = memmem(v.at, v.len, really, sizeof(really) - 1);
	size_t n = 0;

	if (begin != NULL)
		begin += sizeof(really) - 1;
	else
		begin = colon != NULL ? colon + 1 : v.at;
	v.len -= (size_t)(begin - v.at);
	v.at = begin;
	while (n < v.len && memchr(plain, v.at[n], sizeof(plain) - 1) != NULL)
		n++;
	v.len = n;
	return v;
}

/* What stands for the '*' of a pattern; without one, the names are equal. */
static bool matches(const char *pattern, struct span name, struct span *ret)
{
	size_t head = strcspn(pattern, "*");
	bool has_star = pattern[head] != '\0';
	const char *tail = pattern + head + (has_star ? 1 : 0);
	size_t tail_len = strlen(tail);

	if (name.len < head + tail_len + (has_star ? 1 : 0) ||
	    memcmp(name.at, pattern, head) != 0 ||
	    memcmp(name.at + name.len - tail_len, tail, tail_len) != 0)
		return false;
	ret->at = name.at + head;
	ret->len = name.len - head - tail_len;
	return has_star || ret->len == 0;
}

static void take_version(
    const struct language *l, const struct package *p, struct packages_of *to)
{
	const char *pattern =
	    l->packages.version[0] != '\0' ? l->packages.version : l->package;
	struct packages_version *v = &to->versions[to->n_versions];
	struct span version = upstream(p->version);
	struct span star;

	if (to->n_versions == PACKAGES_VERSIONS_MAX ||
	    !matches(pattern, p->name, &star) || star.len >= sizeof(v->star) ||
	    version.len >= sizeof(v->version))
		return;
	memset(v, 0, sizeof(*v));
	memcpy(v->star, star.at, star.len);
	memcpy(v->version, version.at, version.len);
	if (strspn(v->star, "0123456789.") != star.len)
		return;
	to->n_versions++;
}

/* Parts of a library that no program asks for by name. */
static bool is_part(struct span name)
{
	static const char *const ends[] = { "-dev", "-doc", "-dbg", "-common",
		"-minimal", "-examples" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (name.len > n &&
		    memcmp(name.at + name.len - n, ends[i], n) == 0)
			return true;
	}
	return name.len == 3 && memcmp(name.at, "all", 3) == 0;
}

static bool is_denied(const struct policy_language *l, struct span name)
{
	bool named = !l->has_only;

	for (size_t i = 0; i < l->n_only; i++)
		named =
		    named || (strlen(l->only[i]) == name.len &&
		                 memcmp(l->only[i], name.at, name.len) == 0);
	if (!named)
		return true;
	for (size_t i = 0; i < l->n_denied; i++)
		if (strlen(l->denied[i]) == name.len &&
		    memcmp(l->denied[i], name.at, name.len) == 0)
			return true;
	return false;
}

/* Before the first line that stands behind it; one line for each name. */
static void insert(
    struct packages_of *to, struct span name, struct span version)
{
	size_t n = name.len + version.len + 2;
	char *at = to->libraries;
	char *end = at + to->libraries_len;

	while (at < end) {
		size_t len = strcspn(at, " ");
		size_t least = len < name.len ? len : name.len;
		int order = memcmp(at, name.at, least);

		if (order == 0 && len == name.len)
			return;
		if (order > 0 || (order == 0 && len > name.len))
			break;
		at = strchr(at, '\n') + 1;
	}
	if (to->libraries_len + n >= sizeof(to->libraries)) {
		to->libraries_more++;
		return;
	}
	memmove(at + n, at, (size_t)(end - at));
	memcpy(at, name.at, name.len);
	at[name.len] = ' ';
	memcpy(at + name.len + 1, version.at, version.len);
	at[n - 1] = '\n';
	to->libraries_len += n;
}

static void take_library(const struct policy_language *l,
    const struct package *p, struct packages_of *to)
{
	const struct language_packages *of = &l->language.packages;
	struct span name;

	for (size_t i = 0; i < of->n_libraries; i++)
		if (matches(of->libraries[i], p->name, &name) &&
		    !is_part(name) && !is_denied(l, name)) {
			insert(to, name, upstream(p->version));
			return;
		}
}

/* deb-control(5): lower-case letters, digits, plus, minus, full stop. */
static bool is_plain(struct span name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789+-.";

	for (size_t i = 0; i < name.len; i++)
		if (memchr(plain, name.at[i], sizeof(plain) - 1) == NULL)
			return false;
	return name.len > 0 && name.len < POLICY_NAME_MAX;
}

static void take_package(
    const struct package *p, const struct policy *policy, struct packages *ret)
{
	if (!p->installed || !is_plain(p->name) || p->version.len == 0)
		return;
	for (size_t i = 0; i < policy->n_languages; i++) {
		const struct policy_language *l = &policy->languages[i];

		take_version(&l->language, p, &ret->of[i]);
		take_library(l, p, &ret->of[i]);
	}
}

static bool is_field(struct span line, const char *name, struct span *ret)
{
	size_t n = strlen(name);

	if (line.len < n || memcmp(line.at, name, n) != 0)
		return false;
	ret->at = line.at + n;
	ret->len = line.len - n;
	return true;
}

void packages_take(struct packages *p, const char *text, size_t len,
    const struct policy *policy)
{
	static const char installed[] = " installed";
	static const struct package none = { { "", 0 }, { "", 0 }, false };
	struct package now = none;
	const char *end = text + len;

	for (const char *at = text; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct span line = { at,
			(size_t)((stop != NULL ? stop : end) - at) };
		struct span status;

		at = stop != NULL ? stop + 1 : end;
		if (line.len == 0) {
			take_package(&now, policy, p);
			now = none;
		} else if (is_field(line, "Status: ", &status)) {
			now.installed =
			    status.len >= sizeof(installed) - 1 &&
			    memcmp(status.at + status.len -
			               (sizeof(installed) - 1),
			        installed, sizeof(installed) - 1) == 0;
		} else if (!is_field(line, "Package: ", &now.name)) {
			(void)is_field(line, "Version: ", &now.version);
		}
	}
	take_package(&now, policy, p);
}

void packages_read(struct packages *p, const struct policy *policy)
{
	struct stat st;
	char *text = NULL;
	ssize_t got = -1;

	if (p->fd < 0)
		return;
	if (fstat(p->fd, &st) == 0 && st.st_size <= DATABASE_MAX)
		text = calloc(1, (size_t)st.st_size + 1);
	if (text != NULL)
		got = pread(p->fd, text, (size_t)st.st_size, 0);
	if (got > 0)
		packages_take(p, text, (size_t)got, policy);
	free(text);
	own_close(&p->fd);
	p->fd = -1;
}
