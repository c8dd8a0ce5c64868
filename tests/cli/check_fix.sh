# snarl check-fix runs the known interleavings of a bug against a rebuilt program. Its verdict is
# right for each case: repaired, half repaired, not repaired, moved lines, harmless, never reached,
# unknown cause.
. "$SNARL_ROOT/tests/lib.sh"
need python3

here=$SNARL_ROOT/tests/cli/check_fix
build() { snarl-cc -g "$@" -pthread; }

# check STATUS OPTIONS…: the exit status has to be STATUS; --json prints what check-fix.json has
check() {
	check_want=$1
	shift
	rm -rf out
	status=0
	snarl check-fix --json --out out "$@" >check.out 2>check.err </dev/null || status=$?
	[ $status = "$check_want" ] ||
		{ cat check.err; fail "check-fix $*: exit $status, not $check_want"; }
	same "--json" out/check-fix.json check.out
}

# expect EXPRESSION: about the results r, the first known interleaving k and the first new bug b
expect() {
	python3 - "$1" <<-'EOT' || { cat check.err check.out; fail "$1"; }
		import json, sys
		r = json.load(open("check.out"))
		k = r["known"][0]
		b = r["bugs"][0] if r["bugs"] else None
		sys.exit(not eval(sys.argv[1]))
	EOT
}

replays() {
	status=0
	snarl replay --quiet --times 5 "$1" </dev/null || status=$?
	[ $status = 1 ] || fail "replay of $1: exit $status"
}

for name in bank bank_fixed; do
	build -O1 "$SNARL_ROOT/examples/$name.c" -o $name
done
build -O1 "$here/bank_half.c" -o bank_half
for fixed in 0 1 2; do
	build -O1 -DFIXED=$fixed "$here/handle.c" -o handle$fixed
	build -O1 -DFIXED=$fixed "$here/account.c" -o account$fixed
done

# Half repaired: the known interleaving cannot come about; a similar one at other lines fails.
snarl hunt --quiet --out found -- ./bank </dev/null && fail "no bug in bank"
grep -q '^cause atomicity RWW balance$' found/bugs/B001/schedule.txt ||
	fail "no cause in the schedule"
check 1 found/bugs/B001 -- ./bank_half
expect 'r["verdict"] == "incomplete" and k["verdict"] == "left" and k["match"] == "moved"'
expect 'k["variable"] == b["variable"] == "balance" and k["failure"] == b["id"] and \
	b["replays"] == [20, 20]'
expect '[s["function"] for s in b["sites"][:3]] == ["balance_get", "balance_add", "balance_set"]'
grep -q '^snarl: the fix is incomplete: ' check.err ||
	{ cat check.err; fail "no line that says the fix is incomplete"; }
grep -q '^  replay it: snarl replay out/bugs/B001$' check.err || fail "no replay command"
replays out/bugs/B001
check 0 found/bugs/B001 -- ./bank_fixed
expect 'r["verdict"] == "fixed" and k["verdict"] == "gone" and k["came_about"] == 0 < k["tries"]'
expect '"balance_get" in k["why"] and not r["bugs"] and r["runs"] == 1000'

# A folder of results stands for all its bugs, given as folder or as file. The answer is the same
# for any -j.
check 0 --runs 300 -j 1 found -- ./bank_fixed
sed 's/"seconds":[0-9.]*//' check.out >one
check 0 --runs 300 -j 3 found/results.json -- ./bank_fixed
sed 's/"seconds":[0-9.]*//' check.out >three
same "-j 1 and -j 3" one three
check 1 --quiet -j 1 found -- ./bank_half
sed 's/"seconds":[0-9.]*//' check.out >one
[ ! -s check.err ] || fail "--quiet: $(cat check.err)"
check 1 -j 3 found -- ./bank_half
sed 's/"seconds":[0-9.]*//' check.out >three
same "-j 1 and -j 3" one three

# Rebuilt in the same place: the program and its arguments are taken from the bug.
{ printf '/*\n\n\n*/\n'; cat "$SNARL_ROOT/examples/bank.c"; } >moved.c
build -O2 moved.c -o bank
check 1 found
expect 'r["verdict"] == "not-fixed" and k["verdict"] == "fails" and k["match"] == "same"'
expect 'r["program"].endswith("/bank") and b["sites"][0]["file"] == "moved.c"'
! grep -q 'the same build' check.err || fail "says the build is the same, but it is another one"
replays out/bugs/B001

# A schedule written by hand needs neither build-id nor offset.
cat >idle.txt <<'EOT'
snarl-schedule 1
failure "signal 11"
cause atomicity RWR handle
goal
	0.2 handle.c:1 (close_idle, write handle) after 0.1 handle.c:2 (use, read handle)
	0.1 handle.c:99 (use, read handle) after 0.2 handle.c:1 (close_idle, write handle)
end
EOT
sed 's/0\.2/0.3/g; s/close_idle/close_all/g' idle.txt >all.txt
check 1 idle.txt all.txt -- ./handle0
expect '[k["verdict"] for k in r["known"]] == ["fails", "fails"] and len(r["bugs"]) == 2'
expect 'r["verdict"] == "not-fixed"'
grep -q '^snarl: not fixed: 2 of 2 known interleavings still fail$' check.err || fail "no summary"
check 1 idle.txt all.txt -- ./handle1
expect '[k["verdict"] for k in r["known"]] == ["impossible", "fails"] and \
	r["verdict"] == "incomplete"'
grep -q '^snarl: the fix is incomplete: 1 of 2 known interleavings still fails$' check.err ||
	fail "no summary"
check 0 idle.txt all.txt -- ./handle2
expect '[k["verdict"] for k in r["known"]] == ["impossible", "impossible"] and \
	r["verdict"] == "fixed"'

# A failure counts for an interleaving only if the run had that interleaving. Three threads change
# an account; in account1 one of them takes the lock, and the remaining race makes runs fail
# whatever the others do.
cat >deposit.txt <<'EOT'
snarl-schedule 1
failure "signal 6"
cause atomicity RWW balance
goal
	0.1 account.c:1 (interest, write balance) after 0.2 account.c:2 (deposit, read balance)
	0.2 account.c:2 (deposit, write balance) after 0.1 account.c:1 (interest, write balance)
end
EOT
sed 's/0\.2/0.3/g; s/deposit/payout/g' deposit.txt >payout.txt
check 1 deposit.txt payout.txt -- ./account0
expect '[k["verdict"] for k in r["known"]] == ["fails", "fails"] and r["verdict"] == "not-fixed"'
check 1 deposit.txt payout.txt -- ./account1
expect '[k["verdict"] for k in r["known"]] == ["impossible", "fails"] and \
	r["verdict"] == "incomplete"'
expect '[s["function"] for s in b["sites"][:3]] == ["payout", "interest", "payout"]'
check 0 deposit.txt payout.txt -- ./account2
expect '[k["verdict"] for k in r["known"]] == ["impossible", "impossible"] and \
	r["verdict"] == "fixed"'

# Two functions close the handle; only one of them was known and repaired. The search near the known
# interleaving finds the other.
check 1 idle.txt -- ./handle1
expect 'r["verdict"] == "incomplete" and k["verdict"] == "impossible" and k["failure"] is None'
expect '[s["function"] for s in b["sites"][:3]] == ["use", "close_all", "use"] and \
	b["cause"] == "predicted"'
replays out/bugs/B001

# Other interleavings saved with a bug are checked, too; duplicates only once.
mkdir -p bug/interleavings
cp idle.txt bug/schedule.txt
cp idle.txt bug/interleavings/1.txt
cp all.txt bug/interleavings/2.txt
check 1 bug/ -- ./handle1
expect '[(k["bug"], k["verdict"]) for k in r["known"]] == [("bug", "impossible"),
	("bug/interleavings/2.txt", "fails")]'

# The order can come about, and the run passes: harmless.
sed '/after 0.2/d' idle.txt >harmless.txt
check 0 harmless.txt -- ./handle2
expect 'k["verdict"] == "harmless" and k["came_about"] > 0 and r["verdict"] == "fixed"'

# An interleaving whose code never runs is undecided, not fixed.
sed 's/close_idle/close_late/' idle.txt | sed 's/write handle/write other/' >late.txt
check 0 late.txt -- ./handle2
expect 'r["verdict"] == "undecided" and k["verdict"] == "gone" and k["tries"] == 0'
expect '"its function did not run in 4 recorded runs" in k["why"]'
grep -q '^snarl: undecided: no run failed, but 1 of 1 known interleaving could not be checked$' \
	check.err || fail "no summary"

# A bug without a known cause is checked by its strategy, and the verdict says so.
build -O1 "$SNARL_ROOT/examples/bank.c" -o bank
snarl test --quiet --strategy pct --out tested -- ./bank </dev/null && fail "no bug in bank by pct"
check 0 tested -- ./bank_fixed
expect 'k["verdict"] == "unseen" and k["match"] is None and k["strategy_runs"] == 300 and \
	r["verdict"] == "undecided"'
expect 'k["why"].startswith("its cause is not known") and "runs by pct" in k["why"]'
check 1 tested -- ./bank
expect 'k["verdict"] == "fails" and 0 < k["strategy_runs"] <= 300'
grep -q "is the same build that tested/bugs/B001 was found in; rebuild it to check a fix" \
	check.err || fail "no word about the same build"

# Runs get the stdin that is saved with the bug.
cat >input.c <<'EOT'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static volatile int count;

static void *add(void *arg)
{
	count = count + 1;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	if (getchar() != 'g')
		return 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(count == 2);
	return 0;
}
EOT
build -O1 input.c -o input
echo go | snarl hunt --quiet --out found-input -- ./input && fail "no bug in input"
check 1 found-input -- ./input
expect 'k["verdict"] == "fails"'
replays out/bugs/B001

# Ctrl-C keeps the verdicts so far.
snarl check-fix --out out-int --time 60 idle.txt -- ./handle2 2>err </dev/null &
pid=$!
until [ -n "$(cat /proc/$pid/task/$pid/children 2>/dev/null)" ]; do :; done
kill -INT $pid
status=0
wait $pid || status=$?
[ $status = 130 ] && grep -q interrupted err && [ -s out-int/check-fix.json ] ||
	{ cat err; fail "Ctrl-C: exit $status"; }

# Wrong or missing input gives exit code 3 and one line.
cannot() {
	message=$1
	shift
	status=0
	snarl check-fix "$@" >check.out 2>check.err </dev/null || status=$?
	[ $status = 3 ] || fail "check-fix $*: exit $status, not 3"
	grep -q "^snarl check-fix: $message" check.err ||
		{ cat check.err; fail "check-fix $*: not '$message'"; }
	[ "$(wc -l <check.err)" = 1 ] || fail "check-fix $*: more than a line"
}
cannot 'cannot open nothing: ' nothing -- ./bank
mkdir empty
cannot 'empty has neither schedule.txt nor results.json' empty -- ./bank
cannot 'idle.txt does not name its program: give one after --' idle.txt
cannot '.*snarl-cc' idle.txt -- true
echo '{"bugs":[]}' >none.json
cannot 'none.json contains no bugs to check' none.json -- ./bank
