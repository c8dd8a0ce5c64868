#!/bin/sh
# Every program of tests/control/programs under several strategies and both back ends:
# passes, or fails in the way it says (tests/control/README.md).
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"

# try PROGRAM-AND-ARGUMENTS BACKEND STRATEGY RUNS
try() {
	status=0
	rm -rf out
	# Options and arguments are meant to be split.
	snarl test --json --timeout 60 --backend "$2" --strategy "$3" --runs "$4" \
		$(control_field "$source" options) -o out -- $1 <lines.txt >json 2>err || status=$?
	case $fails,$status in
	,0) ;;
	?*,1)
		grep -q "\"failure\":\"$fails\"" json || { cat err; fail "$1: not $fails"; } ;;
	*)
		cat err out/bugs/B001/report.txt 2>/dev/null || :
		fail "$1: exit $status of snarl test --backend $2 --strategy $3 --runs $4" ;;
	esac
	! grep -q 'did not replay' err || { cat err; fail "$1: a failure that does not replay"; }
}

for cc in $(compilers); do
	control_build "$cc" "$cc" $(control_sources)
	for source in $(control_sources); do
		program=$cc/$(control_name "$source")
		fails=$(control_field "$source" fails | sed 's/[ ,.].*//')
		slow=$(control_field "$source" slow)
		runs=$(control_field "$source" runs)
		runs=${runs:-200}
		few=$(((runs + 9) / 10))
		# What fails under some schedules only needs more; it ends with the first.
		[ -z "$fails" ] || few=$runs
		control_arguments "$source" "$program" >arguments
		while read -r argument; do
			# The other compiler's code is another program to the same models.
			if [ "$cc" != gcc ]; then
				[ -n "$slow" ] || try "$program $argument" user random "$few"
				continue
			fi
			try "$program $argument" user random "$runs"
			[ -z "$slow" ] || continue
			try "$program $argument" kernel random "$few"
			try "$program $argument" user pct "$few"
			try "$program $argument" kernel chess "$few"
		done <arguments
	done
done
