# A list of sites has no place that touched private memory only, though the trace has such accesses: the runtime
# does not decide a few among many. Where the history of shared memory was cut, nobody is taken for alone.
. "$SNARL_ROOT/tests/lib.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>

#define SIZE 3000
static long shared[64], own[SIZE], given[SIZE];
static int cut;
__attribute__((noinline)) static void together(long i)
{
	*(volatile long *)&shared[i & 63] = i;
}
__attribute__((noinline)) static void alone(long i)
{
	*(volatile long *)&own[i] = i;
}
__attribute__((noinline)) static long late(long i)
{
	return *(volatile long *)&given[i];
}
static void *work(void *arg)
{
	long sum = 0;

	for (long i = 0; i < SIZE; i++) {
		for (int k = 0; k < 20; k++)
			together(i);
		alone(i);
		if (cut)
			sum += late(i);
	}
	printf("%ld\n", sum);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	cut = argc > 1;
	for (long i = 0; i < 64; i++)
		together(i);
	/* More than the window holds: main's accesses to it are dropped. */
	for (int round = 0; cut && round < 30; round++)
		for (long i = 0; i < SIZE; i++)
			*(volatile long *)&given[i] = i;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
END

# functions TRACE: that have accesses in it
functions() {
	snarl dump --kind access "$1" | sed -n 's/.*  \(together\|alone\|late\) .*/\1/p' | sort -u | tr '\n' ' '
}
# on TRACE: functions with a place in its list
on() {
	SNARL_OPTIONS=filter=off snarl record -q --sites "$1" --out on.snarl -- ./prog more >/dev/null
	functions on.snarl
}

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	SNARL_CC=$cc snarl-cc -O1 -pthread --no-loops prog.c -o prog
	RECORD_OPTIONS= record a.snarl ./prog
	[ "$(functions a.snarl)" = "alone together " ] || fail "$cc: nothing private was kept: $(functions a.snarl)"
	snarl dump --text --no-symbols a.snarl | grep -q '^meta cut_threads none$' || fail "$cc: who met cut memory is not said"
	[ "$(on a.snarl)" = "together " ] || fail "$cc: on: $(on a.snarl)"

	RECORD_OPTIONS='--window 64K' record b.snarl ./prog more
	snarl dump --text --no-symbols b.snarl | grep '^meta cut_' >cut
	grep -q '^meta cut_locations [1-9]' cut && grep -q '^meta cut_threads 2$' cut || fail "$cc: $(cat cut)"
	[ "$(on b.snarl)" = "alone late together " ] || fail "$cc: with cut memory, on: $(on b.snarl)"
done
