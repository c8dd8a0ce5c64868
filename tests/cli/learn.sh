# snarl learn and snarl check: check finds a bug with rules learnt from passing runs, and nothing in
# the repaired program. The database survives a rebuild, merging, Ctrl-C, and traces written by
# hand.
. "$SNARL_ROOT/tests/lib.sh"
need jq

example bank
snarl learn --schedules --runs 40 --stable 0 --json -- ./bank >learnt.json 2>err </dev/null ||
	{ cat err; fail "learn"; }
jq -e '.version == 1 and .runs == 40 and .passed > 20 and .passed < 40 and .places == 4 and
	.open == 2 and .transactions == 1 and .members == 2 and .settled == false' learnt.json \
	>/dev/null || { cat learnt.json; fail "JSON"; }
places='4 places, . with an invariant, [0-9] to check, 2 open, 1 transaction of 2 places'
grep -q "rules.bin: $places" err || { cat err; fail "summary"; }

# The write may follow a write that it never followed; the read and the write are a transaction of
# teller().
snarl learn --dump >dump
for line in \
	'  bank.c:30 write in balance_set: .* runs, invariant, open, checked, in a transaction' \
	'    may follow bank.c:22 read in balance_get' \
	'    follows bank.c:30 write in balance_set' \
	'  bank.c:35 function in teller: transaction'; do
	grep -q "^$line" dump || { cat dump; fail "no line $line"; }
done

# The database is the same for any number of runs read at a time.
for jobs in 1 3; do
	snarl learn --schedules --runs 40 --stable 10 --seed 5 --quiet -j $jobs --out "jobs$jobs" \
		-- ./bank >/dev/null </dev/null || fail "learn -j $jobs"
	snarl learn --dump "jobs$jobs/learn.db" >"jobs$jobs/dump"
	cmp jobs1/rules.bin "jobs$jobs/rules.bin" || fail "-j $jobs: other rules"
	same "learn -j $jobs" jobs1/dump "jobs$jobs/dump"
	[ "$(ls "jobs$jobs")" = "dump
learn.db
rules.bin" ] || { ls "jobs$jobs"; fail "other files than expected"; }
done

# The lost update breaks the invariant of the write: read, write of the other thread, write.
snarl hunt --quiet --out hunted -- ./bank >/dev/null 2>&1 </dev/null && fail "no bug found"
trace=hunted/bugs/B001/trace.snarl
code=0
snarl check --trace $trace >found 2>err || code=$?
[ $code = 1 ] || { cat found err; fail "check: exit $code"; }
sed 's/0\.[12]/T/; s/value -*[0-9]*/value/; s/([0-9]*)/(N)/' found >got
cat >wanted <<'END'
RWW on balance
  T    bank.c:22 read in balance_get, value
  T    bank.c:30 write in balance_set, value
  T    bank.c:30 write in balance_set, value
  passing runs came here, but never in this order (N)
END
same "what check says" wanted got
snarl check --json --quiet --pset --trace $trace >found.json && fail "check --pset: exit 0"
jq -e '.violations | any(.pattern == "RWW" and .rank == "broken" and .variable == "balance" and
	([.sites[] | .op + " " + (.line | tostring)] == ["read 22", "write 30", "write 30"])) and
	any(.pattern == "dependency" and .rank == "broken")' found.json >/dev/null ||
	{ cat found.json; fail "check --json"; }
# check does not change the database.
snarl learn --dump >again
same "check changed the database" dump again

# --postmortem compares with the passing run that hunt saved, without a database, and finds the
# same.
snarl check --quiet --postmortem hunted/bugs/B001/passing.snarl -- $trace >found &&
	fail "postmortem: exit 0"
head -n 1 found | grep -q '^RWW on balance' || { cat found; fail "postmortem"; }
snarl check --quiet --postmortem $trace -- $trace >found ||
	{ cat found; fail "a trace differs from itself"; }
snarl check --quiet --postmortem hunted/bugs/B001/passing.snarl -- hunted/bugs/B001/passing.snarl \
	>found ||
	{ cat found; fail "a passing trace differs from itself"; }

# Lines inserted before the functions: all places are recognised.
mkdir moved
{ echo '/* moved */'; echo; cat "$SNARL_ROOT/examples/bank.c"; } >moved/bank.c
snarl-cc -g -O1 -pthread moved/bank.c -o moved/bank
snarl learn --schedules --runs 10 --stable 0 --seed 7 --json --quiet -- moved/bank >moved.json \
	2>err </dev/null ||
	{ cat err; fail "learn moved"; }
jq -e '.new.places == 0 and .places == 4 and .open == 2' moved.json >/dev/null ||
	{ cat moved.json; fail "rebuild"; }
snarl learn --dump | grep -q '^  bank.c:32 write in balance_set: ' ||
	fail "lines are not brought up to date"

# Parallel runs end by themselves. Merging two databases adds their runs.
snarl learn --out plain -- ./bank >out 2>err </dev/null || { cat err; fail "parallel"; }
grep -q 'the last runs showed nothing new' err || { cat err; fail "no end"; }
snarl learn --quiet --out both --merge snarl-out/learn.db plain/learn.db
[ -s both/rules.bin ] || fail "no rules of both"
runs=$(snarl learn --dump | sed -n '1s/.*: \([0-9]*\) runs/\1/p')
more=$(snarl learn --dump plain/learn.db | sed -n '1s/.*: \([0-9]*\) runs/\1/p')
[ "$(snarl learn --dump both/learn.db | head -n 1)" = "bank: $((runs + more)) runs" ] ||
	fail "runs of both"

# Only passing runs are learnt from; with this check there is none.
code=0
snarl learn --runs 2 --check false --out none -- ./bank >out 2>err </dev/null || code=$?
[ $code = 3 ] && grep -q 'none of 2 runs passed' err ||
	{ cat err; fail "no run passes: exit $code"; }

# Ctrl-C keeps what was learnt so far.
snarl learn --runs 1000000 --stable 0 --out cut -- ./bank >out 2>err </dev/null &
pid=$!
until snarl learn --dump cut/learn.db 2>/dev/null | grep -q '^  3 parallel'; do
	kill -0 $pid || { cat err; fail "it ended early"; }
done
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 130 ] && grep -q 'interrupted' err && [ -s cut/rules.bin ] ||
	{ cat err; fail "Ctrl-C: exit $code"; }
[ "$(ls cut | tr '\n' ' ')" = 'learn.db rules.bin ' ] ||
	{ ls cut; fail "Ctrl-C leaves other files"; }

# Traces by hand: 4-byte variables in one granule of 8 bytes count as one, unless --granularity says
# otherwise.
cat >torn.txt <<'END'
snarl-text 1
0 create 0.1
0 read x:4 @a
0.1 write x+4:4 @w
0 read x:4 @b
END
cat >good.txt <<'END'
snarl-text 1
0 create 0.1
0 read x:4 @a
0 read x:4 @b
0.1 write x+4:4 @w
END
snarl learn --quiet --db hand.db --traces good.txt
snarl check --quiet --db hand.db --trace torn.txt >found && fail "by hand: exit 0"
grep -q '^RWR on ' found || { cat found; fail "by hand"; }
snarl learn --quiet --granularity 4 --db hand4.db --traces good.txt
snarl check --quiet --granularity 4 --db hand4.db --trace torn.txt >found ||
	{ cat found; fail "granularity"; }
# An invariant that a passing run broke is no violation any more, except with --threshold.
snarl learn --quiet --db hand.db --traces torn.txt
snarl check --quiet --db hand.db --trace torn.txt >found ||
	{ cat found; fail "broken in passing runs"; }
snarl check --quiet --threshold 1 --db hand.db --trace torn.txt >found && fail "threshold"

expect() {
	code=0
	wanted=$1
	text=$2
	shift 2
	"$@" >out 2>err </dev/null || code=$?
	[ $code = "$wanted" ] && grep -q -- "$text" err || { cat out err; fail "$*: exit $code"; }
}
expect 2 'missing PROGRAM' snarl learn
expect 2 'missing DATABASE' snarl learn --merge
expect 2 '1, 2, 4, 8' snarl learn --granularity 5 ./bank
expect 3 'no rule database' snarl learn --dump nowhere.db
expect 3 'cannot be merged into itself' snarl learn --merge snarl-out/learn.db
expect 3 'is not a database' snarl learn --dump good.txt
expect 3 'knows no program x' snarl check --program x --trace $trace
expect 3 'no rule database' snarl check --db nowhere.db --trace $trace
expect 2 'missing PROGRAM (or --trace, --postmortem)' snarl check
expect 2 'missing traces' snarl check --postmortem $trace
expect 3 'cannot open' snarl check --trace nowhere.snarl

# If controlled runs are too long, learn goes on with parallel runs.
snarl learn --out long --runs 6 --stable 0 --max-steps 5 --json -- ./bank >long.json 2>err \
	</dev/null || { cat err; fail "too long"; }
jq -e '.runs == 6 and .passed > 0' long.json >/dev/null || { cat long.json; fail "too long: JSON"; }
why='the run took too many steps'
grep -q "^snarl: the program cannot be controlled, further runs are parallel: $why\$" err ||
	{ cat err; fail "too long: does not say that it goes on in parallel"; }
