#!/bin/sh
# snarl test and snarl replay: messages for wrong arguments, exit codes, JSON, broken schedule
# files.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"
need python3
control_bug
bug=snarl-out/bugs/B001

# wrong MESSAGE ARGS…: exit code 2, and MESSAGE as the only output
wrong() {
	message=$1
	shift
	status=0
	snarl "$@" >out 2>err </dev/null || status=$?
	[ $status = 2 ] || { cat err; fail "snarl $*: exit $status, not 2"; }
	[ ! -s out ] || fail "snarl $*: something on stdout"
	echo "$message" >want
	same "snarl $*" want err
}
# missing WHAT COMMAND OPERANDS WORD…: snarl COMMAND WORD… names WHAT as missing
missing() {
	expected="snarl $2: missing $1; usage: snarl $2 [options] $3 (see snarl $2 --help)"
	command=$2
	shift 3
	wrong "$expected" "$command" "$@"
}
missing 'PROGRAM' test '[--] PROGRAM [ARGUMENT…]'
missing 'PROGRAM' test '[--] PROGRAM [ARGUMENT…]' --runs 3 --
wrong "snarl test: unknown option '--foo' (see snarl test --help)" test --foo -- ./bug
wrong "snarl test: option '--runs' needs a value (see snarl test --help)" test --runs
wrong "snarl test: no strategy 'pcd'; did you mean 'pct'? (see snarl test --help)" \
	test --strategy pcd -- ./bug
wrong "snarl test: 'exact' follows a schedule: use snarl replay (see snarl test --help)" \
	test --strategy exact -- ./bug
wrong "snarl test: --backend is user or kernel, not 'both' (see snarl test --help)" \
	test --backend both -- ./bug
missing 'BUG' replay 'BUG [-- PROGRAM [ARGUMENT…]]'
wrong "snarl replay: --backend is user or kernel, not 'x' (see snarl replay --help)" \
	replay --backend x "$bug"
missing 'PROGRAM after --' replay 'BUG [-- PROGRAM [ARGUMENT…]]' "$bug" --
wrong "snarl replay: one BUG at a time; unexpected 'b' (see snarl replay --help)" replay "$bug" b
for option in --runs --time --jobs --seed --depth --switch --replays --expect-exit --timeout \
	--max-steps; do
	for value in '' x -1 '1 ' 99999999999999999999999 1e; do
		status=0
		snarl test "$option" "$value" -- ./bug >out 2>err </dev/null || status=$?
		[ $status = 2 ] || { cat err; fail "test $option '$value': exit $status, not 2"; }
		[ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q -e "$option" err ||
			{ cat err; fail "test $option '$value': not one line that names it"; }
	done
done
for words in "test --help" "test -h" "replay --help" "help test" "help replay" \
	"test --strategy help"; do
	snarl $words >out 2>err </dev/null || fail "snarl $words: exit $?"
	[ -s out ] && [ ! -s err ] || fail "snarl $words: not on stdout"
done

# expect CODE ARGS…: runs snarl; output goes to the files out and err
expect() {
	code=$1
	shift
	status=0
	snarl "$@" >out 2>err </dev/null || status=$?
	[ $status = "$code" ] || { cat err; fail "snarl $*: exit $status, not $code"; }
}
echo 'int main(void) { return 5; }' >five.c
snarl-cc five.c -o five
expect 1 test -o o1 --runs 3 -- ./five
grep -q '^  only one thread ran, so the schedule is not the cause' err ||
	{ cat err; fail "a failure of one thread"; }
expect 1 test -o o1 -- ./bug
! grep -q 'one thread' err || { cat err; fail "a failure of several threads"; }
expect 0 test -o o1 --runs 3 --expect-exit 5 -- ./five
expect 0 test -o o1 --runs 3 --expect-exit any -- ./five
expect 1 test -o o1 --runs 3 --expect-exit any --check 'test $SNARL_STATUS = 4' -- ./five
expect 0 test -o o1 --runs 3 --check 'test $SNARL_STATUS = 5' -- ./five
expect 3 test -o o1 --runs 3 --check /nowhere/check -- ./five
echo wrong >wanted
expect 1 test -o o1 --runs 3 --expect-exit 5 --expect-output wanted -- ./five
: >wanted
expect 0 test -o o1 --runs 3 --expect-exit 5 --expect-output wanted -- ./five
expect 3 test -o o1 --expect-output nowhere -- ./five
# A folder that cannot be written is reported before the first run, and nothing is left behind.
for command in test hunt; do
	for folder in /proc/nowhere ./bug; do
		expect 3 $command -o $folder -- ./five
		[ "$(wc -l <err)" = 1 ] && grep -q -- '--out DIR chooses another$' err ||
			{ cat err; fail "$command -o $folder"; }
	done
	expect 3 $command -o o5 -- /bin/true
	[ ! -e o5 ] || fail "$command: a folder without results"
done
expect 3 replay nowhere
expect 3 replay /dev/null

# --json: bug.json, results.json and stdout agree, and stdout holds nothing else.
expect 1 test --json -o o2 -- ./bug
python3 - <<'END2' || fail "not the JSON expected"
import json
r, o, b = (json.load(open(f)) for f in ("o2/results.json", "out", "o2/bugs/B001/bug.json"))
assert r == o, (r, o)
assert r["version"] == 1 and r["runs"] >= 1 and r["seconds"] >= 0
assert r["arguments"] == ["./bug"], r["arguments"]
assert len(r["bugs"]) == 1
f = r["bugs"][0]
for k in ("id", "class", "failure", "runs_to_first", "sites", "schedule", "replays"):
    assert k in f, (k, f)
assert f["id"] == "B001" and f["failure"] == "assert" and f["replays"] == [20, 20], f
assert f["schedule"] == "bugs/B001/schedule.txt", f
assert b["id"] == "B001" and b["failure"] == "assert"
END2
printf '#include <stdlib.h>\nint main(int c, char **v) { return c > 9 ? atoi(v[0]) : 0; }\n' \
	>quiet.c
snarl-cc quiet.c -o quiet
expect 0 test --json -q --runs 5 -o o3 -- ./quiet "$(printf 'a\377"\\\n\001b')"
[ ! -s err ] || { cat err; fail "--quiet is not quiet"; }
python3 -c 'import json
r = json.load(open("out"))
assert r["bugs"] == [] and r["runs"] == 5, r' ||
	fail "JSON of odd arguments"

# A broken schedule gives FILE:LINE: reason and exit code 3, whichever line is broken.
cp $bug/schedule.txt good.txt
expect 1 replay -q good.txt
lines=$(wc -l <good.txt)
line=1
while [ $line -le "$lines" ]; do
	sed "${line}s/.*/spoilt line/" good.txt >bad.txt
	expect 3 replay bad.txt
	grep -q "^snarl replay: bad.txt:$line: " err ||
		{ cat err; fail "the message does not name line $line, which is broken"; }
	line=$((line + 1))
done
: >empty.txt
expect 3 replay empty.txt
head -c 300 /dev/urandom >noise.txt
expect 3 replay noise.txt
head -c 200 good.txt >cut.txt
expect 3 replay cut.txt
