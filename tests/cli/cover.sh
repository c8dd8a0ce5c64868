# snarl cover counts exposed and predicted iRoots: the summary, page, database and JSON agree; a
# rebuild with moved lines keeps what is known; --diff, --merge, --fail-under and the messages for
# wrong input.
. "$SNARL_ROOT/tests/lib.sh"
need jq

shop=$SNARL_ROOT/tests/cli/cover/shop.c
snarl-cc -g -O1 -pthread "$shop" -o shop
run="--runs 40 --saturation 0 -j 1"
snarl cover $run -- ./shop >out 2>err </dev/null || { cat err; fail "runs"; }
grep -q '^shop: [0-9.]* % of the known iRoots are exposed, in 40 runs$' out ||
	{ cat out; fail "heading"; }
grep -q 'shop.c' out || { cat out; fail "no file"; }
[ -s snarl-out/memo.db ] && [ -s snarl-out/coverage.html ] || fail "files"
grep -q 'stock = stock - 1;' snarl-out/coverage.html || fail "the page has no source lines"

# Shown from the database, found by default or by name, and as JSON, it is the same.
snarl cover >again && same "the database says something else" out again
snarl cover snarl-out/memo.db >again && same "the database says something else" out again
snarl cover --json >all.json
jq -e '.version == 1 and .program == "shop" and .runs == 40 and (.idioms | length) == 6 and
	(.saturation | length) == 40 and .saturation[39].exposed == .all.exposed and
	.all.known == (.iroots | length) and
	.all.exposed == ([.iroots[] | select(.state == "exposed")] | length) and
	.all.exposed == ([.idioms[].exposed] | add)' all.json >/dev/null ||
	{ cat all.json; fail "JSON"; }
# The lost update of `sold` is an iRoot of idiom 2 (read, write of the other thread, write), and
# exposed.
jq -e '[.events as $e | .iroots[] | select(.idiom == 2 and .state == "exposed") |
	[.events[] | $e[.] | .access + " " + (.line | tostring)] | join(", ")] |
	any(. == "read 23, write 23, write 23")' all.json >/dev/null ||
	{ cat all.json; fail "no lost update"; }
# `stock` is protected by a lock: no iRoot of idiom 2 lies inside its critical section.
jq -e '[.events as $e | .iroots[] | select(.idiom == 2) | [.events[] | $e[.].line] |
	select(all(. == 20 or . == 21))] | length == 0' all.json >/dev/null ||
	{ cat all.json; fail "locks"; }

# Running again with the same seed adds nothing.
snarl cover $run -- ./shop >out 2>err </dev/null
grep -q ' 0 iRoots newly exposed, 0 newly expected' err ||
	{ cat err; fail "the same runs showed something new"; }

# Lines moved and a function was added: the known iRoots are recognised.
snarl-cc -g -O1 -pthread -DMOVED "$shop" -o shop
snarl cover $run -- ./shop >out 2>err </dev/null
grep -q ' 0 iRoots newly exposed, 0 newly expected' err ||
	{ cat err; fail "a rebuild made known ones new"; }

# --diff shows what changed since an earlier JSON or database.
snarl cover --diff all.json >diff
grep -q ': 0 newly exposed, 0 new and untested, 0 no longer exposed, 0 removed' diff ||
	{ cat diff; fail "diff"; }
snarl cover --runs 1 -s random --db one.db -- ./shop >/dev/null 2>&1 </dev/null
snarl cover --diff one.db --json >diff.json
jq -e '.diff.newly_exposed > 0 and .diff.not_exposed_any_more == 0 and
	.diff.before.exposed + .diff.newly_exposed == .all.exposed' diff.json >/dev/null ||
	{ jq .diff diff.json; fail "diff with a database"; }
snarl cover --diff all.json one.db >diff || fail "diff the other way"
grep -q 'No longer exposed:' diff || { cat diff; fail "iRoots no longer exposed are not listed"; }

# --fail-under
snarl cover --fail-under 0 >/dev/null || fail "--fail-under 0"
code=0; snarl cover --fail-under 100 one.db >/dev/null 2>err || code=$?
[ $code = 1 ] && grep -q 'is below --fail-under 100 %' err ||
	{ cat err; fail "--fail-under 100: $code"; }

# Merging changes only the target: runs and iRoots of both sources are in it.
snarl cover --db merged.db --merge snarl-out/memo.db one.db >merged
snarl cover --json merged.db >merged.json
jq -e '.runs == 121' merged.json >/dev/null || fail "runs of both"
[ "$(jq .all.exposed merged.json)" = "$(jq .all.exposed all.json)" ] ||
	fail "merging lost something"

# Wrong arguments and files.
expect() {
	code=0
	wanted=$1
	text=$2
	shift 2
	"$@" >out 2>err </dev/null || code=$?
	[ $code = "$wanted" ] && grep -q -- "$text" err || { cat out err; fail "$*: exit $code"; }
}
expect 3 'no coverage database' snarl cover --db none.db
expect 3 'no coverage database none.json' snarl cover --diff none.json
expect 2 "after all options.*'--json'" snarl cover one.db --json
expect 2 'missing DATABASE' snarl cover --merge
expect 2 'needs a number from 0 to 100' snarl cover --fail-under many
expect 2 "no strategy 'sideways'" snarl cover -s sideways ./shop
expect 3 'knows no program x' snarl cover --program x
echo '{"version":7}' >bad.json
expect 3 'is not the output of snarl cover' snarl cover bad.json
expect 3 'cannot be merged into itself' snarl cover --merge snarl-out/memo.db
