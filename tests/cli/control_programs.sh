#!/bin/sh
# Every program of tests/control/programs under several strategies and both back ends:
# passes, or fails in the way it says (tests/control/README.md). With the random strategy and
# user-level threads always, in one of the other ways by turns; with LONG in all of them.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

control_build gcc bin $(control_sources)
for path in $(control_sources); do
	[ -n "$(control_field "$path" slow)" ] || printf '%s\n' "kernel/random $path" "user/pct $path" "kernel/chess $path"
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
