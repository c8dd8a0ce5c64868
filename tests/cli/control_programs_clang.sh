#!/bin/sh
# The programs of tests/control/programs as clang builds them: other code, other hooks
# inlined, to the same models. control_programs.sh has more strategies.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"
need clang

control_build clang bin $(control_sources)
for path in $(control_sources); do
	control_head "$path"
	[ -z "$slow" ] || continue
	program=bin/$(control_name "$path")
	control_arguments "$path" "$program" >arguments
	while read -r argument; do
		echo "$program $argument"
		control_try "$program $argument" user random "$few"
	done <arguments
done
