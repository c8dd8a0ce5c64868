# The recording filter learns which allocation sites make blocks that another thread takes over:
# later blocks of such a site count as shared from the start. No access to memory that both threads
# touch is missing, before and after the habit changes. A freed block stays shared until its memory
# is allocated at another site.
. "$SNARL_ROOT/tests/lib.sh"

cat >blocks.c <<'END'
#include <pthread.h>
#include <stdlib.h>

#define BLOCKS 300
#define WORDS 20

static pthread_barrier_t barrier;
static long *handed[BLOCKS];
static long sum;

static void fill(long *p, long n)
{
	for (int k = 0; k < WORDS; k++)
		p[k] = n + k;
}

/* in turns: the first thread makes a block, the second reads and frees it; later every third
 * block is kept */
static void *part(void *second)
{
	for (long i = 0; i < BLOCKS; i++) {
		int keep = i > BLOCKS / 2 && i % 3 == 0;

		if (!second) {
			long *own = malloc(WORDS * sizeof(long));

			handed[i] = malloc(WORDS * sizeof(long));
			fill(own, i);
			fill(handed[i], i);
			free(own);
			if (keep)
				free(handed[i]);
		}
		pthread_barrier_wait(&barrier);
		if (second && !keep) {
			for (int k = 0; k < WORDS; k++)
				sum += handed[i][k];
			free(handed[i]);
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, part, &thread);
	part(NULL);
	pthread_join(thread, NULL);
	return sum == 0;
}
END

# shared_of NAME: records ./prog with $options; accesses to shared memory go to NAME.txt
shared_of() {
	$fixed snarl record --exit-code --out "$1.snarl" $options -- ./prog >out 2>err </dev/null ||
		{ cat out err; fail "$cc: cannot record"; }
	"$tools/shared" "$1.snarl" >"$1.txt" || fail "$cc: cannot read the trace"
}

all_of() {
	options=--no-filter
	shared_of "$1"
}

kept_of() {
	options=
	shared_of "$1"
}

for cc in $(compilers); do
	wrap $cc blocks.c prog -O1 -pthread
	agree all_of kept_of || same "$cc: other accesses to shared memory" a1.txt b1.txt
	[ "$(wc -l <a1.txt)" -gt 8000 ] || fail "$cc: only $(wc -l <a1.txt) accesses were compared"
done

cat >again.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCKS 50	/* so that the last block is not one of those sampled to relearn the site */
#define WORDS 20
#define TIMES 40000

static pthread_barrier_t barrier;
static volatile long *handed;
static void *volatile kept[7];
static long sum;

/* Fills more than two rings, since the first may still hold earlier events. Strided, so it is no
 * loop record. */
static inline void use(volatile long *p)
{
	for (int k = 0; k < TIMES; k++)
		p[2 + k * 7 % (WORDS - 2)] = k;
}

__attribute__((noinline)) static void late(uintptr_t gone)
{
	use((volatile long *)gone);
}

/* the block that this thread freed last, allocated again */
__attribute__((noinline)) static int own(uintptr_t gone)
{
	volatile long *p = malloc(WORDS * sizeof(long));

	use(p);
	__asm__("" : "+r"(gone));	/* or the compiler knows that it cannot be */
	return (uintptr_t)p == gone;
}

/* empties the cache of freed blocks that glibc keeps per thread (7 of each size) */
static void room(void)
{
	for (int i = 0; i < 7; i++)
		kept[i] = malloc(WORDS * sizeof(long));
}

static void *taker(void *unused)
{
	uintptr_t gone = 0;

	(void)unused;
	for (int i = 0; i < BLOCKS; i++) {
		pthread_barrier_wait(&barrier);
		if (i == BLOCKS - 1)
			room();
		for (int k = 0; k < WORDS; k++)
			sum += handed[k];
		gone = (uintptr_t)handed;
		free((void *)handed);
		pthread_barrier_wait(&barrier);
	}
	late(gone);
	return own(gone) ? &sum : NULL;
}

int main(void)
{
	pthread_t thread;
	void *same;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, taker, NULL);
	for (int i = 0; i < BLOCKS; i++) {
		volatile long *p = malloc(WORDS * sizeof(long));

		for (int k = 0; k < WORDS; k++)
			p[k] = i;
		handed = p;
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, &same);
	return !same;
}
END

# writes FUNCTION: counts its recorded writes
writes() {
	grep ' write ' events | grep -c " $1 again.c" || :
}

for cc in $(compilers); do
	wrap $cc again.c prog -O1 -pthread
	$fixed snarl record --exit-code --out t.snarl -- ./prog >out 2>err </dev/null ||
		{ cat out err; fail "$cc: cannot record, or the memory is another one"; }
	snarl dump t.snarl >events
	[ "$(writes late)" = 40000 ] ||
		fail "$cc: the block did not stay shared: $(writes late) of 40000"
	[ "$(writes own)" -lt 10000 ] ||
		fail "$cc: the block stayed shared in its next life: $(writes own)"
done
