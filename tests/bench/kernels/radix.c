/*
 * Sorts keys by 10 bits at a time: each thread counts its half, both sets of counts
 * become positions, each thread moves its keys there.
 *
 * Sharing, as in SPLASH's radix: each thread makes and counts its own keys, with counts
 * of its own that the other one reads once in a pass; the moves go all over the
 * other array, one key at a time.
 */
#include "kernel.h"

#define BITS 10
#define DIGITS (1 << BITS)
#define KEY_BITS (2 * BITS)

static long count, rounds;
static uint64_t *keys, *moved;
static long counts[THREADS][DIGITS];

static void pass(long *position, const uint64_t *from, uint64_t *to, unsigned shift, int self)
{
	long first = self * count / THREADS, last = (self + 1) * count / THREADS;
	long *own = counts[self], before = 0;

	for (int digit = 0; digit < DIGITS; digit++)
		own[digit] = 0;
	for (long i = first; i < last; i++)
		own[from[i] >> shift & (DIGITS - 1)]++;
	kernel_sync();
	for (int digit = 0; digit < DIGITS; digit++)
		for (int t = 0; t < THREADS; t++) {
			if (t == self)
				position[digit] = before;
			before += counts[t][digit];
		}
	for (long i = first; i < last; i++)
		to[position[from[i] >> shift & (DIGITS - 1)]++] = from[i];
	kernel_sync();
}

static void part(int self)
{
	long first = self * count / THREADS, last = (self + 1) * count / THREADS;
	long *position = kernel_alloc(DIGITS * sizeof(*position));

	for (long round = 0; round < rounds; round++) {
		uint64_t seed = (uint64_t)(3 + round * THREADS + self);

		for (long i = first; i < last; i++)
			keys[i] = kernel_random(&seed) >> (64 - KEY_BITS);
		kernel_sync();
		pass(position, keys, moved, 0, self);
		pass(position, moved, keys, BITS, self);
	}
	free(position);
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	rounds = kernel_size(argc, argv, 6);
	count = argc > 2 ? atol(argv[2]) : 1L << 22;
	keys = kernel_alloc((size_t)count * sizeof(*keys));
	moved = kernel_alloc((size_t)count * sizeof(*moved));
	kernel_run(part);
	for (long i = 0; i < count; i++) {
		if (i > 0 && keys[i - 1] > keys[i]) {
			printf("radix: not sorted\n");
			return 1;
		}
		sum = kernel_mix(sum, keys[i]);
	}
	printf("radix %016llx\n", (unsigned long long)sum);
	free(keys);
	free(moved);
	return 0;
}
