/*
 * Runs the loops of shapes.S on memory that is private, shared, or partly both. One thread at a
 * time, so the events are always the same. Prints at the end whether loops ran as loop records or
 * with hooks.
 *
 *   shapes loops|hooks|- short|long|later|lives|cut|teeth|killed|registers|wanted
 *                         (wanted: fails if hooks do not run)
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void shape(char *a, char *b, long iterations, long stride, char *c);
extern shape copy, row, down, far, wide, many;
extern uint8_t __snarl_loops;

struct registers {
	uint64_t general[16];
	uint8_t vector[16][32];
	uint8_t wide, pad[7];
	uint8_t x87[16];
};

void kept(struct registers *before, struct registers *after, long iterations, char *a);

static _Alignas(4096) char ours[1 << 20], mine[1 << 20], some[1 << 20], late[1 << 20],
	comb[1 << 17], scalar[64];
static int cutting;
static const long iterations[] = { 1, 2, 3, 7, 16, 100, 257, 1000 };

/* All addresses are aligned for their hooks. */
static __attribute__((noinline)) void most_shapes(char *a, char *b, long n, char *c)
{
	copy(a, b, n, 0, c);
	row(a, b, n, 0, c);
	down(a, b, n, 0, c);
	far(a, b, n, 40, c);
	far(a + 2, b, n, 0, c);
	far(a, b, n, 16, c);
	far(a + 8, b + 6, n, 32, c);
	far(a + 4, b + 2, n, 20, c);
	far(a + (1 << 18), b + (1 << 18), n, -24, c);
	far(a, b, n < 10 ? n : 10, 40000, c);
	far(a + 900000, b + 900000, n < 10 ? n : 10, -40000, c);
	wide(a, b, n, 0, c);
	wide(a + 8, b + 8, n, 0, c);
	many(a, b, n, 0, c);
}

static __attribute__((noinline)) void all_shapes(char *a, char *b, long n, char *c)
{
	most_shapes(a, b, n, c);
	copy(a + 5, b + 3, n, 0, c);
}

#define TEETH 98304
#define EDGE (comb + TEETH)

/* Loops over a comb of memory: every fourth granule is shared, the others are private. */
static void comb_shapes(long n)
{
	for (int tooth = 0; tooth < 32; tooth += 8) {
		far(comb + tooth, ours, n, 32, scalar);
		far(comb + tooth, ours, n, 64, scalar);
		wide(comb + (tooth & 16), ours, n, 0, scalar);
	}
}

/* Memory that only this thread accesses, memory that all access, and blocks of both kinds. */
static void *work(void *arg)
{
	long n = *(const long *)arg;

	all_shapes(ours, ours + 4096, n, scalar);
	all_shapes(mine, mine + 4096, n, mine + 8192);
	all_shapes(mine, ours, n, scalar);
	all_shapes(some, mine, n, scalar);
	comb_shapes(n);
	return NULL;
}

static void touch_blocks(char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 256)
		memset(from + i, 1, 96);
}

static void touch_teeth(void)
{
	for (size_t i = 0; i < TEETH; i += 32)
		memset(comb + i, 1, 8);
}

static void *touch(void *unused)
{
	memset(ours, 0, sizeof(ours));
	memset(scalar, 0, sizeof(scalar));
	touch_blocks(some, sizeof(some));
	if (!cutting)
		touch_teeth();
	return unused;
}

static void in_thread(void *routine(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, routine, arg) || pthread_join(t, NULL))
		exit(3);
}

static void *long_loops(void *unused)
{
	copy(ours, ours + (1 << 19), 8191, 0, scalar);
	copy(ours, ours + (1 << 19), 8192, 0, scalar);
	copy(ours, ours + (1 << 19), 8193, 0, scalar);
	copy(ours, mine, 40000, 0, scalar);
	row(ours, mine, 20000, 0, scalar);
	return unused;
}

/* So many loops that rings are flushed within them. */
static void *many_loops(void *unused)
{
	for (int i = 0; i < 3000; i++) {
		copy(ours + i, ours + 8192, 20 + i % 5, 0, scalar);
		row(ours + 8 * (i % 64), mine + 8192, 16, 0, scalar);
		if (i % 7 == 0)
			many(ours, ours + i, 3, 0, scalar);
	}
	return unused;
}

/* Private while the loops run; another thread accesses blocks of the first half later. */
static void *private_yet(void *unused)
{
	for (size_t i = 0; i < 6; i++) {
		all_shapes(late, late + 4096, iterations[i], late + 8192);
		all_shapes(ours, late, iterations[i], scalar);
	}
	return unused;
}

static void *touch_late(void *unused)
{
	touch_blocks(late, sizeof(late) / 2);
	return unused;
}

#define BLOCK 32768

static void *touch_low(void *block)
{
	memset(block, 1, 400);
	return NULL;
}

static void *touch_high(void *block)
{
	memset((char *)block + BLOCK / 2, 1, 400);
	return NULL;
}

/* A block that other threads access before it is freed and not after it is allocated again; and
 * the reverse. */
static void *lives(void *unused)
{
	for (int i = 0; i < 2; i++) {
		char *first = malloc(BLOCK), *second;
		intptr_t place = (intptr_t)first;

		copy(first, first + BLOCK / 2, 100, 0, scalar);
		if (i == 0)
			in_thread(touch_low, first);
		free(first);
		second = malloc(BLOCK);
		if ((intptr_t)second != place)
			exit(3);
		copy(second, second + BLOCK / 2, 90, 0, scalar);
		if (i == 1)
			in_thread(touch_high, second);
		row(second, second + BLOCK / 4, 80, 0, second + BLOCK / 2);
		free(second);
	}
	return unused;
}

static void *touch_all(void *unused)
{
	touch_blocks(late, sizeof(late));
	return unused;
}

/* Fills the window with loops, so that their memory loses its history; then part of it becomes
 * shared. */
static void *cut(void *unused)
{
	for (int i = 0; i < 9000; i++)
		row(late + 8 * (i % 64), late + 32768, 100, 0, late + 65536);
	in_thread(touch_all, NULL);
	for (size_t i = 0; i < 6; i++)
		most_shapes(late, late + 4096, iterations[i], late + 65536);
	return unused;
}

static void *touch_comb(void *unused)
{
	touch_teeth();
	memset(EDGE, 1, 3200);
	memset(EDGE + 6400, 1, 3200);
	return unused;
}

/* Like cut(), with every fourth granule shared; and long loops that leave shared memory in their
 * last iterations. */
static void *cut_teeth(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		copy(comb, comb + 65536, 800, 0, scalar);
		copy(EDGE, EDGE, 800, 0, scalar);
	}
	in_thread(touch_comb, NULL);
	for (long n = 1; n < 80; n += 13)
		comb_shapes(n);
	for (long over = 0; over < 20; over++) {
		copy(EDGE + 3200 - 8 * (100 - over), ours, 100, 0, scalar);
		copy(EDGE + 6400 - 8 * (100 - over), ours, 100, 0, scalar);
		row(ours, EDGE + 3200, 10 + over, 0, scalar);
		row(EDGE + 3200, ours, 10 + over, 0, scalar);
	}
	return unused;
}

static void check_registers(long n, char *a)
{
	static struct registers before, after;

	before.wide = after.wide = (uint8_t)(__builtin_cpu_supports("avx") != 0);
	for (int i = 0; i < 16; i++)
		before.general[i] = 0x1111111111111111ull * (uint64_t)i;
	before.general[4] = 0;
	for (int i = 0; i < 16; i++)
		memset(before.vector[i], i + 1, before.wide ? 32 : 16);
	*(long double *)(void *)before.x87 = 1.25L + n;
	kept(&before, &after, n, a);
	if (memcmp(before.general, after.general, sizeof(before.general)) ||
	    memcmp(before.vector, after.vector, sizeof(before.vector)) ||
	    memcmp(before.x87, after.x87, 10)) {
		printf("registers are not kept (%ld iterations)\n", n);
		exit(1);
	}
}

static void short_loops(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		long n = iterations[i];

		in_thread(work, &n);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	if (argc > 1 && strcmp(argv[1], "hooks") == 0)
		__snarl_loops = 0;
	cutting = strcmp(what, "teeth") == 0;
	touch(NULL);
	in_thread(touch, NULL);
	if (strcmp(what, "registers") == 0) {
		for (long n = 0; n < 300; n++) {
			check_registers(n, ours);
			check_registers(n, mine);
			check_registers(n, some + n);
		}
		check_registers(20000, ours);
	} else if (strcmp(what, "long") == 0) {
		short_loops(sizeof(iterations) / sizeof(iterations[0]));
		in_thread(long_loops, NULL);
		in_thread(many_loops, NULL);
	} else if (strcmp(what, "short") == 0) {
		short_loops(4);
	} else if (strcmp(what, "later") == 0) {
		in_thread(private_yet, NULL);
		in_thread(touch_late, NULL);
	} else if (strcmp(what, "lives") == 0) {
		in_thread(lives, NULL);
	} else if (strcmp(what, "cut") == 0) {
		in_thread(cut, NULL);
	} else if (strcmp(what, "teeth") == 0) {
		in_thread(cut_teeth, NULL);
	} else if (strcmp(what, "killed") == 0) {
		row(ours, ours + 4096, 100, 0, scalar);
		raise(SIGKILL);
	}
	if (strcmp(what, "wanted") == 0 && __snarl_loops)
		return 1;
	puts(__snarl_loops ? "loops" : "hooks");
	return 0;
}
