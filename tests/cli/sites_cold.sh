# A list of sites marks places whose memory is shared and seldom touched. There, memory is shared from its first touch on:
# nothing of it is missing, however small the window is, and what is private is kept as well.
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

# writes TRACE FUNCTION: how many there are
writes() {
	snarl dump "$1" | grep -c " write .*  $2 prog.c:" || true
}
# check TRACE put=N warm=N
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
	[ "$(head -n 1 list)" = "snarl-sites 2" ] || fail "$cc: no place is marked: $(head -n 1 list)"
	# The write of `put`; `get` has as much of cold memory as of warm.
	[ $(grep -c '+$' list) = 1 ] || fail "$cc: $(grep '+$' list)"
	sed 's/+$//; s/^snarl-sites 2/snarl-sites 1/' list >unmarked

	# What stays private goes without a mark, and is kept with it. Memory that is not cold is as ever.
	RECORD_OPTIONS='--sites unmarked' record plain.snarl ./prog 1
	check plain.snarl put=8192 warm=90112
	RECORD_OPTIONS='--sites list' record marked.snarl ./prog 1
	check marked.snarl put=16384 warm=90112
	RECORD_OPTIONS='--sites first.snarl' record trace.snarl ./prog 1
	check trace.snarl put=16384 warm=90112

	# The window is long full when the other thread comes.
	RECORD_OPTIONS='--window 64K --sites unmarked' record plain.snarl ./prog 1 10
	[ "$(writes plain.snarl put)" -lt 8192 ] || fail "$cc: the window is too large for the test"
	RECORD_OPTIONS='--window 64K --sites list' record marked.snarl ./prog 1 10
	[ "$(writes marked.snarl put)" = 16384 ] || fail "$cc: early history is missing: $(writes marked.snarl put)"
done
