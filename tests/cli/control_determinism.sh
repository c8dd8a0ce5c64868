#!/bin/sh
# One schedule, many runs, the same events: hashes of addresses, places and values, and
# everything printed. 1000 runs of a slice of ten programs, with LONG of all of them, and 200 of
# the others. RUNS=N for another number than 1000.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

# 64 threads; loopback; C++ with exceptions and conditions; forks; and others.
names="many loopback throws fork_nested spin signals cancel lines sources futures"
for name in $names; do
	control_sources "$name"
done >sources
control_build gcc bin $(cat sources)
printf '%s\n' $names | slice 5 >long

first=
for name in $names; do
	if grep -qx $name long; then runs=${RUNS:-1000}; else runs=200; fi
	"$rerun" -n "$runs" -s 7 bin/$name <lines.txt >$name.out 2>err ||
		{ cat err; fail "$name: not the same"; }
	cat $name.out
	# Each in a process of its own: still the same.
	"$rerun" -n 3 -x -s 7 bin/$name <lines.txt >again.out 2>err ||
		{ cat err; fail "$name: not the same in new processes"; }
	[ "$(cut -d, -f1 $name.out)" != "$first" ] || fail "$name: has the hash of another program"
	first=$(cut -d, -f1 $name.out)
done
# The hash tells schedules apart.
"$rerun" -n 1 -s 8 bin/many <lines.txt >other.out
! cmp -s other.out many.out || fail "two schedules with one hash"
