# snarl test finds the bugs of the examples with every strategy. The saved schedule fails in every
# replay, with both back ends, from any folder. The repaired twins pass.
. "$SNARL_ROOT/tests/lib.sh"

# found PROGRAM OPTIONS…: a bug is found; saved to out-PROGRAM
found() {
	found_program=$1
	shift
	status=0
	snarl test --out "out-$found_program" "$@" -- "./$found_program" >found.out 2>found.err \
		</dev/null || status=$?
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
	grep -q "replay it: snarl replay out-$program/bugs/B001" found.err ||
		fail "$program: no command"
	replays --times 20 out-$program/bugs/B001
	(cd / && replays --times 3 --backend kernel "$bug/schedule.txt")
	replays --times 3 --no-fork-server "$bug"
	snarl test --runs 500 --quiet -- ./${program}_fixed </dev/null ||
		fail "${program}_fixed failed"
done
grep -q '"class":"deadlock"' out-inversion/bugs/B001/bug.json || fail "inversion: class"
grep -q '"function":"move"' out-inversion/bugs/B001/bug.json || fail "inversion: no function"

# Every strategy finds the bug of bank, and its name is in the schedule.
for strategy in $(snarl test --strategy help | awk '{ print $1 }'); do
	rm -rf out-bank
	found bank --strategy "$strategy" --runs 5000
	grep -q "^strategy $strategy\$" out-bank/bugs/B001/schedule.txt ||
		fail "$strategy: schedule"
	replays --times 3 out-bank/bugs/B001
done

# The schedule found is the same for any -j.
for jobs in 1 2 5; do
	rm -rf out-inversion
	found inversion -j $jobs --seed 11
	cp out-inversion/bugs/B001/schedule.txt j$jobs
done
same "-j 1 and 2" j1 j2
same "-j 1 and 5" j1 j5

# A search that is complete ends and says so; --time ends a search.
snarl test --strategy chess --runs 100000 -- ./bank_fixed 2>err </dev/null || fail "chess: exit $?"
grep -q 'nothing is left to try' err || { cat err; fail "chess has no end"; }
snarl test --time 0.3 -- ./bank_fixed 2>err </dev/null || fail "--time: exit $?"

# --json prints results.json.
status=0
snarl test --json --quiet --out js -- ./bank >js.out </dev/null || status=$?
[ $status = 1 ] || fail "--json: exit $status"
same "--json" js/results.json js.out
grep -q '"bugs":\[{"id":"B001","class":"other","pattern":null,"failure":"assert"' js.out ||
	fail "--json: bugs"
