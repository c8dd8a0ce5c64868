#include "base/mac.h"

#include <endian.h>
#include <string.h>

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void mix_in(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t mac(const uint8_t key[MAC_KEY], const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t k[2], word, last[1] = { 0 };
	uint64_t v[4] = { 0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261,
			  0x7465646279746573 };

	memcpy(k, key, sizeof(k));
	for (unsigned i = 0; i < 4; i++)
		v[i] ^= le64toh(k[i % 2]);
	for (size_t left = size; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		mix_in(v, le64toh(word));
	}
	if (size % 8)
		memcpy(last, p, size % 8);
	mix_in(v, le64toh(last[0]) | (uint64_t)size << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
