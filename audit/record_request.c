/*
 * audit/record_request.c - members that say what was asked and decided, in
 * intents and denials.  Linked by the signer.
 */
#include <sodium.h>
#include <string.h>

#include "audit/record_parts.h"
#include "base/sha256.h"
#include "base/text.h"

static bool is_denial(const struct record *r)
{
	return r->type == RECORD_DENIAL;
}

/* An empty text says nothing; a record has no place for it. */
static void put_text(struct json *j, const char *key, const char *text)
{
	if (text[0] == '\0')
		json_refuse(j, ERROR_MALFORMED, "empty text");
	json_key(j, key);
	json_string(j, text);
}

static void put_digest(
    struct json *j, const char *key, const uint8_t digest[SHA256_BYTES])
{
	json_key(j, key);
	json_hex(j, digest, SHA256_BYTES);
}

static void put_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_number(j, value);
}

/*
 * "hmac-sha256:" and HMAC-SHA256(salt, digest of the secret): once the salt is
 * erased nobody can test a guess against the log.
 */
static void put_commit(
    struct json *j, const struct record *r, const uint8_t digest[SHA256_BYTES])
{
	uint8_t commit[crypto_auth_hmacsha256_BYTES];

	(void)crypto_auth_hmacsha256(commit, digest, SHA256_BYTES, r->salt);
	json_key(j, "commit");
	json_prefixed(
	    j, "hmac-sha256:", (struct json_bytes){ commit, sizeof(commit) });
}

void record_put_args(struct json *j, const struct record *r)
{
	json_object(j);
	if ((r->intent->omits & INTENT_OMITS_ARGS) == 0)
		put_commit(j, r, r->intent->args_sha256);
	put_number(j, "count", r->intent->args_count);
	json_end(j);
}

void record_put_env(struct json *j, const struct record *r)
{
	json_object(j);
	if ((r->intent->omits & INTENT_OMITS_ENV) == 0)
		put_commit(j, r, r->intent->env_sha256);
	put_number(j, "count", r->intent->env_count);
	json_end(j);
}

void record_put_stdin(struct json *j, const struct record *r)
{
	json_object(j);
	if ((r->intent->omits & INTENT_OMITS_STDIN) == 0)
		put_commit(j, r, r->intent->stdin_sha256);
	put_number(j, "size", r->intent->stdin_size);
	json_end(j);
}

void record_put_inputs(struct json *j, const struct record *r)
{
	json_object(j);
	put_number(j, "count", r->intent->inputs_count);
	put_digest(j, "sha256", r->intent->inputs_sha256);
	json_end(j);
}

/* Unverified words of a client: present when said, percent-encoded strictly. */
static void put_claim(struct json *j, const char *key, const char *text)
{
	char raw[EVENT_CLAIM_MAX];
	struct error e;
	size_t len;

	if (text[0] == '\0')
		return;
	if (text_percent_decode(text, raw, sizeof(raw), &len, &e) < 0)
		json_refuse(j, ERROR_MALFORMED, "claim not percent-encoded");
	json_key(j, key);
	json_string(j, text);
}

void record_put_claims(struct json *j, const struct record *r)
{
	const struct event_claims *c =
	    is_denial(r) ? &r->denial->claims : &r->intent->claims;

	json_object(j);
	put_claim(j, "client", c->client);
	put_claim(j, "label", c->label);
	put_claim(j, "request", c->request);
	put_claim(j, "traceparent", c->traceparent);
	put_claim(j, "version", c->version);
	json_end(j);
}

void record_put_code(struct json *j, const struct record *r)
{
	json_object(j);
	put_text(j, "lang", is_denial(r) ? r->denial->lang : r->intent->lang);
	put_digest(j, "sha256",
	    is_denial(r) ? r->denial->code_sha256 : r->intent->code_sha256);
	put_number(j, "size",
	    is_denial(r) ? r->denial->code_size : r->intent->code_size);
	json_end(j);
}

void record_put_decision(struct json *j, const struct record *r)
{
	json_string(j, is_denial(r) ? "deny" : "allow");
}

static void put_limits(
    struct json *j, const struct event_limit *limits, uint64_t n)
{
	struct record_member members[EVENT_LIMITS_MAX];

	for (uint64_t i = 0; i < n; i++)
		members[i] =
		    (struct record_member){ limits[i].name, limits[i].value };
	record_put_members(j, members, (size_t)n);
}

void record_put_limits(struct json *j, const struct record *r)
{
	if (is_denial(r))
		put_limits(j, r->denial->limits.items, r->denial->limits.n);
	else
		put_limits(j, r->intent->limits.items, r->intent->limits.n);
}

void record_put_policy(struct json *j, const struct record *r)
{
	const struct event_policy *p =
	    is_denial(r)               ? &r->denial->policy
	    : r->type == RECORD_CONFIG ? r->config->policy
	    : r->type == RECORD_PRUNE  ? &r->prune->policy
	                               : &r->intent->policy;

	json_object(j);
	put_digest(j, "file", p->file);
	put_text(j, "name", p->name);
	put_digest(j, "sha256", p->sha256);
	json_end(j);
}

void record_put_principal(struct json *j, const struct record *r)
{
	const struct event_principal *p =
	    is_denial(r)               ? &r->denial->principal
	    : r->type == RECORD_ACCESS ? &r->access->principal
	    : r->type == RECORD_REDACT ? r->redact->principal
	                               : &r->intent->principal;

	json_object(j);
	put_text(j, "auth", p->auth);
	put_number(j, "gid", p->gid);
	put_number(j, "uid", p->uid);
	json_end(j);
}

void record_put_raw(struct json *j, const struct record *r)
{
	json_object(j);
	put_digest(j, "sha256", r->denial->raw_sha256);
	put_number(j, "size", r->denial->raw_size);
	json_end(j);
}

void record_put_reasons(struct json *j, const struct record *r)
{
	if (r->denial->reasons.n == 0)
		json_refuse(j, ERROR_MALFORMED, "denial without a reason");
	record_put_words(j,
	    (struct record_words){
	        r->denial->reasons.items, r->denial->reasons.n },
	    FORM_RULES);
}

void record_put_rules(struct json *j, const struct record *r)
{
	if (is_denial(r))
		record_put_words(j,
		    (struct record_words){
		        r->denial->rules.items, r->denial->rules.n },
		    FORM_RULES);
	else
		record_put_words(j,
		    (struct record_words){
		        r->intent->rules.items, r->intent->rules.n },
		    FORM_RULES);
}

void record_put_sandbox(struct json *j, const struct record *r)
{
	json_object(j);
	put_digest(j, "build", r->intent->sandbox_build);
	put_digest(j, "view", r->intent->sandbox_view);
	json_end(j);
}
