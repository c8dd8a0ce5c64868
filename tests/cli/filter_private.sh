# The filter learns allocation sites whose buffers stay private: once the window was full, later
# buffers of that site are dropped at once. Buffers that the same allocator returns to a caller that
# hands them over are recorded. The first handed-over buffer of a private site loses its history,
# which is counted word by word; all later ones are recorded.
. "$SNARL_ROOT/tests/lib.sh"
need jq

cat >buffers.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PRIVATE 400
#define HANDED 20

static pthread_barrier_t barrier;
static volatile long *handed;
static long words, sum;
static int copy;

__attribute__((noinline)) static volatile long *get(void)
{
	volatile long *p = malloc(words * sizeof(long));

	for (long k = 0; k < words; k++)
		p[k] = k;
	return p;
}

static void hand(volatile long *p)
{
	handed = p;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	free((void *)p);
}

/* hands over the last `last` buffers of the loop */
__attribute__((noinline)) static void private(int last)
{
	for (int i = 0; i < PRIVATE + last; i++) {
		volatile long *p = get();

		if (i < PRIVATE)
			free((void *)p);
		else
			hand(p);
	}
}

__attribute__((noinline)) static void shared(void)
{
	for (int i = 0; i < HANDED; i++)
		hand(get());
}

/* an unaligned copy: only half of the first and last word */
static void take_copy(void)
{
	size_t size = words * sizeof(long) - 8;
	char *mine = malloc(size);

	memcpy(mine, (const char *)handed + 4, size);
	sum += mine[size / 2];
	free(mine);
}

static void *taker(void *count)
{
	sum = words + copy;	/* shared from now on */
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < (long)count; i++) {
		pthread_barrier_wait(&barrier);
		if (copy)
			take_copy();
		else
			for (long k = 0; k < words; k++)
				sum += handed[k];
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int last = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;

	words = atol(argv[1]);
	copy = argc > 3;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, taker, (void *)(long)(HANDED + last));
	pthread_barrier_wait(&barrier);
	private(0);
	shared();
	if (last)
		private(last);
	pthread_join(thread, NULL);
	return sum == 0;
}
END

# losses WORDS LAST [copy]: sets the numbers of cut locations and records of a run
losses() {
	$fixed snarl record --json --window 64K --out t.snarl -- ./prog $1 $2 ${3:-} >json 2>err \
		</dev/null ||
		{ cat err; fail "$cc: cannot record"; }
	locations=$(jq .losses.cut_locations json) records=$(jq .losses.cut_records json)
}

for cc in $(compilers); do
	wrap $cc buffers.c prog -O1 -pthread
	for words in 1024 20000; do
		losses $words 0
		[ $locations = 0 ] || fail "$cc, $words words: $locations locations were cut"
		# Each word is written once; without the learnt habit 400 times as many records
		# would be dropped.
		[ $records -gt 0 ] && [ $records -lt $((words * 120)) ] ||
			fail "$cc, $words words: $records records were dropped"
		losses $words 1
		[ $locations = $words ] ||
			fail "$cc, $words words: $locations locations of one were cut"
		losses $words 2
		[ $locations = $words ] ||
			fail "$cc, $words words: $locations locations of two were cut"
		losses $words 1 copy
		[ $locations = $words ] ||
			fail "$cc, $words words: $locations locations of a copied one were cut"
	done
done
