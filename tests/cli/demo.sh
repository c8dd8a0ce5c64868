# scripts/demo shows a recorded, dumped run of the bank and leaves nothing behind.
. "$SNARL_ROOT/tests/lib.sh"

"$SNARL_ROOT/scripts/demo" >out 2>&1 || { cat out; fail "exit $?"; }
for line in 'snarl-cc' 'snarl record' 'snarl dump' 'balance_get' 'balance_set' 'bank.c:'; do
	grep -q -F "$line" out || { cat out; fail "no $line in the output"; }
done
[ "$(ls)" = out ] || fail "left behind: $(ls)"
