# dump --sites marks cold sites: their memory is shared and rarely accessed. With such a list,
# memory first touched at a cold site counts as shared at once, so its history is complete even with
# the smallest window (private memory of that site is then kept, too).
. "$SNARL_ROOT/tests/lib.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#define COUNT 8192
long shared[COUNT], mine[COUNT], hot[COUNT];
static volatile long total;
__attribute__((noinline)) static void put(long *to, long v) { *to = v; }
__attribute__((noinline)) static long get(const long *from) { return *from; }
__attribute__((noinline)) static void warm(long *at) { *at += 1; }
static void *work(void *arg)
{
	for (long i = 0; i < COUNT; i++)
		total += get(&shared[i]) + get(&hot[i]);
	for (int n = 0; n < 10; n++)
		for (long i = 0; i < COUNT; i++)
			warm(&hot[i]);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	for (long i = 0; i < COUNT; i++)
		put(&shared[i], i);
	for (long i = 0; i < COUNT; i++)
		warm(&hot[i]);
	for (long i = 0; i < COUNT && argc > 1; i++)
		put(&mine[i], i);
	for (int n = argc > 2 ? atoi(argv[2]) : 0; n > 0; n--)
		for (long i = 0; i < COUNT; i++)
			warm(&mine[i]);
	pthread_create(&thread, NULL, work, argv);
	pthread_join(thread, NULL);
	return 0;
}
END

# writes TRACE FUNCTION: counts its recorded writes
writes() {
	snarl dump "$1" | grep -c " write .*  $2 prog.c:" || true
}
# check TRACE put=N warm=N: the writes of each function
check() {
	for want in $2 $3; do
		got=$(writes "$1" ${want%=*})
		[ "$got" = ${want#*=} ] || fail "$cc, $1: $got writes of ${want%=*}, not ${want#*=}"
	done
}

for cc in $(compilers); do
	wrap $cc prog.c prog -O1 -g
	record first.snarl ./prog
	check first.snarl put=8192 warm=90112
	snarl dump --sites first.snarl >list
	[ "$(head -n 1 list)" = "snarl-sites 2" ] ||
		fail "$cc: no site is marked: $(head -n 1 list)"
	# Only the write in `put` is cold; `get` reads as much warm memory as cold.
	[ $(grep -c '+$' list) = 1 ] || fail "$cc: $(grep '+$' list)"
	sed 's/+$//; s/^snarl-sites 2/snarl-sites 1/' list >unmarked

	# Without the mark private memory is dropped, with it kept. Warm sites behave the same.
	RECORD_OPTIONS='--sites unmarked' record plain.snarl ./prog 1
	check plain.snarl put=8192 warm=90112
	RECORD_OPTIONS='--sites list' record marked.snarl ./prog 1
	check marked.snarl put=16384 warm=90112
	RECORD_OPTIONS='--sites first.snarl' record trace.snarl ./prog 1
	check trace.snarl put=16384 warm=90112

	# With a full window the history is cut, unless the site is marked.
	RECORD_OPTIONS='--window 64K --sites unmarked' record plain.snarl ./prog 1 10
	[ "$(writes plain.snarl put)" -lt 8192 ] || fail "$cc: the window is too large for the test"
	RECORD_OPTIONS='--window 64K --sites list' record marked.snarl ./prog 1 10
	[ "$(writes marked.snarl put)" = 16384 ] ||
		fail "$cc: early history is missing: $(writes marked.snarl put)"
done
