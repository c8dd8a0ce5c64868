# snarl cover --parallel counts the iRoots of uncontrolled runs. Where locks and joins leave one
# order, they are those of controlled runs. Crashes, forks and damaged profiles do not spoil the
# database.
. "$SNARL_ROOT/tests/lib.sh"
need jq

here=$SNARL_ROOT/tests/cli/cover
# roots DATABASE: prints its iRoots by line, and whether each is exposed
roots() {
	snarl cover --json "$1" |
		jq -r '[.events as $e | .iroots[] | (.idiom | tostring) + " " + .state + " " +
		([.events[] | $e[.] |
		.access + " " + (.line | tostring) + ":" + (.column | tostring)] |
		join(", "))] | sort[]'
}

# turns.c has only one order of events, so both kinds of runs give the same iRoots.
for optimise in -O0 -O2; do
	snarl-cc -g $optimise -pthread "$here/turns.c" -o turns
	snarl cover --parallel --runs 5 --saturation 0 --db parallel.db -- ./turns >out 2>err ||
		{ cat err; fail "runs"; }
	snarl cover --runs 5 --saturation 0 --db control.db -- ./turns >/dev/null 2>&1
	roots parallel.db >parallel.txt
	roots control.db >control.txt
	[ "$(wc -l <parallel.txt)" -gt 50 ] || { cat parallel.txt; fail "few iRoots"; }
	same "without control it is something else" control.txt parallel.txt
	snarl cover --json parallel.db |
		jq -e '.runs == 5 and .saturation[4].strategy == "parallel"' >/dev/null ||
		fail "runs"
	rm -f parallel.db control.db
done

# Memory that main used alone for long: main's last write before sharing is unknown and no other
# write is taken instead. The later pair is there.
snarl-cc -g -O1 -pthread "$here/late.c" -o late
snarl cover --parallel --runs 1 --db late.db -- ./late late >/dev/null 2>err ||
	{ cat err; fail "late"; }
roots late.db >late.txt
[ "$(cat late.txt)" = "1 exposed write 17:7, read 41:15" ] || { cat late.txt; fail "late"; }

# The profile is complete however the process ends while threads run, and a forked child does not
# change it.
for way in exit _exit fork; do
	snarl cover --parallel --runs 3 --saturation 0 --db $way.db -- ./late $way >out 2>err ||
		{ cat err; fail $way; }
	grep -q 'late: .*, in 3 runs$' out || { cat out; fail "$way: runs"; }
	grep -q 'runs failed' err && { cat err; fail "$way failed"; }
done
# A process killed by abort may leave no profile, but counts as failed.
snarl cover --parallel --runs 2 --saturation 0 --db abort.db -- ./late abort >out 2>err ||
	{ cat err; fail abort; }

# Options that contradict --parallel.
for option in --chase '--strategy pct'; do
	code=0; snarl cover --parallel $option -- ./turns >out 2>err || code=$?
	[ $code = 2 ] && grep -q 'excludes --chase and --strategy' err ||
		{ cat err; fail "$option: $code"; }
done

# A program that overwrites the profile: one warning, and none of its runs counts.
snarl-cc -g -O1 -pthread -I"$SNARL_ROOT/src" "$here/wild.c" -o wild
for how in --parallel "-j 1"; do
	rm -f wild.db
	status=0
	snarl cover $how --runs 3 --saturation 0 --db wild.db -- ./wild >out 2>err || status=$?
	[ $status = 3 ] || { cat err; fail "wild: exit $status"; }
	[ "$(grep -c 'profile damaged' err)" = 1 ] && grep -q '3 runs are not counted' err ||
		{ cat err; fail "wild $how"; }
done
