#!/bin/sh
# Every program of tests/control/programs under several strategies and both back ends:
# passes, or fails in the way it says (tests/control/README.md).
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

control_build gcc bin $(control_sources)
for path in $(control_sources); do
	control_head "$path"
	program=bin/$(control_name "$path")
	control_arguments "$path" "$program" >arguments
	while read -r argument; do
		echo "$program $argument"
		control_try "$program $argument" user random "$runs"
		[ -z "$slow" ] || continue
		control_try "$program $argument" kernel random "$few"
		control_try "$program $argument" user pct "$few"
		control_try "$program $argument" kernel chess "$few"
	done <arguments
done
