#!/bin/sh
# Every program of tests/control/programs passes, or fails in the way its header says
# (tests/control/README.md). Each runs with the strategy random and user-level threads, and with one
# other combination of back end and strategy by turns; with LONG, with all.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

control_build gcc bin $(control_sources)
for path in $(control_sources); do
	[ -n "$(control_field "$path" slow)" ] ||
		printf '%s\n' "kernel/random $path" "user/pct $path" "kernel/chess $path"
done | by_turns >ways
for path in $(control_sources); do
	control_head "$path"
	program=bin/$(control_name "$path")
	control_arguments "$path" "$program" >arguments
	while read -r argument; do
		echo "$program $argument"
		control_try "$program $argument" user random "$runs"
		for way in $(awk -v path="$path" '$2 == path { print $1 }' ways); do
			control_try "$program $argument" "${way%/*}" "${way#*/}" "$few"
		done
	done <arguments
done
