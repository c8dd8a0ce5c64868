# After make, make all has nothing to do. What make install puts under DESTDIR works there.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "the plain build is tested"
unset MAKEFLAGS MFLAGS MAKELEVEL

make -C "$SNARL_ROOT" -q all || {
	make -C "$SNARL_ROOT" -n all | head -n 5
	fail "make after make has something to do"
}
make -s -C "$SNARL_ROOT" install PREFIX=/opt/snarl DESTDIR="$PWD/root"
installed=$PWD/root/opt/snarl
for file in bin/snarl bin/snarl-cc bin/snarl-c++ include/snarl.h; do
	[ -e "$installed/$file" ] || fail "not installed: $file"
done

# The installed tools must not use the build tree.
PATH=$installed/bin:$(echo "$PATH" | tr ':' '\n' | grep -v -x -F "$SNARL_BUILD/bin" | paste -sd :)
[ "$(command -v snarl)" = "$installed/bin/snarl" ] || fail "wrong PATH: $PATH"
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -v -pthread "$SNARL_ROOT/examples/bank_fixed.c" -o bank.$cc 2>log
	if grep -F "$SNARL_ROOT/build" log; then
		fail "the installed snarl-cc uses the build tree"
	fi
	record $cc.snarl ./bank.$cc
	[ "$(cat record.out)" = "balance 60" ] || fail "recorded program printed $(cat record.out)"
	events $cc.snarl mutex >got
	[ "$(grep -c ' unlock lock =0 balance_add' got)" = 6 ] || { cat got; fail "wrong events"; }
done
