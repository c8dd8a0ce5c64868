#!/bin/sh
# A production build records the events of an ordinary build (annotations are not
# in it).
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"

for cc in $(compilers); do
	for name in mutex_calls cxx_exceptions cxx_guards cxx_sync jump_frames stack_objects \
		string_small \
		futex_calls process_fork signal_thread; do
		expect=$SNARL_ROOT/tests/programs/$name.expect
		source=${expect%.expect}.c
		[ -e "$source" ] || source=${source}c
		only=$(head_of "$expect" compilers)
		case " ${only:-$cc} " in *" $cc "*) ;; *) continue ;; esac
		rm -rf prog t.snarl*
		wrap "$cc" "$source" prog --production $(flags_of "$source") >log 2>&1 ||
			{ cat log; fail "$cc: $name does not compile"; }
		[ ! -s log ] || { cat log; fail "$cc: $name"; }
		RECORD_OPTIONS=$(head_of "$expect" options)
		record t.snarl ./prog $(head_of "$expect" args)
		classes=$(head_of "$expect" classes)
		sed -n '/^#/!q; /^# *all/q1' "$expect" || classes=all
		events t.snarl "${classes:-default}" >got
		grep -v -e '^#' -e '^ *$' "$expect" >want
		same "$cc: $name" want got
	done
done
