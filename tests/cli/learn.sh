# snarl learn and snarl check: a bug is told from passing runs, its repair is not; what was learnt
# survives a rebuild, merging and traces that are not ours.
. "$SNARL_ROOT/tests/lib.sh"
need jq

example bank
snarl learn --schedules --runs 40 --stable 0 --json -- ./bank >learnt.json 2>err </dev/null || { cat err; fail "learn"; }
jq -e '.version == 1 and .runs == 40 and .passed > 20 and .passed < 40 and .places == 4 and .open == 2 and
	.transactions == 1 and .members == 2 and .settled == false' learnt.json >/dev/null || { cat learnt.json; fail "JSON"; }
grep -q 'rules.bin: 4 places, . with an invariant, [0-9] to check, 2 open, 1 transaction of 2 places' err || { cat err; fail "summary"; }

# The write may follow what it never did; the pair of read and write is a transaction of teller().
snarl learn --dump >dump
for line in '  bank.c:30 write in balance_set: .* runs, invariant, open, checked, in a transaction' \
	'    may follow bank.c:22 read in balance_get' '    follows bank.c:30 write in balance_set' \
	'  bank.c:35 function in teller: transaction'; do
	grep -q "^$line" dump || { cat dump; fail "no line $line"; }
done

# Whatever the number of runs that are looked through at a time.
for jobs in 1 3; do
	snarl learn --schedules --runs 40 --stable 10 --seed 5 --quiet -j $jobs --out "jobs$jobs" -- ./bank >/dev/null </dev/null || fail "learn -j $jobs"
	snarl learn --dump "jobs$jobs/learn.db" >"jobs$jobs/dump"
	cmp jobs1/rules.bin "jobs$jobs/rules.bin" || fail "-j $jobs: other rules"
	same "learn -j $jobs" jobs1/dump "jobs$jobs/dump"
	[ "$(ls "jobs$jobs")" = "dump
learn.db
rules.bin" ] || { ls "jobs$jobs"; fail "something is left"; }
done

# The lost update breaks the write's invariant: read, the other's write, write.
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
	any(.pattern == "dependency" and .rank == "broken")' found.json >/dev/null || { cat found.json; fail "check --json"; }
# The database did not learn from that.
snarl learn --dump >again
same "check changed the database" dump again

# After a death: the run that passes, which hunt keeps beside the failing one, says the same.
snarl check --quiet --postmortem hunted/bugs/B001/passing.snarl -- $trace >found && fail "postmortem: exit 0"
head -n 1 found | grep -q '^RWW on balance' || { cat found; fail "postmortem"; }
snarl check --quiet --postmortem $trace -- $trace >found || { cat found; fail "a trace differs from itself"; }
snarl check --quiet --postmortem hunted/bugs/B001/passing.snarl -- hunted/bugs/B001/passing.snarl >found ||
	{ cat found; fail "a passing trace differs from itself"; }

# Lines before the functions change nothing that is known of them.
mkdir moved
{ echo '/* moved */'; echo; cat "$SNARL_ROOT/examples/bank.c"; } >moved/bank.c
snarl-cc -g -O1 -pthread moved/bank.c -o moved/bank
snarl learn --schedules --runs 10 --stable 0 --seed 7 --json --quiet -- moved/bank >moved.json 2>err </dev/null ||
	{ cat err; fail "learn moved"; }
jq -e '.new.places == 0 and .places == 4 and .open == 2' moved.json >/dev/null || { cat moved.json; fail "rebuild"; }
snarl learn --dump | grep -q '^  bank.c:32 write in balance_set: ' || fail "lines are not brought up to date"

# Parallel runs, to an end of their own; a database of those and of the others together.
snarl learn --out plain -- ./bank >out 2>err </dev/null || { cat err; fail "parallel"; }
grep -q 'the last runs showed nothing new' err || { cat err; fail "no end"; }
snarl learn --quiet --out both --merge snarl-out/learn.db plain/learn.db
[ -s both/rules.bin ] || fail "no rules of both"
runs=$(snarl learn --dump | sed -n '1s/.*: \([0-9]*\) runs/\1/p')
more=$(snarl learn --dump plain/learn.db | sed -n '1s/.*: \([0-9]*\) runs/\1/p')
[ "$(snarl learn --dump both/learn.db | head -n 1)" = "bank: $((runs + more)) runs" ] || fail "runs of both"

# Only what passes teaches: with this check no run does.
code=0
snarl learn --runs 2 --check false --out none -- ./bank >out 2>err </dev/null || code=$?
[ $code = 3 ] && grep -q 'none of 2 runs passed' err || { cat err; fail "no run passes: exit $code"; }

# Ctrl-C ends it; what was learnt until then is kept.
snarl learn --runs 1000000 --stable 0 --out cut -- ./bank >out 2>err </dev/null &
pid=$!
until snarl learn --dump cut/learn.db 2>/dev/null | grep -q '^  3 parallel'; do
	kill -0 $pid || { cat err; fail "it ended early"; }
done
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 0 ] && grep -q 'interrupted' err && [ -s cut/rules.bin ] || { cat err; fail "Ctrl-C: exit $code"; }
[ "$(ls cut | tr '\n' ' ')" = 'learn.db rules.bin ' ] || { ls cut; fail "Ctrl-C leaves something"; }

# Traces by hand; 4-byte variables in one cell are one, unless told otherwise.
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
snarl check --quiet --granularity 4 --db hand4.db --trace torn.txt >found || { cat found; fail "granularity"; }
# With a threshold, or once it was broken in a passing run, it is none.
snarl learn --quiet --db hand.db --traces torn.txt
snarl check --quiet --db hand.db --trace torn.txt >found || { cat found; fail "broken in passing runs"; }
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

# A program whose controlled runs are too long is learnt from all the same.
snarl learn --out long --runs 6 --stable 0 --max-steps 5 --json -- ./bank >long.json 2>err </dev/null || { cat err; fail "too long"; }
jq -e '.runs == 6 and .passed > 0' long.json >/dev/null || { cat long.json; fail "too long: JSON"; }
grep -q '^snarl: the program cannot be controlled, further runs are parallel: the run took too many steps$' err || { cat err; fail "too long: not told"; }
