/*
 * Sorts 32-bit keys by 8 bits at a time: each thread counts its half, both
 * sets of counts become positions, each thread moves its keys there.
 */
#include "kernel.h"

#define DIGITS 256

static long count, rounds;
static uint32_t *keys, *moved;
static long counts[THREADS][DIGITS];

static void pass(const uint32_t *from, uint32_t *to, unsigned shift, int self)
{
	long first = self * count / THREADS, last = (self + 1) * count / THREADS;
	long position[DIGITS], before = 0;

	memset(counts[self], 0, sizeof(counts[self]));
	for (long i = first; i < last; i++)
		counts[self][from[i] >> shift & (DIGITS - 1)]++;
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

	for (long round = 0; round < rounds; round++) {
		uint64_t seed = (uint64_t)(3 + round * THREADS + self);

		for (long i = first; i < last; i++)
			keys[i] = (uint32_t)(kernel_random(&seed) >> 32);
		kernel_sync();
		for (unsigned shift = 0; shift < 32; shift += 16) {
			pass(keys, moved, shift, self);
			pass(moved, keys, shift + 8, self);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	rounds = kernel_size(argc, argv, 50);
	count = argc > 2 ? atol(argv[2]) : 1L << 20;
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
