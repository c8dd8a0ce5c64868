# Blocks that one thread makes and the other takes over: after some, the next ones of
# that place count as shared from the start. Those of other places do not, and nothing
# of what both threads touch is missing, with a habit and after it has changed.
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

/* In turns: the first makes a block, the second takes it; now and then nobody does. */
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
