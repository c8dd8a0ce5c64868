/*
 * Compresses generated text in two stages: the first thread makes blocks and
 * replaces repeats by references, the second one codes what is left by symbol
 * frequencies. Blocks go through a ring guarded by two semaphores.
 */
#include <semaphore.h>

#include "kernel.h"

#define BLOCK (64 << 10)
#define RING 4
#define HASH_BITS 13
#define MIN_MATCH 4

struct block {
	size_t size;
	uint8_t bytes[2 * BLOCK];
};

static struct block ring[RING];
static sem_t empty, filled;
static long blocks;
static uint64_t sum;
static size_t coded_bits;

static const char *const words[] = {
	"thread ", "lock ", "order ", "write ", "read ", "the ", "of ", "before ", "after ",
	"when ",
	"holds ", "a ", "queue ", "waits ", "and ", "value ", "lost ", "signal ", "then ", "\n",
};

static void generate(uint8_t *out, uint64_t *seed)
{
	for (size_t at = 0; at < BLOCK;) {
		uint64_t r = kernel_random(seed);
		const char *word = words[r % (sizeof(words) / sizeof(words[0]))];

		for (; *word && at < BLOCK; word++)
			out[at++] = (uint8_t)*word;
		if (r >> 60 == 0 && at < BLOCK)
			out[at++] = (uint8_t)('0' + (r >> 50) % 10);
	}
}

static unsigned hash4(const uint8_t *p)
{
	uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		     (uint32_t)p[3] << 24;

	return v * 2654435761u >> (32 - HASH_BITS);
}

/* Tokens: 0 length literals…, or length >= MIN_MATCH and a 16-bit distance. */
static size_t squeeze(const uint8_t *in, uint8_t *out)
{
	static int last[1 << HASH_BITS];
	size_t to = 0, literal = 0;
	int at = 0;

	memset(last, 0xff, sizeof(last));
	while (at < BLOCK) {
		int candidate = -1, length = 0;

		if (at + MIN_MATCH <= BLOCK) {
			unsigned h = hash4(in + at);

			candidate = last[h];
			last[h] = at;
		}
		if (candidate >= 0 && at - candidate < 65536)
			while (at + length < BLOCK && length < 255 &&
			       in[candidate + length] == in[at + length])
				length++;
		if (length >= MIN_MATCH) {
			out[to++] = (uint8_t)length;
			out[to++] = (uint8_t)(at - candidate);
			out[to++] = (uint8_t)((at - candidate) >> 8);
			at += length;
			literal = 0;
			continue;
		}
		if (literal == 0 || out[literal] == 255) {
			out[to++] = 0;
			literal = to;
			out[to++] = 0;
		}
		out[literal]++;
		out[to++] = in[at++];
	}
	return to;
}

/* Code lengths by halving the alphabet at the middle of its weight. */
static void lengths(const uint32_t *count, const uint8_t *order, int first, int last,
		    uint64_t weight, unsigned depth, uint8_t *length)
{
	uint64_t left = 0;
	int middle = first;

	if (last - first == 1) {
		length[order[first]] = (uint8_t)(depth ? depth : 1);
		return;
	}
	while (middle < last - 1 && (middle == first || left + count[order[middle]] <= weight / 2))
		left += count[order[middle++]];
	lengths(count, order, first, middle, left, depth + 1, length);
	lengths(count, order, middle, last, weight - left, depth + 1, length);
}

static void entropy_code(const struct block *b)
{
	static uint8_t out[4 * BLOCK];
	uint32_t count[256] = { 0 };
	uint8_t order[256], length[256] = { 0 };
	uint64_t buffer = 0;
	unsigned pending = 0;
	size_t to = 0;
	int used = 0;

	for (size_t i = 0; i < b->size; i++)
		count[b->bytes[i]]++;
	for (int s = 0; s < 256; s++) {
		int at = used;

		if (!count[s])
			continue;
		for (; at > 0 && count[order[at - 1]] < count[s]; at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)s;
		used++;
	}
	lengths(count, order, 0, used, b->size, 0, length);
	for (size_t i = 0; i < b->size; i++) {
		unsigned s = b->bytes[i];

		/* The symbol stands in for its code: same length, same work. */
		buffer = buffer << length[s] | (s & ((1u << (length[s] & 15)) - 1));
		pending += length[s];
		for (; pending >= 8; pending -= 8)
			out[to++] = (uint8_t)(buffer >> (pending - 8));
	}
	coded_bits += to * 8 + pending;
	for (size_t i = 0; i < to; i++)
		sum = kernel_mix(sum, out[i]);
}

static void part(int self)
{
	static uint8_t text[BLOCK];
	uint64_t seed = 8;

	for (long i = 0; i < blocks; i++) {
		struct block *b = &ring[i % RING];

		sem_wait(self == 0 ? &empty : &filled);
		if (self == 0) {
			generate(text, &seed);
			b->size = squeeze(text, b->bytes);
		} else {
			entropy_code(b);
		}
		sem_post(self == 0 ? &filled : &empty);
	}
}

int main(int argc, char **argv)
{
	blocks = kernel_size(argc, argv, 1200);
	sem_init(&empty, 0, RING);
	sem_init(&filled, 0, 0);
	kernel_run(part);
	printf("pipeline %016llx %zu\n", (unsigned long long)sum, coded_bits / 8);
	sem_destroy(&empty);
	sem_destroy(&filled);
	return 0;
}
