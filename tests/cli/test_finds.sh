# snarl test finds the bugs of the examples, with every strategy but those that by
# their nature miss some; the replay fails each time, anywhere, with both back ends.
# The repaired twins pass.
. "$SNARL_ROOT/tests/lib.sh"

# found PROGRAM OPTIONS…: exit 1, and what is needed to show it again
found() {
	found_program=$1
	shift
	status=0
	snarl test --out "out-$found_program" "$@" -- "./$found_program" >found.out 2>found.err </dev/null || status=$?
	[ $status = 1 ] || { cat found.err; fail "$found_program $*: exit $status, not 1"; }
	[ ! -s found.out ] || fail "$found_program: something on stdout"
}

replays() {
	status=0
	snarl replay --quiet "$@" </dev/null || status=$?
	[ $status = 1 ] || fail "snarl replay $*: exit $status, not 1"
}

for program in bank inversion buffer joblist session; do
	example $program
	example ${program}_fixed
	found $program --runs 5000
	bug=$PWD/out-$program/bugs/B001
	for file in schedule.txt bug.json report.txt; do
		[ -s "$bug/$file" ] || fail "$program: no $file"
	done
	grep -q "replay it: snarl replay out-$program/bugs/B001" found.err || fail "$program: no command"
	replays --times 20 out-$program/bugs/B001
	(cd / && replays --times 3 --backend kernel "$bug/schedule.txt")
	replays --times 3 --no-fork-server "$bug"
	snarl test --runs 500 --quiet -- ./${program}_fixed </dev/null || fail "${program}_fixed failed"
done
grep -q '"class":"deadlock"' out-inversion/bugs/B001/bug.json || fail "inversion: class"
grep -q '"function":"move"' out-inversion/bugs/B001/bug.json || fail "inversion: no function"

# Every strategy finds the plainest one, and names itself in the schedule.
for strategy in $(snarl test --strategy help | awk '{ print $1 }'); do
	rm -rf out-bank
	found bank --strategy "$strategy" --runs 5000
	grep -q "^strategy $strategy\$" out-bank/bugs/B001/schedule.txt || fail "$strategy: schedule"
	replays --times 3 out-bank/bugs/B001
done

# The same whatever -j is; another seed, another run.
for jobs in 1 2 5; do
	rm -rf out-inversion
	found inversion -j $jobs --seed 11
	cp out-inversion/bugs/B001/schedule.txt j$jobs
done
same "-j 1 and 2" j1 j2
same "-j 1 and 5" j1 j5

# A search that comes to its end, and one that is told when to stop.
snarl test --strategy chess --runs 100000 -- ./bank_fixed 2>err </dev/null || fail "chess: exit $?"
grep -q 'nothing is left to try' err || { cat err; fail "chess has no end"; }
snarl test --time 0.3 -- ./bank_fixed 2>err </dev/null || fail "--time: exit $?"

# --json: results on stdout, the same as in results.json.
status=0
snarl test --json --quiet --out js -- ./bank >js.out </dev/null || status=$?
[ $status = 1 ] || fail "--json: exit $status"
same "--json" js/results.json js.out
grep -q '"bugs":\[{"id":"B001","class":"other","pattern":null,"failure":"assert"' js.out || fail "--json: bugs"
