# Under gdb a replay follows the schedule in spite of breakpoints, steps and restarts, with both
# back ends.
. "$SNARL_ROOT/tests/lib.sh"
need gdb
[ -z "$SNARL_ASAN" ] || skip "gdb and ASan do not go together"

snarl-cc -g -O0 -pthread "$SNARL_ROOT/examples/bank.c" -o bank
snarl test --quiet -- ./bank </dev/null || [ $? = 1 ]
worker=$(sed -n 's/.*pthread_create([^,]*,[^,]*, *\([a-z_]*\),.*/\1/p' \
	"$SNARL_ROOT/examples/bank.c" | head -n 1)

cat >commands <<C
set pagination off
set confirm off
break $worker
run
next
next
info threads
continue
step
delete
continue
run
continue
kill
quit
C
for backend in kernel user; do
	status=0
	timeout 120 snarl replay --gdb --backend $backend snarl-out/bugs/B001 <commands >out 2>&1 ||
		status=$?
	[ $status = 0 ] || { cat out; fail "$backend: exit $status"; }
	# Three failures: one stop by itself, as no cause is known to stop before, and two runs.
	[ "$(grep -c 'Assertion .* failed' out)" = 3 ] ||
		{ cat out; fail "$backend: did not fail three times"; }
	grep -q '^snarl: its cause is not known; stopped at the failure$' out ||
		{ cat out; fail "$backend: does not say why"; }
	[ "$(grep -c "hit Breakpoint 1, $worker\|Breakpoint 1, $worker" out)" -ge 1 ] ||
		{ cat out; fail "$backend: the breakpoint was not hit"; }
done
[ -z "$(ls "${TMPDIR:-/tmp}"/snarl-gdb-* 2>/dev/null)" ] || fail "a temporary file was left"
