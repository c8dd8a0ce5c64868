/*
 * Compares __snarl_loop_look_apart with a check of one granule after the other: random strides of
 * either sign, iterations, sizes and start addresses; all memory of one shadow value, or with
 * another value in one place; other values beside it. See look.c for the method.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (4l << 20)
#define TURNS 40
#define NEAR 32
#define SHARED 0xffffu
#define OTHER 0x0abcu

static _Alignas(4096) char memory[SIZE];
static uint64_t seed = 1;
extern __thread struct {
	void *cur;
	uint16_t own;
} __snarl_tls;

struct question {
	const char *first;
	long stride, iterations, last;	/* last byte of an iteration */
};

static uint16_t *shadow(const char *at)
{
	return (uint16_t *)(0x7fff8000 + ((uintptr_t)at >> 3) * 2);
}

static long roll(long below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (long)((seed >> 33) * (uint64_t)below >> 31);
}

/* 1: shared, 0: private, -1: neither. Bits that were set before (5) must stay. */
static int look(const struct question *q)
{
	uint64_t iterations = (uint64_t)q->iterations - 1, kept = iterations;
	uint64_t stride = (uint64_t)q->stride, last = (uint64_t)q->last;
	const char *first = q->first;
	uint32_t bits = 5;
	uint8_t equal;

	__asm__ volatile("subq $256, %%rsp\n\tcall __snarl_loop_look_apart\n\t"
			 "sete %[equal]\n\taddq $256, %%rsp"
			 : "+a"(first), "+d"(stride), "+S"(bits), "+D"(last), "+c"(kept),
			   [equal] "=&r"(equal)
			 : : "memory", "cc");
	if (kept != iterations)
		return 2;
	if (!equal)
		return -1;
	return bits == 11 ? 1 : bits == 10 ? 0 : 3;
}

static int slow_look(const struct question *q)
{
	uint16_t value = *shadow(q->first);

	for (long t = 0; t < q->iterations; t++) {
		const char *at = q->first + t * q->stride;

		for (const uint16_t *s = shadow(at); s <= shadow(at + q->last); s++)
			if (*s != value)
				return -1;
	}
	return value == SHARED ? 1 : value == __snarl_tls.own && value ? 0 : -1;
}

/* Short gaps may be checked as well; with long or odd strides they may not. */
static void check(const struct question *q)
{
	int want = slow_look(q), got = look(q);
	int far = q->stride > NEAR || q->stride < -NEAR;

	if (far && (q->stride % 8 || q->stride != (int16_t)q->stride))
		want = -1;
	if (got == want || (!far && got == -1))
		return;
	printf("%ld iterations by %ld, %ld bytes from %p on: %d, not %d\n", q->iterations,
	       q->stride, q->last + 1,
	       (const void *)q->first, got, want);
	exit(1);
}

static void fill(const struct question *q, uint16_t value)
{
	for (long t = 0; t < q->iterations; t++)
		for (long byte = 0; byte <= q->last; byte++)
			*shadow(q->first + t * q->stride + byte) = value;
}

static long any_stride(void)
{
	switch (roll(8)) {
	case 0:
		return roll(2 * NEAR + 1) - NEAR;
	case 1:
		return roll(80000) - 40000;
	case 2:
		return roll(2) ? 32767 : -32768;
	default:
		return roll(2) ? roll(8192) * 8 - 32768 : roll(64) * 8 - 256;
	}
}

/* Is the answer one of the two? */
static int one(uint16_t value, uint16_t beside)
{
	struct question q = { memory + SIZE / 2 + roll(64), any_stride(), 1 + roll(TURNS),
			      roll(24) };
	char *odd = (char *)q.first + roll(q.iterations) * q.stride + roll(q.last + 1);
	int found;

	fill(&q, value);
	check(&q);
	found = look(&q) >= 0;
	*shadow(odd) = roll(2) ? OTHER : roll(2) ? SHARED : __snarl_tls.own;
	check(&q);
	fill(&q, beside);
	return found;
}

int main(void)
{
	uint16_t values[] = { 0, SHARED, OTHER, __snarl_tls.own };
	long found = 0;

	for (unsigned b = 0; b < 4; b++) {
		for (long i = 0; i < SIZE; i += 8)
			*shadow(memory + i) = values[b];
		for (unsigned i = 0; i < 80000; i++)
			found += one(values[i % 4], values[b]);
	}
	memset(shadow(memory), 0, SIZE / 4);
	printf("own is %s, %s\n", __snarl_tls.own ? "known" : "none",
	       found > 80000 ? "much is" : "little is");
	return 0;
}
