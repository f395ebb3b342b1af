/*
 * tests/unit/test_verify_policies.c - a log that names more policies than a
 * verifier remembers takes no more memory, and the rest are looked at all the
 * same; so are two digests whose first halves are one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify_results.h"

#define REMEMBERED 4096

struct fixture {
	struct verify v;
	struct verify_options options;
	struct report report;
	struct error e;
	char dir[32];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/bailiff-kept-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->options.policies_fd = open(f->dir, O_RDONLY | O_DIRECTORY);
	assert_true(f->options.policies_fd >= 0);
	f->v.options = &f->options;
	f->v.report = &f->report;
	assert_int_equal(report_init(&f->report, &f->e), 0);
	assert_int_equal(idmap_init(&f->v.boots, 1, &f->e), 0);
	assert_int_equal(
	    idmap_init(&f->v.policies, sizeof(struct verify_policy), &f->e), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)close(f->options.policies_fd);
	(void)rmdir(f->dir);
	idmap_done(&f->v.boots);
	idmap_done(&f->v.policies);
	report_done(&f->report);
	free(f);
	return 0;
}

static void put_name(const uint8_t digest[SHA256_BYTES], char ret[80])
{
	char hex[SHA256_HEX];

	sha256_hex(digest, hex);
	(void)snprintf(ret, 80, "%s.json", hex);
}

static void keep(
    struct fixture *f, const uint8_t digest[SHA256_BYTES], const char *text)
{
	char name[80];
	int fd;

	put_name(digest, name);
	fd = openat(f->options.policies_fd, name, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void forget(struct fixture *f, const uint8_t digest[SHA256_BYTES])
{
	char name[80];

	put_name(digest, name);
	assert_int_equal(unlinkat(f->options.policies_fd, name, 0), 0);
}

/* A record of that number that names a policy. */
static void name_policy(
    struct fixture *f, uint64_t seq, const uint8_t digest[SHA256_BYTES])
{
	static struct entry entry;
	struct report_place place = { true, seq, 0, 0 };
	char hex[SHA256_HEX], text[96];

	sha256_hex(digest, hex);
	(void)snprintf(text, sizeof(text), "{\"sha256\":\"%s\"}", hex);
	entry.fields[ENTRY_POLICY] =
	    (struct c1_value){ C1_OBJECT, text, strlen(text) };
	assert_int_equal(verify_policy(&f->v, &entry, &place, &f->e), 0);
}

static void number_digest(uint64_t n, uint8_t ret[SHA256_BYTES])
{
	sha256_of(&n, sizeof(n), ret);
}

static void more_policies_than_are_remembered_are_all_looked_at(void **state)
{
	struct fixture *f = *state;
	uint8_t digest[SHA256_BYTES];
	size_t slots;

	for (uint64_t n = 0; n < REMEMBERED; n++) {
		number_digest(n, digest);
		name_policy(f, n, digest);
	}
	assert_int_equal(f->v.policies.n_used, REMEMBERED);
	assert_int_equal(f->report.n_fail, 0); /* the end decides */
	slots = f->v.policies.n_slots;
	for (uint64_t n = REMEMBERED; n < REMEMBERED + 9; n++) {
		number_digest(n, digest);
		name_policy(f, n, digest);
	}
	assert_int_equal(f->v.policies.n_used, REMEMBERED);
	assert_int_equal(f->v.policies.n_slots, slots);
	assert_int_equal(f->report.n_fail, 9);
	/* Of the next the file is there, and holds something else. */
	number_digest(REMEMBERED + 9, digest);
	keep(f, digest, "another text");
	name_policy(f, REMEMBERED + 9, digest);
	assert_int_equal(f->report.n_fail, 10);
	assert_string_equal(f->report.findings[9].check, "policies.file");
	forget(f, digest);
	verify_policies_end(&f->v);
	assert_int_equal(f->report.n_fail, REMEMBERED + 10);
}

static void digests_that_share_their_first_half_are_two(void **state)
{
	struct fixture *f = *state;
	uint8_t one[SHA256_BYTES], other[SHA256_BYTES];

	sha256_of("kept", 4, one);
	keep(f, one, "kept");
	name_policy(f, 1, one);
	name_policy(f, 2, one);
	assert_int_equal(f->v.n_policies, 1);
	assert_int_equal(f->report.n_fail, 0);
	memcpy(other, one, sizeof(other));
	other[SHA256_BYTES - 1] ^= 1;
	name_policy(f, 3, other);
	assert_int_equal(f->report.n_fail, 1);
	assert_string_equal(f->report.findings[0].check, "policies.lost");
	assert_int_equal(f->report.findings[0].place.seq, 3);
	forget(f, one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    more_policies_than_are_remembered_are_all_looked_at, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    digests_that_share_their_first_half_are_two, set_up,
		    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
