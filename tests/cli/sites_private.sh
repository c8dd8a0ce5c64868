# dump --sites leaves out sites that accessed only private memory, even if the trace kept a few of
# their accesses. Where the history of shared memory was cut, sites within 64 bytes of it are not
# taken for private.
. "$SNARL_ROOT/tests/lib.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>

#define SIZE 3000
struct memory {
	_Alignas(64) long at[SIZE];
};
static struct memory shared, both[2];
#ifdef NEAR
#define OWN(i) both[(i) & 1].at[(i) | 1]
#define GIVEN(i) both[(i) & 1].at[(i) & ~1l]
#else
#define OWN(i) both[0].at[i]
#define GIVEN(i) both[1].at[i]
#endif
static int cut;
__attribute__((noinline)) static void together(long i)
{
	*(volatile long *)&shared.at[i & 63] = i;
}
__attribute__((noinline)) static void alone(long i)
{
	*(volatile long *)&OWN(i) = i;
}
__attribute__((noinline)) static long late(long i)
{
	return *(volatile long *)&GIVEN(i);
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
	/* more accesses than the window holds, so main's history of this memory is cut */
	for (int round = 0; cut && round < 30; round++)
		for (long i = 0; i < SIZE; i++)
			*(volatile long *)&GIVEN(i) = i;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
END

# functions TRACE: prints which of the three have accesses
functions() {
	snarl dump --kind access "$1" | sed -n 's/.*  \(together\|alone\|late\) .*/\1/p' | sort -u |
		tr '\n' ' '
}
# on TRACE: prints which functions have a site in its list
on() {
	SNARL_OPTIONS=filter=off snarl record -q --sites "$1" --out on.snarl -- ./prog more \
		>/dev/null
	functions on.snarl
}

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	SNARL_CC=$cc snarl-cc -O1 -pthread --no-loops prog.c -o prog
	RECORD_OPTIONS= record a.snarl ./prog
	[ "$(functions a.snarl)" = "alone together " ] ||
		fail "$cc: nothing private was kept: $(functions a.snarl)"
	snarl dump --text --no-symbols a.snarl | grep -q '^meta cut_lines none$' ||
		fail "$cc: no line cut_lines"
	[ "$(on a.snarl)" = "together " ] || fail "$cc: on: $(on a.snarl)"

	for near in '' -DNEAR; do
		SNARL_CC=$cc snarl-cc -O1 -pthread --no-loops $near prog.c -o prog
		RECORD_OPTIONS='--window 64K' record b.snarl ./prog more
		snarl dump --text --no-symbols b.snarl | grep '^meta cut_' >cut
		grep -q '^meta cut_locations [1-9]' cut &&
			grep -q '^meta cut_lines [0-9a-f]*-[0-9a-f]*\(,\|$\)' cut ||
			fail "$cc: $(cat cut)"
		[ "$(functions b.snarl)" = "alone late together " ] ||
			fail "$cc: nothing private was kept: $(functions b.snarl)"
		[ "$(on b.snarl)" = "${near:+alone }late together " ] ||
			fail "$cc: with cut memory$near, on: $(on b.snarl)"
	done
done
