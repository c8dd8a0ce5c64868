/*
 * Compares __snarl_loop_look with a check of one granule after the other. Memory of every length up
 * to some hundred granules, from each byte of its first granule to each of its last; all of one
 * shadow value, or with another value in one place; other values beside it. The shadow of an array
 * is filled by hand, and nothing here is instrumented. Exits with the failed case if a result
 * differs or a register is not kept.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRANULES 100
#define SHARED 0xffffu
#define OTHER 0x0abcu

static _Alignas(64) char memory[(GRANULES + 64) * 8];
extern __thread struct {
	void *cur;
	uint16_t own;
} __snarl_tls;

static uint16_t *shadow(unsigned granule)
{
	return (uint16_t *)(0x7fff8000 + ((uintptr_t)memory >> 3) * 2) + granule;
}

/* 1: shared, 0: private, -1: neither. Bits that were set before (5) must stay. */
static int look(const char *first, const char *last)
{
	static const uint64_t vector[6] = { 1, 2, 3, 4, 5, 6 };
	uint64_t after[6], keep = 0x1234567;
	uint32_t bits = 5, same = keep;
	uint8_t equal;

	__asm__ volatile("movups (%[v]), %%xmm0\n\tmovups 16(%[v]), %%xmm1\n"
			 "\tmovups 32(%[v]), %%xmm2\n"
			 "\tsubq $256, %%rsp\n\tmovq %[keep], %%rcx\n\tcall __snarl_loop_look\n"
			 "\tsete %[equal]\n\taddq $256, %%rsp\n"
			 "\tmovups %%xmm0, (%[w])\n\tmovups %%xmm1, 16(%[w])\n"
			 "\tmovups %%xmm2, 32(%[w])"
			 : "+a"(first), "+d"(last), "+S"(bits), [equal] "=&r"(equal), "=&c"(same)
			 : [v] "r"(vector), [w] "r"(after), [keep] "r"(keep)
			 : "rdi", "memory", "cc", "xmm0", "xmm1", "xmm2");
	if (memcmp(vector, after, sizeof(vector)) || same != keep)
		return 2;
	if (!equal)
		return -1;
	return bits == 11 ? 1 : bits == 10 ? 0 : 3;
}

static int slow_look(unsigned first, unsigned last)
{
	uint16_t value = *shadow(first);

	for (unsigned i = first; i <= last; i++)
		if (*shadow(i) != value)
			return -1;
	return value == SHARED ? 1 : value == __snarl_tls.own && value ? 0 : -1;
}

static void check(unsigned from, unsigned count, unsigned low, unsigned high, int want)
{
	int got = look(memory + from * 8 + low, memory + (from + count - 1) * 8 + high);

	if (got == want)
		return;
	printf("%u granules from %u on, bytes %u to %u: %d, not %d\n", count, from, low, high, got,
	       want);
	exit(1);
}

static void one(unsigned from, unsigned count, uint16_t value, uint16_t beside)
{
	static const uint16_t values[] = { 0, SHARED, OTHER };

	for (unsigned i = 0; i < GRANULES + 64; i++)
		*shadow(i) = i - from < count ? value : beside;
	for (unsigned b = 0; b < 64; b++)
		if (count > 1 || b / 8 <= b % 8)
			check(from, count, b / 8, b % 8, slow_look(from, from + count - 1));
	for (unsigned at = from; at < from + count; at++)
		for (unsigned k = 0; k < 4; k++) {
			*shadow(at) = k < 3 ? values[k] : __snarl_tls.own;
			check(from, count, at % 8, at % 8, slow_look(from, from + count - 1));
			*shadow(at) = value;
		}
}

int main(void)
{
	uint16_t values[] = { 0, SHARED, OTHER, __snarl_tls.own };

	for (unsigned from = 8; from < 16; from++)
		for (unsigned count = 1; count <= GRANULES; count++)
			for (unsigned k = 0; k < 16; k++)
				one(from, count, values[k / 4], values[k % 4]);
	memset(shadow(0), 0, 2 * (GRANULES + 64));
	printf("own is %s\n", __snarl_tls.own ? "known" : "none");
	return 0;
}
