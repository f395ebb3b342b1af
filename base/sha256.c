/*
 * base/sha256.c - SHA-256.  Linked by every program.
 *
 * Result bytes and logs are hashed at the speed of the processor: where an x86
 * has the SHA instructions they are used, many times as fast as the portable
 * rounds.  Both are tested against each other and against libsodium.
 */
#include "base/sha256.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first primes. */
/* clang-format off */
static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t start[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
/* clang-format on */

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void schedule(const uint8_t *block, uint32_t w[64])
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = w[i - 15];
		uint32_t b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64];
	uint32_t s[8];

	schedule(block, w);
	memcpy(s, state, sizeof(s));
	for (size_t i = 0; i < 64; i++) {
		uint32_t big1 =
		    rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t t1 = s[7] + big1 + choose + rounds[i] + w[i];
		uint32_t big0 =
		    rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t major = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);

		/* One by one, so that all eight stay in registers. */
		s[7] = s[6];
		s[6] = s[5];
		s[5] = s[4];
		s[4] = s[3] + t1;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = s[0];
		s[0] = t1 + big0 + major;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
}

static void compress_portable(
    uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		compress(state, blocks + i * SHA256_BLOCK);
}

#if defined(__x86_64__)
#define WITH_SHA __attribute__((target("sha,sse4.1")))

/* What ld.so found at start: no CPUID of our own, which traps in a guest. */
static bool has_sha(void)
{
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1);
}

WITH_SHA static __m128i load(const void *from)
{
	__m128i v;

	memcpy(&v, from, sizeof(v));
	return v;
}

/* Four rounds with four words of the schedule. */
WITH_SHA static void four_rounds(__m128i s[2], __m128i words, const uint32_t *k)
{
	__m128i sum = _mm_add_epi32(words, load(k));

	s[1] = _mm_sha256rnds2_epu32(s[1], s[0], sum);
	s[0] = _mm_sha256rnds2_epu32(s[0], s[1], _mm_shuffle_epi32(sum, 0x0e));
}

/* The four words that follow w[0] to w[3], sixteen in all. */
WITH_SHA static __m128i next_words(
    __m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
	__m128i sum = _mm_add_epi32(
	    _mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));

	return _mm_sha256msg2_epu32(sum, w3);
}

WITH_SHA static void sixty_four_rounds(__m128i s[2], const uint8_t *block)
{
	const __m128i swap =
	    _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i w0 = _mm_shuffle_epi8(load(block), swap);
	__m128i w1 = _mm_shuffle_epi8(load(block + 16), swap);
	__m128i w2 = _mm_shuffle_epi8(load(block + 32), swap);
	__m128i w3 = _mm_shuffle_epi8(load(block + 48), swap);

	for (const uint32_t *k = rounds;; k += 16) {
		four_rounds(s, w0, k);
		four_rounds(s, w1, k + 4);
		four_rounds(s, w2, k + 8);
		four_rounds(s, w3, k + 12);
		if (k == rounds + 48)
			return;
		w0 = next_words(w0, w1, w2, w3);
		w1 = next_words(w1, w2, w3, w0);
		w2 = next_words(w2, w3, w0, w1);
		w3 = next_words(w3, w0, w1, w2);
	}
}

/* The instructions keep the state as ABEF and CDGH, highest word first. */
WITH_SHA static void compress_sha(
    uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	__m128i cdab = _mm_shuffle_epi32(load(state), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1b);
	__m128i s[2] = { _mm_alignr_epi8(cdab, efgh, 8),
		_mm_blend_epi16(efgh, cdab, 0xf0) };
	__m128i feba, dchg, abcd;

	for (size_t i = 0; i < n_blocks; i++) {
		__m128i before[2] = { s[0], s[1] };

		sixty_four_rounds(s, blocks + i * SHA256_BLOCK);
		s[0] = _mm_add_epi32(s[0], before[0]);
		s[1] = _mm_add_epi32(s[1], before[1]);
	}
	feba = _mm_shuffle_epi32(s[0], 0x1b);
	dchg = _mm_shuffle_epi32(s[1], 0xb1);
	abcd = _mm_blend_epi16(feba, dchg, 0xf0);
	efgh = _mm_alignr_epi8(dchg, feba, 8);
	memcpy(state, &abcd, sizeof(abcd));
	memcpy(state + 4, &efgh, sizeof(efgh));
}
#else
static bool has_sha(void)
{
	return false;
}

static void compress_sha(
    uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	compress_portable(state, blocks, n_blocks);
}
#endif

static void compress_blocks(
    uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	if (has_sha())
		compress_sha(state, blocks, n_blocks);
	else
		compress_portable(state, blocks, n_blocks);
}

void sha256_init(struct sha256 *h)
{
	memcpy(h->state, start, sizeof(start));
	h->total = 0;
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	const uint8_t *from = data;
	size_t have = (size_t)(h->total % SHA256_BLOCK);

	h->total += len;
	if (have > 0) {
		size_t room = SHA256_BLOCK - have;
		size_t take = len < room ? len : room;

		memcpy(h->block + have, from, take);
		from += take;
		len -= take;
		if (take < room)
			return;
		compress_blocks(h->state, h->block, 1);
	}
	if (len >= SHA256_BLOCK)
		compress_blocks(h->state, from, len / SHA256_BLOCK);
	if (len % SHA256_BLOCK > 0)
		memcpy(h->block, from + len - len % SHA256_BLOCK,
		    len % SHA256_BLOCK);
}

void sha256_done(struct sha256 *h, uint8_t ret[SHA256_BYTES])
{
	uint64_t bits = h->total * 8;
	size_t have = (size_t)(h->total % SHA256_BLOCK);
	uint8_t tail[2 * SHA256_BLOCK] = { 0 };
	size_t len = have + 9 <= SHA256_BLOCK ? SHA256_BLOCK : sizeof(tail);

	memcpy(tail, h->block, have);
	tail[have] = 0x80;
	for (size_t i = 0; i < 8; i++)
		tail[len - 1 - i] = (uint8_t)(bits >> (8 * i));
	compress_blocks(h->state, tail, len / SHA256_BLOCK);
	for (size_t i = 0; i < 8; i++)
		for (size_t j = 0; j < 4; j++)
			ret[4 * i + j] = (uint8_t)(h->state[i] >> (24 - 8 * j));
}

void sha256_of(const void *data, size_t len, uint8_t ret[SHA256_BYTES])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, data, len);
	sha256_done(&h, ret);
}

int sha256_of_fd(
    int fd, uint8_t ret[SHA256_BYTES], uint64_t *ret_size, struct error *e)
{
	struct sha256 h;
	uint8_t buffer[4096];
	uint64_t at = 0;

	sha256_init(&h);
	for (;;) {
		ssize_t got = pread(fd, buffer, sizeof(buffer), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read to hash");
		if (got == 0)
			break;
		sha256_add(&h, buffer, (size_t)got);
		at += (uint64_t)got;
	}
	sha256_done(&h, ret);
	*ret_size = at;
	return 0;
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char ret[SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 15];
	}
	ret[SHA256_HEX - 1] = '\0';
}
