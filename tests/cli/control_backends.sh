#!/bin/sh
# A schedule recorded with one back end (user or kernel threads) gives the same events with the
# other, for every program under control. A normal run tests one direction per program, LONG both;
# some runs use strategy pct or new processes.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

# again SEED OPTIONS…: fails unless all runs gave the same events
again() {
	"$rerun" -s "$@" $program $argument <lines.txt >out 2>err ||
		{ cat err; fail "rerun -s $* $program $argument"; }
}

for source in $(control_sources); do
	[ -n "$(control_field "$source" slow)" ] ||
		printf '%s\n' "to-kernel $source" "to-user $source"
done | by_turns >list
control_build gcc bin $(cut -d ' ' -f 2 list | sort -u)
while read -r way source; do
	program=bin/$(control_name "$source")
	control_arguments "$source" "$program" >arguments
	while read -r argument; do
		case $way in
		to-kernel)
			again 1 -n 2 -f user -t kernel
			again 4 -S pct -n 1 -f kernel -t user -x
			;;
		to-user)
			again 2 -n 2 -f kernel -t user
			again 3 -S pct -n 1 -f user -t kernel -x
			;;
		esac
	done <arguments
done <list
