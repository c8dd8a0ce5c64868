# Threads are cancelled asynchronously during accesses and atomics, most often inside the runtime.
# No lock of the runtime stays held (the program would hang), nothing is lost, and each thread ends
# in the trace.
. "$SNARL_ROOT/tests/lib.sh"

cat >cancel.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int shared[64], cleaned;
static atomic_int counter, running;

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void *work(void *unused)
{
	(void)unused;
	pthread_cleanup_push(clean, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	atomic_store(&running, 1);
	for (unsigned i = 0;; i++) {
		shared[i % 64]++;
		atomic_fetch_add(&counter, 1);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		pthread_t thread;
		void *value;

		atomic_store(&running, 0);
		pthread_create(&thread, NULL, work, NULL);
		while (!atomic_load(&running))
			;
		for (int j = 0; j < i; j++)
			shared[j % 64]++;
		pthread_cancel(thread);
		pthread_join(thread, &value);
		if (value != PTHREAD_CANCELED)
			return 1;
		atomic_fetch_add(&counter, 1);	/* hangs if the cancelled thread left a lock of
						 * the runtime held */
		shared[0]++;
	}
	printf("%d\n", cleaned);
	return 0;
}
END

for cc in $(compilers); do
	wrap "$cc" cancel.c prog -O1 -pthread
	RECORD_OPTIONS= record t.snarl timeout 60 ./prog 40
	[ "$(cat record.out)" = 40 ] || fail "$cc: $(cat record.out) of 40 were cleaned up"
	! grep lost record.err || fail "$cc: something was lost"
	"$tools/count" t.snarl end >ends || fail "$cc: unreadable"
	[ "$(grep -c ' 1$' ends)" = 40 ] || fail "$cc: $(grep -c ' 1$' ends) of 40 ends"
	"$tools/count" t.snarl cancel >cancels
	grep -q '^0 40$' cancels || fail "$cc: cancels: $(cat cancels)"
done
