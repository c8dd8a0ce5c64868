# times=all, as snarl learn records: the same events, each access to shared memory with a time right before it, so
# that two threads that take turns by a plain flag are put in the order in which they were.
. "$SNARL_ROOT/tests/lib.sh"

cat >turns.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>

#define TURNS 20

static volatile int turn, slots[2 * TURNS];

/* Not by a function that is noted, and gets a time. */
static void yield(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_sched_yield) : "rcx", "r11", "memory");
}

static void *work(void *arg)
{
	int me = arg != NULL;

	for (int i = 0; i < TURNS; i++) {
		while (turn != me)
			yield();
		slots[2 * i + me] = i;
		turn = !me;
	}
	return NULL;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, &other) != 0)
		return 2;
	work(NULL);
	return pthread_join(other, NULL) != 0;
}
C
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -g -O1 -pthread turns.c -o turns
	rm -f few.snarl all.snarl
	for times in few all; do
		SNARL_OPTIONS=mode=record:trace=$times.snarl:times=$times ./turns || fail "$cc: exit $?"
		snarl dump $times.snarl >$times.txt
		# All writes are there; the waiting, which is chance, does not count.
		awk '$2 == "write" { print $1 }' $times.txt | sort | uniq -c | awk '{ print $1, $2 }' >$times.writes
	done
	same "$cc: writes" few.writes all.writes
	# They take turns: two writes of one, two of the other.
	awk '$2 == "write" && last != $1 "" { runs++; last = $1 "" } END { print runs }' all.txt >runs
	[ "$(cat runs)" = 40 ] || fail "$cc: $(cat runs) runs of writes, not 40"
done
