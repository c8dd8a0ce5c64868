# 400 signals to instrumented threads: the trace has each handler once, with entry and exit,
# wherever the signal struck, also if handlers leave by siglongjmp.
. "$SNARL_ROOT/tests/lib.sh"

cat >storm.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int shared[1024], jumping;
static int hits, jumps, done;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t arrived;
static __thread sigjmp_buf back;
static __thread volatile int armed;

static void handler(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++)
		shared[i]++;
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	sem_post(&arrived);
	if (jumping && armed) {
		armed = 0;
		__atomic_fetch_add(&jumps, 1, __ATOMIC_RELAXED);
		siglongjmp(back, 1);
	}
}

static int descend(int depth)
{
	shared[depth]++;
	return depth ? descend(depth - 1) + 1 : 0;
}

static void *work(void *unused)
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		if (sigsetjmp(back, 1) == 0) {
			armed = 1;
			descend(20);
			armed = 0;
		}
		pthread_mutex_lock(&m);
		shared[100]++;
		pthread_mutex_unlock(&m);
		free(malloc((size_t)shared[100] % 500));
	}
	return unused;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t thread[2];

	(void)argv;
	jumping = argc > 1;
	sem_init(&arrived, 0, 0);
	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 400; i++) {
		pthread_kill(thread[i % 2], SIGUSR1);
		while (sem_wait(&arrived) != 0)
			;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d %d\n", hits, jumps);
	return 0;
}
END

# count KIND: the number of events of this kind, from the statistics
count() {
	awk -v kind="$1" '$2 == kind && NF == 2 { n = $1 } END { print n + 0 }' stats
}

for cc in $(one_of $(compilers)); do
	wrap "$cc" storm.c prog -O2 -pthread
	for jump in "" jump; do
		RECORD_OPTIONS= record t.snarl ./prog $jump
		read -r hits jumps <record.out
		[ "$hits" = 400 ] || fail "$cc: $hits signals arrived"
		snarl dump --stats t.snarl >stats
		[ "$(count signal)" = "$hits" ] ||
			fail "$cc: $(count signal) of $hits handlers entered"
		[ "$(count signal-return)" = $((hits - jumps)) ] ||
			fail "$cc: $(count signal-return) returns, $jumps jumps of $hits"
		[ "$(count longjmp)" = "$jumps" ] || fail "$cc: $(count longjmp) of $jumps jumps"
	done
done
