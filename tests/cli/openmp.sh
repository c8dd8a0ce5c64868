# OpenMP with gcc's libgomp and clang's libomp, programs of tests/openmp: snarl hunt reports no bug
# in the correct ones, whatever the seed, and a recorded run of them has no race. In the racy ones a
# bug is found and proved, and snarl analyze names the variable that the comment `race: NAME` names.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# has_openmp CC: can it link an OpenMP program?
has_openmp() {
	echo 'int main(void) { return 0; }' | "$1" -fopenmp -x c - -o has_openmp 2>/dev/null
}

# build CC SOURCE: libomp has no atomic long double of its own
build() {
	case $1 in clang*) atomic='-Wl,--as-needed -latomic' ;; *) atomic= ;; esac
	wrap "$1" "$2" prog -g -O1 -Wall -Wextra -fopenmp $atomic
}

# hunt STATUS OPTIONS…: the exit status has to be STATUS
hunt() {
	hunt_want=$1
	shift
	rm -rf out
	status=0
	snarl hunt --runs 200 --out out "$@" -- ./prog >hunt.out 2>hunt.err </dev/null || status=$?
	[ $status = "$hunt_want" ] ||
		{ cat hunt.err; fail "$cc $source: hunt: exit $status, not $hunt_want"; }
}

# expect EXPRESSION: about the results r and their bugs b
expect() {
	python3 - "$1" <<-'END' || { cat out/results.json; fail "$cc $source: $1"; }
		import json, sys
		r = json.load(open("out/results.json"))
		b = r["bugs"]
		sys.exit(not eval(sys.argv[1]))
	END
}

correct() {
	for backend in $(one_of user kernel); do
		hunt 0 --backend $backend
		expect "r['runs'] == 200 and not b and r['failed_runs'] == 0 and r['cut_runs'] == 0"
	done
	record t.snarl ./prog
	snarl analyze -a race t.snarl >races
	grep -q '^0 candidates' races || { cat races; fail "$cc $source: a race"; }
}

racy() {
	variable=$(sed -n 's/.*race: \([a-z]*\) .*/\1/p' "$source")
	hunt 1
	expect "len(b) == 1 and b[0]['replays'] == [20, 20]"
	snarl record --out t.snarl -- ./prog >record.out 2>&1 || true	# the assertion may fail
	snarl analyze t.snarl >found
	grep -Eq "^[0-9]+\. (race|atomicity) [A-Z]+ on $variable([[,]|$)" found ||
		{ cat found; fail "$cc $source: nothing about $variable"; }
}

lacking=
for cc in gcc clang; do
	if ! has_openmp $cc; then
		lacking="$lacking $cc"
		continue
	fi
	for source in "$SNARL_ROOT"/tests/openmp/*/*.c; do
		echo "$cc $source"
	done
done | by_turns >list
while read -r cc source; do
	build "$cc" "$source"
	"$(basename "$(dirname "$source")")"
done <list
[ -s list ] || skip "neither gcc nor clang can link OpenMP programs"

# Programs run as without snarl: with more threads than processors, and if only names that the
# runtime interposes are used.
for cc in gcc clang; do
	has_openmp $cc || continue
	build $cc "$SNARL_ROOT/tests/openmp/correct/critical.c"
	./prog || fail "$cc: an OpenMP program fails without snarl's commands"
done
