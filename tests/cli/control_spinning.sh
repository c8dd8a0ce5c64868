#!/bin/sh
# Long computing, polling a clock and waiting for a plain variable are no hangs, and real hangs are
# found: by both compilers, without and with optimisation, on both back ends.
. "$SNARL_ROOT/tests/lib.sh"

programs=$SNARL_ROOT/tests/control/programs

# passes PROGRAM OPTIONS…
passes() {
	program=$1
	shift
	snarl test --quiet --timeout 60 --runs 2 --out out "$@" -- \
		./"$program" </dev/null >out.txt 2>&1 ||
		{ cat out.txt out/bugs/B001/report.txt; fail "$program $*: exit $?"; }
}

# hangs PROGRAM KIND OPTIONS…: found in the first run, and in every replay
hangs() {
	program=$1 kind=$2
	shift 2
	rm -rf out
	status=0
	snarl test --json --timeout 60 --runs 2 --replays 3 --out out "$@" -- ./"$program" "$kind" \
		</dev/null >json 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "$program $kind $*: exit $status"; }
	grep -q '"failure":"hang"' json || { cat err; fail "$program $kind $*: no hang"; }
	! grep -q 'did not replay' err || { cat err; fail "$program $kind $*: does not replay"; }
}

for cc in $(compilers); do
	for level in 0 2; do
		for name in computes busy_clock silent silent_assembly hangs; do
			compile "$cc" "$programs/$name.c" "$name-$cc-$level" \
				-D_GNU_SOURCE -O$level -g -pthread
		done
		echo "$cc $level"
	done
done >builds

while read -r cc level; do
	for backend in user kernel; do
		for name in computes busy_clock silent silent_assembly; do
			passes "$name-$cc-$level" --backend $backend
		done
		for kind in load volatile assembly trylock; do
			echo "hangs-$cc-$level $kind $backend"
		done
	done
done <builds >kinds

# Each in another way by turns.
slice 4 <kinds | while read -r program kind backend; do
	hangs "$program" "$kind" --backend "$backend"
done
