/*
 * Sorts 32-bit keys by 8 bits at a time: each thread counts its half, both
 * sets of counts become positions, each thread moves its keys there, a bundle
 * at a time.
 */
#include "kernel.h"

#define DIGITS 256
#define WAITING 32

static long count, rounds;
static uint32_t *keys, *moved;
static long counts[THREADS][DIGITS];

/* Keys on their way, so that each digit's are moved many at a time. */
struct workspace {
	uint32_t waiting[DIGITS][WAITING];
	long position[DIGITS], counts[DIGITS];
	int used[DIGITS];
};

static void move(struct workspace *own, uint32_t *to, unsigned digit)
{
	memcpy(&to[own->position[digit]], own->waiting[digit],
	       (size_t)own->used[digit] * sizeof(*to));
	own->position[digit] += own->used[digit];
	own->used[digit] = 0;
}

static void pass(struct workspace *own, const uint32_t *from, uint32_t *to, unsigned shift, int self)
{
	long first = self * count / THREADS, last = (self + 1) * count / THREADS;
	long before = 0;

	memset(own->counts, 0, sizeof(own->counts));
	for (long i = first; i < last; i++)
		own->counts[from[i] >> shift & (DIGITS - 1)]++;
	memcpy(counts[self], own->counts, sizeof(own->counts));
	kernel_sync();
	for (int digit = 0; digit < DIGITS; digit++)
		for (int t = 0; t < THREADS; t++) {
			if (t == self)
				own->position[digit] = before;
			before += counts[t][digit];
		}
	for (long i = first; i < last; i++) {
		uint32_t key = from[i];
		unsigned digit = key >> shift & (DIGITS - 1);

		own->waiting[digit][own->used[digit]++] = key;
		if (own->used[digit] == WAITING)
			move(own, to, digit);
	}
	for (unsigned digit = 0; digit < DIGITS; digit++)
		move(own, to, digit);
	kernel_sync();
}

static void part(int self)
{
	long first = self * count / THREADS, last = (self + 1) * count / THREADS;
	struct workspace *own = kernel_alloc(sizeof(*own));

	memset(own, 0, sizeof(*own));
	for (long round = 0; round < rounds; round++) {
		uint64_t seed = (uint64_t)(3 + round * THREADS + self);

		for (long i = first; i < last; i++)
			keys[i] = (uint32_t)(kernel_random(&seed) >> 32);
		kernel_sync();
		for (unsigned shift = 0; shift < 32; shift += 16) {
			pass(own, keys, moved, shift, self);
			pass(own, moved, keys, shift + 8, self);
		}
	}
	free(own);
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
