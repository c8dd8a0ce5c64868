# times=all, which snarl learn uses, records the same writes as times=few, and orders every access
# to shared memory: threads that take turns by a plain flag alternate in the trace as they did in
# the run.
. "$SNARL_ROOT/tests/lib.sh"

cat >turns.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>

#define TURNS 20

static volatile int turn, slots[2 * TURNS];

/* the raw system call, because an interposed function would be an event with a time */
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
		SNARL_OPTIONS=mode=record:trace=$times.snarl:times=$times ./turns ||
			fail "$cc: exit $?"
		snarl dump $times.snarl >$times.txt
		# Compare writes only: how often a thread reads the flag while it waits is chance.
		awk '$2 == "write" { print $1 }' $times.txt | sort | uniq -c |
			awk '{ print $1, $2 }' >$times.writes
	done
	same "$cc: writes" few.writes all.writes
	# The threads alternate after each two writes, which makes 40 changes.
	awk '$2 == "write" && last != $1 "" { runs++; last = $1 "" } END { print runs }' all.txt \
		>runs
	[ "$(cat runs)" = 40 ] || fail "$cc: $(cat runs) runs of writes, not 40"
done
