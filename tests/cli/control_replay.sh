#!/bin/sh
# A saved bug fails in 100 of 100 replays: from another folder, with another environment, under
# load, with either back end, without the fork server. Under gdb, breakpoints and steps do not
# change the schedule.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"
control_bug
bug=$PWD/snarl-out/bugs/B001

# fails_always COMMAND…: all 100 replays fail as recorded
fails_always() {
	status=0
	"$@" --times 100 "$bug" </dev/null >out 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "$* --times 100: exit $status"; }
	grep -q '^snarl: 100 of 100 replays failed as recorded (assert)$' err ||
		{ cat err; fail "$* --times 100: not all"; }
}
fails_always snarl replay
fails_always snarl replay --no-fork-server
fails_always snarl replay --backend kernel
fails_always snarl replay --backend user
mkdir -p elsewhere/deeper
(cd elsewhere/deeper && fails_always snarl replay)
fails_always env LARGE="$(seq 2000 | tr '\n' ' ')" snarl replay
fails_always env -i PATH="$PATH" XDG_STATE_HOME="$XDG_STATE_HOME" snarl replay --backend kernel
fails_always sh -c 'ulimit -s 65536 2>/dev/null; exec snarl replay "$@"' sh

# Under load: two busy loops of the same low priority as snarl.
nice -n 19 sh -c 'while :; do :; done' &
first=$!
nice -n 19 sh -c 'while :; do :; done' &
second=$!
trap 'kill $first $second 2>/dev/null' EXIT
fails_always nice -n 19 snarl replay
fails_always nice -n 19 snarl replay --backend kernel
kill $first $second
trap - EXIT

# A single replay shows the program's own output.
status=0
snarl replay "$bug" >out 2>err || status=$?
[ $status = 1 ] && [ "$(cat out)" = "2 arguments" ] ||
	{ cat out err; fail "one replay: exit $status"; }
grep -q "ssertion" err || fail "one replay: the program's stderr is not shown"

# A replay of another program, or of a build that behaves differently, is refused or diverges.
status=0
snarl replay --quiet "$bug" -- /bin/true >out 2>err || status=$?
[ $status = 3 ] || { cat err; fail "replay of /bin/true: exit $status"; }
sed 's/counter = seen + 1/counter = seen + 2/; s/pthread_mutex_lock(&lock);/if (argc_ != 3) &/
	s/^static int counter;/static int counter, argc_ = 3;/' bug.c >other.c
snarl-cc -O1 -g -pthread other.c -o other
status=0
snarl replay "$bug" -- ./other one two >out 2>err || status=$?
[ $status = 4 ] || { cat err; fail "replay of another program: exit $status, not 4"; }
grep -q '^snarl: .*not the build this schedule was made with' err ||
	{ cat err; fail "no word about another build"; }

command -v gdb >/dev/null 2>&1 || exit 0
# gdb: with breakpoints in all threads and steps, the run ends in the same assertion.
cat >commands <<'GDB'
set pagination off
set confirm off
break add
run
bt 1
next
step
continue
info threads
next
delete
continue
bt
kill
GDB
for backend in "" "--backend user" "--backend kernel"; do
	status=0
	# Run gdb twice: it must show the same breakpoints in the same order.
	for round in 1 2; do
		timeout 60 snarl replay --gdb $backend "$bug" <commands >gdb.$round 2>&1 ||
			status=$?
		grep -q 'Assertion .counter == 3. failed' gdb.$round ||
			{ cat gdb.$round; fail "gdb $backend: another end"; }
		! grep -qi 'diverged' gdb.$round ||
			{ cat gdb.$round; fail "gdb $backend: diverged"; }
		[ "$(grep -c 'Breakpoint 1, ' gdb.$round)" -ge 2 ] ||
			{ cat gdb.$round; fail "gdb $backend: breakpoints were not hit"; }
		grep 'Breakpoint 1, ' gdb.$round | sed 's/LWP [0-9]*//' >breaks.$round
	done
	same "gdb $backend: breakpoints in another order" breaks.1 breaks.2
done
