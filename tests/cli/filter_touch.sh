# A thread's granules lose their early history when the window is full. If another thread then
# touches them, each such granule is counted once, for accesses of every size, with and without a
# second thread running when the history was lost. A miscount would hide that a trace is incomplete.
. "$SNARL_ROOT/tests/lib.sh"
need jq

cat >touch.c <<'end_c'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define COUNT 64
#define NOISE 300000

struct pair {
	uint64_t a, b;
};
static _Alignas(16) volatile uint64_t words[COUNT];
static _Alignas(16) struct pair pairs[COUNT];
static volatile uint64_t scratch, noise;
static pthread_barrier_t barrier;

/* bits of an index: written before the window is full (first, second half), written after */
enum { FIRST = 1, SECOND = 2, LATE = 4 };

__attribute__((noinline)) static void copy(struct pair *to, const struct pair *from)
{
	__asm__ volatile("" : "+r"(to), "+r"(from));	/* gcc would pass values and load them
							 * without a hook */
	*to = *from;
	__asm__ volatile("" : : "r"(to) : "memory");
}

static void set(volatile uint64_t *p)
{
	*p = 1;
}

static void own(int early, int late)
{
	struct pair from = { 3, 4 };

	for (int i = 0; i < COUNT; i++) {
		if (early && i & FIRST)
			set(&words[i]), set(&pairs[i].a);
		if (early && i & SECOND)
			set(&pairs[i].b);
		if (late && i & LATE)
			set(&words[i]), copy(&pairs[i], &from);
	}
}

static void take(void)
{
	struct pair sum;

	for (int i = 0; i < COUNT; i++) {
		volatile void *p = &words[i];

		switch (i >> 3 & 3) {
		case 0: scratch += *(volatile uint8_t *)p; break;
		case 1: scratch += *(volatile uint16_t *)p; break;
		case 2: scratch += *(volatile uint32_t *)p; break;
		case 3: scratch += *(volatile uint64_t *)p; break;
		}
		copy(&sum, &pairs[i]);
	}
}

static void *taker(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	take();
	take();
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	int before = argc > 1 && atoi(argv[1]);
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (before)
		own(1, 0);
	pthread_create(&thread, NULL, taker, NULL);
	pthread_barrier_wait(&barrier);
	if (!before)
		own(1, 0);
	/* fills the window; the history of `noise` is cut as well, but no other thread touches
	 * it */
	for (int i = 0; i < NOISE; i++)
		set(&noise);
	own(0, 1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	own(1, 1);
	pthread_join(thread, NULL);
	return 0;
}
end_c

# 96 granules: 32 words, 32 first and 32 second halves of pairs. Only the taker uses `scratch`.
for cc in $(compilers); do
	for option in -O0 -O2 -mavx '-O1 -fpie -pie' '-O1 --no-inline'; do
		wrap $cc touch.c prog $option --no-loops -pthread
		for before in 0 1; do
			$fixed snarl record --json --window 64K --out t.snarl -- ./prog $before \
				>json 2>err </dev/null ||
				{ cat err; fail "$cc $option: cannot record"; }
			locations=$(jq .losses.cut_locations json)
			[ "$locations" = 96 ] ||
				fail "$cc $option $before: $locations locations were cut"
		done
	done
done

# A store of 8 bytes through a misaligned pointer touches two granules; both count.
cat >across.c <<'end_c'
#include <pthread.h>
#include <stdint.h>

static _Alignas(16) char memory[1024];
static volatile uint32_t sum;

__attribute__((noinline)) static void put(volatile uint64_t *p)
{
	*p = 7;
}

static void *taker(void *arg)
{
	for (int i = 0; i < 64; i++)
		sum += *(volatile uint32_t *)(memory + 16 * i + 8);
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 64; i++)
		put((volatile uint64_t *)(memory + 16 * i + 4));
	pthread_create(&thread, NULL, taker, NULL);
	pthread_join(thread, NULL);
	return 0;
}
end_c
for cc in $(compilers); do
	for option in -O1 '-O1 --no-inline'; do
		wrap $cc across.c prog $option --no-loops -pthread
		$fixed snarl record --out t.snarl -- ./prog 2>err </dev/null ||
			{ cat err; fail "$cc $option: cannot record"; }
		writes=$(snarl dump --text t.snarl | grep -c ' write [^ ]*:8 ')
		[ "$writes" = 64 ] || fail "$cc $option: $writes of 64 writes across granules"
	done
done
