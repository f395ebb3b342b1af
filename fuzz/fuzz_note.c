/*
 * fuzz/fuzz_note.c - verifier keys, checkpoints, cosignatures, receipts and
 * witness policies.  The keys are those of the golden log: what they did not
 * sign never opens; what opens is the golden head.
 */
#include <string.h>

#include "audit/note.h"
#include "audit/witness_policy.h"
#include "fuzz/fuzz.h"

#define LOG         "localhost/bailiff/6f1d2c3b4a5968778695a4b3c2d1e0f0+7115c1b9+"
#define LOG_KEY     LOG "AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
#define WITNESS     "witness.example/w1+141f260a+"
#define WITNESS_KEY WITNESS "BMqTrBcFGHBx1nuDx/8O/oEI6OxFMFdddyaHkzPb2r58"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct witness_policy p;
	struct note_key key, log, witness;
	struct note_proof proof;
	struct tree_head head;
	struct error e;
	uint64_t when;

	MUST(note_key_parse(LOG_KEY, strlen(LOG_KEY), &log, &e) == 0);
	MUST(note_key_parse(WITNESS_KEY, strlen(WITNESS_KEY), &witness, &e) ==
	     0);
	if (note_key_parse(data, size, &key, &e) == 0)
		MUST(ed25519_key_is_good(key.public_key));
	if (note_open(data, size, &log, &head, &e) == 0)
		MUST(head.size <= 10);
	if (note_cosigned(data, size, &witness, &when, &e) == 0)
		MUST(when == 1796061605);
	if (note_proof_open(data, size, &log, &proof, &e) == 0)
		MUST(proof.path.n_hashes <= TREE_PROOF_MAX);
	if (witness_policy_read((const char *)data, size, &p, &e) == 0)
		MUST(p.none || p.quorum < p.n_parts);
	return 0;
}
