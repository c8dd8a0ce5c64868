# Correct programs that mislead race detectors (tests/correct): snarl hunt reports no bug in them
# for any seed, and harmless races stay candidates. With -DBROKEN a bug is found, so the silence
# means something.
#
# First line of a program: /* races */ if it has races on purpose; otherwise snarl analyze must find
# none. /* options: … */ are options for snarl hunt.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# hunt STATUS PROGRAM OPTIONS…: the exit status has to be STATUS
hunt() {
	hunt_want=$1 hunt_program=$2
	shift 2
	rm -rf out
	status=0
	snarl hunt --runs 500 --out out "$@" -- "./$hunt_program" >hunt.out 2>hunt.err </dev/null ||
		status=$?
	[ $status = "$hunt_want" ] ||
		{ cat hunt.err; fail "hunt $hunt_program $*: exit $status, not $hunt_want"; }
}

# expect PROGRAM EXPRESSION: about the results r, their bugs b and candidates c
expect() {
	python3 - "$2" <<-'END' || { cat out/results.json; fail "$1: $2"; }
		import json, sys
		r = json.load(open("out/results.json"))
		b, c = r["bugs"], r["candidates"]
		sys.exit(not eval(sys.argv[1]))
	END
}

# no_races PROGRAM: an uncontrolled run has no race by happens-before
no_races() {
	record "$1.snarl" "./$1"
	snarl analyze -a race "$1.snarl" >races
	grep -q '^0 candidates' races || { cat races; fail "$1: a race"; }
}

no_bug="r['runs'] == 500 and not b and r['failed_runs'] == 0 and r['cut_runs'] == 0 and \\
	c['proved'] == 0"
# One compiler and seed per program by turns; with LONG all of them.
for cc in $(compilers); do
	case $cc in gcc) seeds='1 2' ;; *) seeds=3 ;; esac
	for source in "$SNARL_ROOT"/tests/correct/*.c "$SNARL_ROOT"/tests/correct/*.cc; do
		for seed in $seeds; do
			echo "$cc $source $seed"
		done
	done
done | by_turns >list
while read -r cc source seed; do
	name=$(basename "${source%.*}")
	head=$(head -n 1 "$source")
	options=$(echo "$head" | sed -n 's/^\/\* options: \(.*\) \*\/$/\1/p')
	case $head in '/* races */') also=" and c['harmless'] > 0" ;; *) also= ;; esac
	wrap "$cc" "$source" "$name" -g -O1 -Wall -Wextra -Werror -pthread
	hunt 0 "$name" --seed $seed $options
	expect "$name" "$no_bug$also"
	[ -z "${LONG:-}" ] || [ "$seed" != 2 ] || continue	# seed 1 has done the rest
	[ -n "$also" ] || no_races "$name"
	wrap "$cc" "$source" broken -g -O1 -pthread -DBROKEN
	hunt 1 broken $options
	expect "$name, broken" "len(b) == 1 and b[0]['replays'] == [20, 20]"
done <list
