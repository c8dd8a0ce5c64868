#!/bin/sh
# A slice of the programs of tests/control/programs built by clang: the inlined hooks differ from
# gcc's, the behaviour must not. control_programs.sh runs all of them, with more strategies.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"
need clang

for path in $(control_sources); do
	[ -n "$(control_field "$path" slow)" ] || echo "$path"
done | slice 3 >sources
control_build clang bin $(cat sources)
for path in $(cat sources); do
	control_head "$path"
	program=bin/$(control_name "$path")
	control_arguments "$path" "$program" >arguments
	while read -r argument; do
		echo "$program $argument"
		control_try "$program $argument" user random "$few"
	done <arguments
done
