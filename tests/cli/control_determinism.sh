#!/bin/sh
# One schedule gives the same events in many runs: hashes of addresses, sites and values, and the
# output. Ten programs run 200 times, a slice of them (LONG: all) RUNS times, 1000 by default.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

# 64 threads, loopback sockets, C++ exceptions and conditions, forks, and others
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
	# New processes instead of forks: the events are the same.
	"$rerun" -n 3 -x -s 7 bin/$name <lines.txt >again.out 2>err ||
		{ cat err; fail "$name: not the same in new processes"; }
	[ "$(cut -d, -f1 $name.out)" != "$first" ] || fail "$name: has the hash of another program"
	first=$(cut -d, -f1 $name.out)
done
# Another schedule has another hash; otherwise the comparison above would mean nothing.
"$rerun" -n 1 -s 8 bin/many <lines.txt >other.out
! cmp -s other.out many.out || fail "two schedules with one hash"
