# With a list of sites, loops without hooks record the same events as with hooks. This includes
# loops that can run without hooks only because some of their accesses are off. Random loops, in
# executables and a library.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/cli/loops/build.sh"

# run NAME: records ./prog with its own list; leaves output, events of shared memory and number of
# records
run() {
	RECORD_OPTIONS= record list.snarl ./prog
	RECORD_OPTIONS='--sites list.snarl' record "$1.snarl" ./prog
	mv record.out "$1.out"
	events "$1.snarl" all+lines | grep -v ' own[+ ]' >"$1.txt"
	sed -n 's/.*: \([0-9]*\) records of .*/\1/p' record.err >"$1.records"
}

compared=0 fewer=0
for cc in $(compilers); do
	for seed in $(one_of 1 2 3); do
		"$tools/loopgen" $seed own >loops.c
		for variant in no-pie:-O1 pie:-O2 library:-O2; do
			build $cc ${variant%:*} ${variant#*:}
			run loops
			build $cc ${variant%:*} ${variant#*:} --no-loops
			run hooks
			same "$cc, seed $seed, $variant: another result" hooks.out loops.out
			same "$cc, seed $seed, $variant: other events" hooks.txt loops.txt
			compared=$((compared + 1))
			[ "$(cat loops.records)" -ge "$(cat hooks.records)" ] ||
				fewer=$((fewer + 1))
		done
	done
	# table[from[i]]++ needs hooks without a list; with a list that turns the table off it runs
	# without.
	cat >loops.c <<'END'
#include <pthread.h>
#include <stdio.h>
static unsigned char both[4096];
static unsigned own[256];
__attribute__((noinline)) static void tally(const unsigned char *from, long n)
{
	for (long i = 0; i < n; i++)
		own[from[i]]++;
}
static void *touch(void *v)
{
	for (int i = 0; i < 4096; i++)
		both[i] = (unsigned char)(i * 7 + (v != 0));
	return v;
}
int main(void)
{
	pthread_t t;

	touch(&t);
	pthread_create(&t, 0, touch, 0);
	pthread_join(t, 0);
	for (int i = 0; i < 100; i++)
		tally(both + i, i % 40 * 5);
	printf("%u %u\n", own[1], own[255]);
	return 0;
}
END
	build $cc pie -O2
	run loops
	build $cc pie -O2 --no-loops
	run hooks
	same "$cc: another result" hooks.out loops.out
	same "$cc: other events of a table's loops" hooks.txt loops.txt
	build $cc pie -O2
	RECORD_OPTIONS= record all.snarl ./prog
	all=$(sed -n 's/.*: \([0-9]*\) records of .*/\1/p' record.err)
	[ "$(cat loops.records)" -lt $((all / 10)) ] ||
		fail "$cc: $(cat loops.records) records of a table's loop with a list, $all without"
done
echo "$compared programs, $fewer of them with fewer records"
[ $((fewer * 2)) -gt $compared ] || fail "loops without hooks do not save records"
