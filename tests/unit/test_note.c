/*
 * tests/unit/test_note.c - verifier keys, checkpoints, cosignatures and
 * receipts: the golden ones come out byte for byte, altered and malformed ones
 * do not pass, and the points that other libraries let through are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "audit/dsse.h"
#include "audit/note.h"
#include "audit/witness_policy.h"

#define VECTORS TEST_SOURCE_DIR "/tests/audit/vectors/"

struct text {
	size_t len;
	char data[4096];
};

struct fixture {
	struct text vkey, witness_vkey, checkpoint, proof;
	struct note_key log, witness;
	uint8_t secret[ED25519_SECRET];
};

static void read_text(const char *name, struct text *ret)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s%s", VECTORS, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	ret->len = fread(ret->data, 1, sizeof(ret->data), f);
	assert_in_range(ret->len, 1, sizeof(ret->data) - 1);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	static struct fixture f;
	uint8_t seed[32], public_key[32];
	struct error e;

	if (sodium_init() < 0)
		return -1;
	read_text("vkey", &f.vkey);
	read_text("witness.vkey", &f.witness_vkey);
	read_text("checkpoint", &f.checkpoint);
	read_text("outcome.tlog-proof", &f.proof);
	memset(seed, 1, sizeof(seed));
	(void)crypto_sign_seed_keypair(public_key, f.secret, seed);
	*state = &f;
	return note_key_parse(f.vkey.data, f.vkey.len, &f.log, &e) < 0 ||
	       note_key_parse(
	           f.witness_vkey.data, f.witness_vkey.len, &f.witness, &e) < 0;
}

static int opens(struct fixture *f, const struct text *note)
{
	struct tree_head head;
	struct error e;
	int done = note_open(note->data, note->len, &f->log, &head, &e);

	if (done < 0)
		assert_int_equal(e.kind, ERROR_TAMPERED);
	return done;
}

static void a_key_has_one_spelling(void **state)
{
	struct fixture *f = *state;
	char text[NOTE_KEY_MAX];
	struct text_out out = { text, sizeof(text), 0 };
	struct note_key key;
	struct error e;

	assert_int_equal(note_key_format(&f->log, &out, &e), 0);
	assert_int_equal(out.len, f->vkey.len);
	assert_memory_equal(text, f->vkey.data, out.len);
	assert_int_equal(note_key_parse(text, out.len - 1, &key, &e), 0);
	assert_memory_equal(&key, &f->log, sizeof(key));
	for (size_t i = 0; i < out.len - 1; i++) {
		text[i] ^= 1;
		assert_int_equal(note_key_parse(text, out.len, &key, &e), -1);
		text[i] ^= 1;
	}
	assert_int_equal(note_key_parse(text, 0, &key, &e), -1);
	assert_int_equal(note_key_parse("++", 2, &key, &e), -1);
}

static void bad_names_and_types_are_refused(void **state)
{
	struct fixture *f = *state;
	const char *names[] = { "", "a b", "a+b", "a\"b", "a\\b", "a\tb",
		"caf\xc3\xa9" };
	char lengthy[NOTE_NAME_MAX + 1];
	struct note_key key;
	struct error e;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(note_key_make(names[i], NOTE_LOG,
		                     f->log.public_key, &key, &e),
		    -1);
	memset(lengthy, 'a', sizeof(lengthy));
	lengthy[NOTE_NAME_MAX] = '\0';
	assert_int_equal(
	    note_key_make(lengthy, NOTE_LOG, f->log.public_key, &key, &e), -1);
	lengthy[NOTE_NAME_MAX - 1] = '\0';
	assert_int_equal(
	    note_key_make(lengthy, NOTE_LOG, f->log.public_key, &key, &e), 0);
	assert_int_equal(
	    note_key_make("x", 0x7e, f->log.public_key, &key, &e), -1);
	assert_int_equal(e.kind, ERROR_UNAVAILABLE);
}

/* Points of small order, their non-canonical spellings, and one that is no
 * point: the first verifies everything in Go, OpenSSL and Node. */
static void points_outside_the_prime_order_group_are_no_keys(void **state)
{
	static const char *const points[] = {
		"01000000000000000000000000000000000000000000000000000000000000"
		"00",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"7f",
		"00000000000000000000000000000000000000000000000000000000000000"
		"00",
		"00000000000000000000000000000000000000000000000000000000000000"
		"80",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc"
		"05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03"
		"7a",
		"01000000000000000000000000000000000000000000000000000000000000"
		"80",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"ff",
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		"ff",
		"02000000000000000000000000000000000000000000000000000000000000"
		"00",
	};
	uint8_t sig[ED25519_SIG] = { 1 }; /* R the identity, S zero */

	(void)state;
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		uint8_t point[ED25519_PUBLIC];
		struct note_key key;
		struct error e;

		assert_int_equal(sodium_hex2bin(point, sizeof(point), points[i],
		                     64, NULL, NULL, NULL),
		    0);
		assert_false(ed25519_key_is_good(point));
		assert_int_equal(
		    note_key_make("x", NOTE_LOG, point, &key, &e), -1);
		assert_false(ed25519_verify(point, sig, "any", 3));
	}
}

static void s_plus_the_group_order_does_not_verify(void **state)
{
	static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63,
		0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
		0x14, [31] = 0x10 };
	struct fixture *f = *state;
	uint8_t sig[ED25519_SIG];

	ed25519_sign(f->secret, "text", 4, sig);
	assert_true(ed25519_verify(f->log.public_key, sig, "text", 4));
	assert_false(ed25519_verify(f->log.public_key, sig, "texu", 4));
	sodium_add(sig + 32, order, sizeof(order));
	assert_false(ed25519_verify(f->log.public_key, sig, "text", 4));
}

static void the_golden_checkpoint_is_written_and_read(void **state)
{
	struct fixture *f = *state;
	struct note_signer signer = { &f->log, f->secret };
	struct tree_head head, again;
	struct text note;
	struct text_out out = { note.data, sizeof(note.data), 0 };
	struct error e;

	assert_int_equal(note_open(f->checkpoint.data, f->checkpoint.len,
	                     &f->log, &head, &e),
	    0);
	assert_int_equal(head.size, 10);
	assert_int_equal(note_write(&signer, 1, &head, &out, &e), 0);
	/* The golden one has the witness's line behind. */
	assert_memory_equal(note.data, f->checkpoint.data, out.len);
	assert_int_equal(note_open(note.data, out.len, &f->log, &again, &e), 0);
	assert_memory_equal(&head, &again, sizeof(head));
}

static void every_altered_byte_of_text_or_signature_is_seen(void **state)
{
	struct fixture *f = *state;
	struct text note = f->checkpoint;
	char *witness = strstr(note.data, "\n\u2014 witness");
	size_t end;

	assert_non_null(witness);
	end = (size_t)(witness - note.data);
	for (size_t i = 0; i < end; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			note.data[i] ^= (char)(1u << bit);
			assert_int_equal(opens(f, &note), -1);
			note.data[i] ^= (char)(1u << bit);
		}
	for (size_t cut = 0; cut <= end; cut++) {
		note.len = cut;
		assert_int_equal(opens(f, &note), -1);
	}
}

static void spliced(const struct text *from, const char *mark,
    const char *insert, struct text *ret)
{
	const char *at = strstr(from->data, mark);
	int n;

	assert_non_null(at);
	n = snprintf(ret->data, sizeof(ret->data), "%.*s%s%s",
	    (int)(at - from->data), from->data, insert, at);
	assert_in_range(n, 1, sizeof(ret->data) - 1);
	ret->len = (size_t)n;
}

static void lines_of_others_are_ignored_if_they_look_like_lines(void **state)
{
	struct fixture *f = *state;
	static const char *const good[] = {
		"\u2014 other AAAAAAAA\n",
		"\u2014 \xc3\xa9 AAAAAAAA\n",
		/* The name of the log with another key's id. */
		("\u2014 localhost/bailiff/6f1d2c3b4a5968778695a4b3c2d1e0f0 "
		 "AAAAAAAA\n"),
	};
	static const char *const bad[] = {
		"\n",
		"- other AAAAAAAA\n",
		"\u2014 other\n",
		"\u2014 other \n",
		"\u2014  AAAAAAAA\n",
		"\u2014 other AAAA\n",
		"\u2014 other AAAAAAAB=\n",
		"\u2014 other AAAAAAAA \n",
		"\u2014 other AAAA AAAA\n",
		"\u2014 other AAAAAAA\r\n",
		/* The log's own id over bytes that are no signature. */
		("\u2014 localhost/bailiff/6f1d2c3b4a5968778695a4b3c2d1e0f0 "
		 "cRXBuQeN\n"),
	};
	struct text note;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		spliced(&f->checkpoint, "\u2014 witness", good[i], &note);
		assert_int_equal(opens(f, &note), 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		spliced(&f->checkpoint, "\u2014 witness", bad[i], &note);
		assert_int_equal(opens(f, &note), -1);
	}
}

static void a_note_has_at_most_100_signatures(void **state)
{
	struct fixture *f = *state;
	struct text note = f->checkpoint;
	static const char line[] = "\u2014 o AAAAAAAA\n";

	for (size_t n = 2; n < 100; n++) {
		memcpy(note.data + note.len, line, sizeof(line) - 1);
		note.len += sizeof(line) - 1;
	}
	assert_int_equal(opens(f, &note), 0);
	memcpy(note.data + note.len, line, sizeof(line) - 1);
	note.len += sizeof(line) - 1;
	assert_int_equal(opens(f, &note), -1);
}

static void a_cosignature_covers_its_time(void **state)
{
	struct fixture *f = *state;
	struct text note = f->checkpoint;
	char *at = strstr(note.data, "FB8mCgAAAABrDb");
	uint64_t when = 0;
	struct error e;

	assert_int_equal(
	    note_cosigned(note.data, note.len, &f->witness, &when, &e), 0);
	assert_int_equal(when, 1796061605);
	assert_non_null(at);
	at[13] = 'c';
	assert_int_equal(
	    note_cosigned(note.data, note.len, &f->witness, &when, &e), -1);
	assert_int_equal(e.kind, ERROR_TAMPERED);
	spliced(&f->checkpoint, "witness.example", "x", &note);
	assert_int_equal(
	    note_cosigned(note.data, note.len, &f->witness, &when, &e), -1);
	assert_int_equal(e.kind, ERROR_STATE);
}

static void the_golden_receipt_is_read_and_written(void **state)
{
	struct fixture *f = *state;
	struct text again;
	struct text_out checkpoint = { f->checkpoint.data, f->checkpoint.len,
		f->checkpoint.len };
	struct text_out out = { again.data, sizeof(again.data), 0 };
	struct note_proof proof;
	struct error e;

	assert_int_equal(
	    note_proof_open(f->proof.data, f->proof.len, &f->log, &proof, &e),
	    0);
	assert_int_equal(proof.index, 2);
	assert_int_equal(proof.path.n_hashes, 4);
	assert_int_equal(proof.head.size, 10);
	assert_int_equal(
	    note_proof_write(2, &proof.path, &checkpoint, &out, &e), 0);
	assert_int_equal(out.len, f->proof.len);
	assert_memory_equal(again.data, f->proof.data, out.len);
}

static void malformed_receipts_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *mark, *insert;
	} bad[] = {
		{ "index", "x" },
		{ "2\njhs", "0" },
		{ "2\njhs", "-" },
		{ "2\njhs", "9007199254740993" },
		{ "jhsN", "\n" },
		{ "jhsN", "AAAA\n" },
		{ "c2sp", "\n" },
	};
	struct text changed;
	struct note_proof proof;
	struct error e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		spliced(&f->proof, bad[i].mark, bad[i].insert, &changed);
		assert_int_equal(note_proof_open(changed.data, changed.len,
		                     &f->log, &proof, &e),
		    -1);
		assert_int_equal(e.kind, ERROR_TAMPERED);
	}
	for (size_t cut = 0; cut < f->proof.len - 200; cut++)
		assert_int_equal(
		    note_proof_open(f->proof.data, cut, &f->log, &proof, &e),
		    -1);
}

static void the_envelope_is_the_golden_one(void **state)
{
	static char line[DSSE_LINE_MAX + 2], made[DSSE_ENVELOPE_MAX];
	struct text want;
	struct text_out out = { made, sizeof(made), 0 };
	uint8_t seed[32], secret[64], public_key[32];
	FILE *log = fopen(VECTORS "log.jsonl", "r");
	struct error e;

	(void)state;
	assert_non_null(log);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(fgets(line, sizeof(line), log));
	assert_int_equal(fclose(log), 0);
	memset(seed, 2, sizeof(seed));
	(void)crypto_sign_seed_keypair(public_key, secret, seed);
	read_text("outcome.dsse.json", &want);
	assert_int_equal(
	    dsse_envelope(line, strlen(line) - 1, public_key, &out, &e), 0);
	assert_int_equal(out.len, want.len);
	assert_memory_equal(made, want.data, want.len);
	assert_int_equal(dsse_envelope(line, 50, public_key, &out, &e), -1);
	line[96] = 'x';
	assert_int_equal(
	    dsse_envelope(line, strlen(line) - 1, public_key, &out, &e), -1);
}

/* Each '@' in the text is the witness's key. */
static int policy(const char *format, const char *vkey, struct fixture *f)
{
	static struct witness_policy p;
	char text[1024];
	size_t n = 0;
	struct error e;

	for (; *format != '\0'; format++) {
		size_t len = *format == '@' ? strlen(vkey) : 1;

		assert_in_range(n + len, 1, sizeof(text));
		memcpy(text + n, *format == '@' ? vkey : format, len);
		n += len;
	}
	if (witness_policy_read(text, n, &p, &e) < 0)
		return -1;
	return witness_policy_holds(&p, f->checkpoint.data, f->checkpoint.len);
}

static void a_quorum_counts_a_witness_once(void **state)
{
	struct fixture *f = *state;
	char key[NOTE_KEY_MAX];

	(void)snprintf(key, sizeof(key), "%.*s", (int)f->witness_vkey.len - 1,
	    f->witness_vkey.data);
	assert_int_equal(policy("witness a @\nquorum a\n", key, f), 1);
	assert_int_equal(policy("# x\n\nwitness a @ https://a\ngroup g any a\n"
	                        "group h all g\nquorum h",
	                     key, f),
	    1);
	assert_int_equal(policy("witness a @\nquorum none\n", key, f), 0);
	assert_int_equal(
	    policy("witness a @\nwitness b @\nquorum a\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\ngroup g 2 a\nquorum g\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\ngroup g 0 a\nquorum g\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\ngroup g any a a\nquorum g\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\ngroup g any g\nquorum g\n", key, f), -1);
	assert_int_equal(policy("witness a @\n", key, f), -1);
	assert_int_equal(policy("witness a @\nquorum b\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\nquorum a\nquorum a\n", key, f), -1);
	assert_int_equal(
	    policy("witness a @\nwitnes b c\nquorum a\n", key, f), -1);
	(void)snprintf(
	    key, sizeof(key), "%.*s", (int)f->vkey.len - 1, f->vkey.data);
	assert_int_equal(policy("witness a @\nquorum a\n", key, f), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_one_spelling),
		cmocka_unit_test(bad_names_and_types_are_refused),
		cmocka_unit_test(
		    points_outside_the_prime_order_group_are_no_keys),
		cmocka_unit_test(s_plus_the_group_order_does_not_verify),
		cmocka_unit_test(the_golden_checkpoint_is_written_and_read),
		cmocka_unit_test(
		    every_altered_byte_of_text_or_signature_is_seen),
		cmocka_unit_test(
		    lines_of_others_are_ignored_if_they_look_like_lines),
		cmocka_unit_test(a_note_has_at_most_100_signatures),
		cmocka_unit_test(a_cosignature_covers_its_time),
		cmocka_unit_test(the_golden_receipt_is_read_and_written),
		cmocka_unit_test(malformed_receipts_are_refused),
		cmocka_unit_test(the_envelope_is_the_golden_one),
		cmocka_unit_test(a_quorum_counts_a_witness_once),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
