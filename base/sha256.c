/*
 * base/sha256.c - SHA-256.  Linked by every program.
 */
#include "base/sha256.h"

#include <string.h>
#include <unistd.h>

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

		memmove(&s[1], &s[0], 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + big0 + major;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
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
		compress(h->state, h->block);
	}
	for (; len >= SHA256_BLOCK; len -= SHA256_BLOCK, from += SHA256_BLOCK)
		compress(h->state, from);
	if (len > 0)
		memcpy(h->block, from, len);
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
	for (size_t at = 0; at < len; at += SHA256_BLOCK)
		compress(h->state, tail + at);
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
