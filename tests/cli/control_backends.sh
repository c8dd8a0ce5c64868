#!/bin/sh
# A schedule found with one back end gives the same events with the other, both ways,
# for every program; also in a new process each time.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

# again SEED OPTIONS…: stays silent if all were the same
again() {
	"$rerun" -s "$@" $program $argument <lines.txt >out 2>err ||
		{ cat err; fail "rerun -s $* $program $argument"; }
}

control_build gcc bin $(control_sources)
for source in $(control_sources); do
	program=bin/$(control_name "$source")
	[ -z "$(control_field "$source" slow)" ] || continue
	control_arguments "$source" "$program" >arguments
	while read -r argument; do
		again 1 -n 2 -f user -t kernel
		again 2 -n 2 -f kernel -t user
		again 3 -S pct -n 1 -f user -t kernel -x
		again 4 -S pct -n 1 -f kernel -t user -x
	done <arguments
done
