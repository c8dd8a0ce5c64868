#!/bin/sh
# snarl doctor finds no fault on the machine that runs the tests, and reports too little address
# space.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "the shadow of ASan is where ours has to be"
need python3

snarl doctor >out 2>err || { cat out err; fail "snarl doctor: exit $?"; }
[ "$(tail -n 1 out)" = "snarl works here" ] || { cat out; fail "last line"; }
! grep -q '^fail' out || { cat out; fail "something fails"; }
for name in cores memory shadow live tsc gcc clang files trial-gcc trial-clang; do
	grep -q "^[a-z]*  *$name " out || fail "no line about $name"
done

# It works in any folder and leaves no files.
mkdir here tmp
( cd here && TMPDIR=$PWD/../tmp snarl doctor --json ) >json || fail "--json: exit $?"
python3 - <<'END' || fail "--json"
import json
d = json.load(open("json"))
assert d["ok"] is True
assert all(c["level"] in ("ok", "warn") and c["text"] for c in d["checks"])
assert all("advice" in c for c in d["checks"] if c["level"] != "ok")
END
[ -z "$(ls here tmp | grep -v : | tr -d '\n')" ] || fail "left behind: $(ls here tmp)"

[ -z "$SNARL_ASAN" ] || exit 0	# ASan itself cannot start with little address space
status=0
( ulimit -v 4000000 && snarl doctor ) >out 2>err || status=$?
[ $status = 3 ] || { cat out; fail "ulimit -v: exit $status"; }
grep -q '^fail  *shadow' out || { cat out; fail "shadow did not fail"; }
grep -q 'ulimit -v unlimited' out || { cat out; fail "no advice"; }
