/*
 * audit/record.c - the frame of a record: statement, subjects, signature.
 * Linked by the signer only.  The members of a predicate are in
 * record_fields.c and its neighbours.
 */
#include "audit/record.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "audit/json.h"
#include "audit/record_parts.h"
#include "base/sha256.h"
#include "base/text.h"

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define PREDICATE_TYPE "urn:bailiff:record:v1"
#define PAE_FORMAT     "DSSEv1 28 application/vnd.in-toto+json %zu "
#define US_PER_S       1000000u
#define S_PER_DAY      86400u
#define DAYS_TO_1970   719468u
#define DAYS_PER_ERA   146097u /* 400 years */

/*
 * Our own calendar: gmtime_r and strftime read the zone file of the host, and
 * the signer opens no file.  Days are counted from 0000-03-01, so that a leap
 * day ends its year (Howard Hinnant, "chrono-compatible low-level date
 * algorithms").
 */
void record_time(uint64_t time_us, char ret[RECORD_TIME_MAX])
{
	uint64_t seconds = time_us / US_PER_S;
	uint64_t days = seconds / S_PER_DAY + DAYS_TO_1970;
	uint64_t era = days / DAYS_PER_ERA;
	uint64_t of_era = days % DAYS_PER_ERA;
	uint64_t year =
	    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153; /* 0 is March */
	uint64_t day = of_year - (153 * month + 2) / 5 + 1;

	seconds %= S_PER_DAY;
	year += era * 400 + (month >= 10 ? 1 : 0);
	month = month >= 10 ? month - 9 : month + 3;
	(void)snprintf(ret, RECORD_TIME_MAX,
	    "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ", (unsigned)(year % 10000),
	    (unsigned)(month % 100), (unsigned)(day % 100),
	    (unsigned)(seconds / 3600), (unsigned)(seconds / 60 % 60),
	    (unsigned)(seconds % 60), (unsigned)(time_us % US_PER_S));
}

static uint64_t digits(const char *at, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = value * 10 + (uint64_t)(at[i] - '0');
	return value;
}

/* The same algorithm the other way; 0 for what was before 1970. */
uint64_t record_time_read(const char *text)
{
	uint64_t month = digits(text + 5, 2);
	uint64_t year = digits(text, 4) - (month <= 2 ? 1 : 0);
	uint64_t era = year / 400;
	uint64_t of_era = year % 400;
	uint64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 +
	                   digits(text + 8, 2) - 1;
	uint64_t days = era * DAYS_PER_ERA + of_era * 365 + of_era / 4 -
	                of_era / 100 + of_year;

	if (digits(text, 4) < 1970 || days < DAYS_TO_1970)
		return 0;
	return ((days - DAYS_TO_1970) * S_PER_DAY +
	           digits(text + 11, 2) * 3600 + digits(text + 14, 2) * 60 +
	           digits(text + 17, 2)) *
	           US_PER_S +
	       digits(text + 20, 6);
}

static void put_subject(
    struct json *j, const char *name, const uint8_t digest[SHA256_BYTES])
{
	json_object(j);
	json_key(j, "digest");
	json_object(j);
	json_key(j, "sha256");
	json_hex(j, digest, SHA256_BYTES);
	json_end(j);
	json_key(j, "name");
	json_string(j, name);
	json_end(j);
}

static void put_log_key(struct json *j, const struct record *r)
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(r->frame->log_key, sizeof(r->frame->log_key), digest);
	put_subject(j, "log-key", digest);
}

/*
 * Artifacts in the order of their names, then the streams.  "files/" sorts
 * before "stderr" and "stdout", so only the artifacts need sorting.
 */
static void put_outcome_subjects(struct json *j, const struct event_outcome *o)
{
	const struct event_subject *sorted[EVENT_SUBJECTS_MAX];
	size_t n = 0;

	for (uint64_t i = 0; i < o->subjects.n; i++) {
		const struct event_subject *s = &o->subjects.items[i];
		size_t at = n++;

		if (strncmp(s->name, "files/", strlen("files/")) != 0)
			json_refuse(j, ERROR_MALFORMED,
			    "artifact that does not lie under files/");
		for (; at > 0 && strcmp(sorted[at - 1]->name, s->name) > 0;
		     at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = s;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			json_refuse(j, ERROR_MALFORMED, "artifact named twice");
		put_subject(j, sorted[i]->name, sorted[i]->sha256);
	}
	put_subject(j, "stderr", o->err.sha256);
	put_subject(j, "stdout", o->out.sha256);
}

/* in-toto wants at least one subject; what has none of its own is about us. */
static void put_subjects(struct json *j, const struct record *r)
{
	if (r->type == RECORD_INTENT)
		put_subject(j, "code", r->intent->code_sha256);
	else if (r->type == RECORD_DENIAL && r->denial->has & DENIAL_HAS_CODE)
		put_subject(j, "code", r->denial->code_sha256);
	else if (r->type == RECORD_DENIAL && r->denial->has & DENIAL_HAS_RAW)
		put_subject(j, "request", r->denial->raw_sha256);
	else if (r->type == RECORD_OUTCOME &&
	         r->outcome->has & OUTCOME_HAS_OUTPUT)
		put_outcome_subjects(j, r->outcome);
	else
		put_log_key(j, r);
}

static void put_statement(struct json *j, const struct record *r)
{
	json_object(j);
	json_key(j, "_type");
	json_string(j, STATEMENT_TYPE);
	json_key(j, "predicate");
	record_put_predicate(j, r);
	json_key(j, "predicateType");
	json_string(j, PREDICATE_TYPE);
	json_key(j, "subject");
	json_array(j);
	put_subjects(j, r);
	json_end(j);
	json_end(j);
}

int record_build(const struct record *r, const uint8_t secret[RECORD_SECRET],
    struct record_line *ret, struct error *e)
{
	char pae[RECORD_STMT_AT];
	uint8_t sig[crypto_sign_BYTES];
	struct text_out text = { ret->data + RECORD_SIG_AT, RECORD_SIG_LEN, 0 };
	char *stmt = ret->data + RECORD_STMT_AT;
	struct json j;
	int pae_len;

	/* One level is open around the statement: the line itself. */
	json_init(&j, stmt, sizeof(ret->data) - RECORD_STMT_AT - 1, 1);
	put_statement(&j, r);
	if (json_done(&j, e) < 0)
		return -1;

	/*
	 * What is signed is a short header and the statement; the header fits
	 * in front of the statement, where the signature goes afterwards.
	 */
	pae_len = snprintf(pae, sizeof(pae), PAE_FORMAT, j.len);
	memcpy(stmt - pae_len, pae, (size_t)pae_len);
	if (crypto_sign_detached(sig, NULL, (uint8_t *)stmt - pae_len,
	        (size_t)pae_len + j.len, secret) != 0)
		return FAIL(e, ERROR_STATE, "sign a record");

	memcpy(ret->data, "{\"sig\":\"", RECORD_SIG_AT);
	if (text_base64(sig, sizeof(sig), &text, e) < 0)
		return -1;
	memcpy(ret->data + RECORD_SIG_AT + RECORD_SIG_LEN,
	    "\",\"stmt\":", RECORD_STMT_AT - RECORD_SIG_AT - RECORD_SIG_LEN);
	stmt[j.len] = '}';
	ret->len = RECORD_STMT_AT + j.len + 1;
	return 0;
}
