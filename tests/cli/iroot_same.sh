# The iRoots that a controlled program counts during a run are those of the recorded trace of that
# run (tests/tools/iroots.c prints exposed/predicted for each idiom).
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

for program in examples/bank examples/buffer examples/pbzip2_fixed examples/mysql_169_fixed \
	examples/memcached_127_fixed tests/control/programs/barrier tests/control/programs/c11; do
	snarl-cc -g -O1 -pthread "$SNARL_ROOT/$program.c" -o program
	"$tools/iroots" run.snarl 4 ./program >out 2>err </dev/null ||
		{ cat out err; fail "$program"; }
	[ "$(grep -c 'lost 0$' out)" = 4 ] || { cat out; fail "$program: something was lost"; }
	! grep -q '^ 0/0' out || { cat out; fail "$program: an idiom has no iRoots"; }
done
