# snarl cover --chase directs runs at untested iRoots until none is left. A later hunt --coverage on
# the same database chases none, and finds a bug of a program that was not chased yet.
. "$SNARL_ROOT/tests/lib.sh"
need jq

snarl-cc -g -O1 -pthread "$SNARL_ROOT/tests/cli/cover/shop.c" -o shop
snarl cover --json --runs 10 -o few -- ./shop >few.json 2>err </dev/null ||
	{ cat err; fail "runs"; }
snarl cover --json --chase -- ./shop >all.json 2>err </dev/null || { cat err; fail "chase"; }
grep -q 'iRoots chased, .* of them exposed, nothing is left to try$' err ||
	{ cat err; fail "what came of it"; }
jq -e '.all.untested == 0 and .runs < 2000 and
	([.saturation[] | select(.strategy == "active")] | length) > 0 and
	([.iroots[] | select(.state == "infeasible") | .failed >= 8 and .exposed == 0] |
	all)' all.json >/dev/null ||
	{ jq .all,.runs all.json; fail "something is left"; }
few=$(jq .all.exposed few.json)
all=$(jq .all.exposed all.json)
[ "$all" -gt "$few" ] || fail "$all exposed, as $few without chasing"

# The database saves the hunt these runs: it chases nothing.
snarl hunt --coverage --json -- ./shop >hunt.json 2>err </dev/null || { cat err; fail "hunt"; }
jq -e --argjson all "$all" '.coverage.chased == 0 and .coverage.observed and
	.coverage.iroots[0].exposed == $all and .coverage.iroots[0].untested == 0 and
	(.coverage.iroots | length) == 7' hunt.json >/dev/null ||
	{ jq .coverage hunt.json; fail "hunt --coverage"; }
grep -q ' were chased, 0 of these exposed: snarl cover -o snarl-out' err ||
	{ cat err; fail "hunt says nothing"; }

# snarl test without --coverage does not observe iRoots, and its JSON says so.
snarl test --json --runs 5 -o plain -- ./shop >plain.json 2>err </dev/null ||
	{ cat err; fail "test"; }
jq -e '.coverage.observed == false and (.coverage | has("iroots") | not)' plain.json >/dev/null ||
	{ jq .coverage plain.json; fail "not observed"; }

# hunt --coverage finds the bug of another program and fills its database.
example bank
code=0
snarl hunt --coverage --keep-going --runs 300 -o bank-out -- ./bank >out 2>err </dev/null || code=$?
[ $code = 1 ] && [ -s bank-out/bugs/B001/schedule.txt ] || { cat err; fail "bank: $code"; }
[ "$(snarl cover --json bank-out/memo.db | jq .all.exposed)" -gt 10 ] ||
	fail "nothing is remembered of bank"
