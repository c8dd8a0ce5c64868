/*
 * __snarl_loop_learn against __snarl_loop_look and one granule after the other: memory of random lengths in runs of random
 * values. What a site says it knows has to be so, nothing may be known of what is neither shared nor the thread's own, and
 * memory that is looked at often enough is known as far as it goes, or two kilobytes; who is stirred up forgets. The shadow of an array is
 * filled by hand for that; nothing of this is instrumented.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRANULES 4096u
#define SHARED 0xffffu
#define OTHER 0x0abcu
#define SITE 7
#define AROUND 256u
#define ENOUGH 64u		/* looks */

static _Alignas(64) char memory[GRANULES * 8];
extern __thread struct {
	void *cur;
	uint16_t own;
} __snarl_tls;
extern __thread struct {
	const uint8_t *stirred;
	uint32_t unlearnt, pause;
	struct {
		uint64_t first, last, shared;
	} site[64];
} __snarl_known;
void __tsan_write8(void *addr);

static uint16_t *shadow(unsigned granule)
{
	return (uint16_t *)(0x7fff8000 + ((uintptr_t)memory >> 3) * 2) + granule;
}

/* The shadow was changed by hand: the thread may believe nothing of what it knows any more (runtime/known.h). */
static void stir(void)
{
	void *block = malloc(16);

	__tsan_write8(block);
	free(block);
}

#define FAIL(...) (printf(__VA_ARGS__), exit(1))

/* 1 shared, 0 private, -1 neither; the bits that were there before are 5. */
static int learn(unsigned at, const char *first, const char *last)
{
	register uint64_t r8 __asm__("r8") = 8, r9 __asm__("r9") = 9, r10 __asm__("r10") = 10, r11 __asm__("r11") = 11;
	uint64_t site = 16 + 24 * at, same = 0x1234567;
	uint32_t bits = 5;
	uint8_t equal;

	__asm__ volatile("subq $256, %%rsp\n\tcall __snarl_loop_learn\n\tsete %[equal]\n\taddq $256, %%rsp"
			 : "+a"(first), "+d"(last), "+S"(bits), "+D"(site), "+c"(same), [equal] "=&b"(equal), "+r"(r8), "+r"(r9),
			   "+r"(r10), "+r"(r11)
			 :
			 : "memory", "cc");
	if (same != 0x1234567 || r8 != 8 || r9 != 9 || r10 != 10 || r11 != 11)
		FAIL("a register was changed\n");
	return !equal ? -1 : bits == 11 ? 1 : bits == 10 ? 0 : 3;
}

static int slow_look(unsigned first, unsigned last)
{
	uint16_t value = *shadow(first);

	for (unsigned i = first; i <= last; i++)
		if (*shadow(i) != value)
			return -1;
	return value == SHARED ? 1 : value == __snarl_tls.own ? 0 : -1;
}

static unsigned granule(uint64_t addr)
{
	return (unsigned)((addr - (uint64_t)memory) / 8);
}

/* What is known has to be so, and to reach as far as it can. */
static void check_site(unsigned first, unsigned last)
{
	unsigned from = granule(__snarl_known.site[SITE].first), to = granule(__snarl_known.site[SITE].last), least = first, most = last;
	int what = slow_look(first, last);

	if (slow_look(from, to) != (int)__snarl_known.site[SITE].shared || __snarl_known.site[SITE].first % 8 || __snarl_known.site[SITE].last % 8 != 7)
		FAIL("%u to %u are not %s\n", from, to, __snarl_known.site[SITE].shared ? "shared" : "own");
	while (first - least < AROUND && slow_look(least - 1, last) == what)
		least--;
	while (most - last < AROUND && slow_look(first, most + 1) == what)
		most++;
	if (from > least || to < most)
		FAIL("%u to %u are known, not %u to %u\n", from, to, least, most);
}

static void fill(void)
{
	const uint16_t values[] = { SHARED, __snarl_tls.own, SHARED, __snarl_tls.own, 0, OTHER };

	for (unsigned i = 0; i < GRANULES;) {
		uint16_t value = values[(unsigned)rand() % 6];
		unsigned run = 1 + (unsigned)rand() % (rand() % 4 ? 40 : 700);

		for (; run && i < GRANULES; run--, i++)
			*shadow(i) = value;
	}
	stir();
}

/* Who is stirred up and learns something believes nothing else that was known. */
static void check_calm(uint16_t value)
{
	unsigned looks = 0;

	for (unsigned i = 0; i < GRANULES; i++)
		*shadow(i) = value;
	stir();
	while (looks++ < ENOUGH && !__snarl_known.site[SITE].last)
		learn(SITE, memory + 8192, memory + 8199);
	stir();
	if (!__snarl_known.site[SITE].last || !*__snarl_known.stirred)
		FAIL("nothing is known, or it stays calm\n");
	while (looks++ < 3 * ENOUGH && *__snarl_known.stirred)
		learn(SITE + 1, memory + 8192, memory + 8199);
	if (*__snarl_known.stirred || __snarl_known.site[SITE].last || !__snarl_known.site[SITE + 1].last)
		FAIL("it is not calm, or has not forgotten\n");
}

int main(void)
{
	unsigned known[2] = { 0, 0 };

	for (unsigned round = 0; round < 20000; round++) {
		unsigned count = 1 + (unsigned)rand() % 50, from = 1024 + (unsigned)rand() % 2048, last = from + count - 1, looks = 0;
		int want;

		if (round % 20 == 0)
			fill();
		want = slow_look(from, last);
		__snarl_known.site[SITE].last = 0;
		do
			if (learn(SITE, memory + from * 8 + (unsigned)rand() % 8, memory + last * 8 + 7) != want)
				FAIL("%u granules from %u on: not %d\n", count, from, want);
		while (++looks < ENOUGH && !__snarl_known.site[SITE].last);
		if ((want < 0) != (__snarl_known.site[SITE].last == 0))
			FAIL("%u granules from %u on, which are %d: known up to %#lx\n", count, from, want, (long)__snarl_known.site[SITE].last);
		if (want < 0)
			continue;
		check_site(from, last);
		known[want]++;
	}
	check_calm(SHARED);
	check_calm(__snarl_tls.own);
	memset(shadow(0), 0, 2 * GRANULES);
	printf(known[0] > 1000 && known[1] > 1000 ? "own is known, much is\n" : "hardly anything is known\n");
	return 0;
}
