# scripts/demo finds the bug of examples/bank.c, replays and reports it, checks the repair, and
# leaves no files.
. "$SNARL_ROOT/tests/lib.sh"

"$SNARL_ROOT/scripts/demo" >out 2>&1 || { cat out; fail "exit $?"; }
for line in '$ snarl-cc ' '$ snarl hunt -- ./bank' 'Lost update on balance' \
	'replayed 20 of 20 times' \
	'replay it: snarl replay snarl-out/bugs/B001' '20 of 20 replays failed as recorded' \
	'B001: Lost update on balance' 'writes 40 to balance' \
	'snarl: fixed: 1 known interleaving'; do
	grep -q -F -e "$line" out || { cat out; fail "no $line in the output"; }
done
[ "$(ls)" = out ] || fail "left behind: $(ls)"
