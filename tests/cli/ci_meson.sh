# The Meson setup of docs/ci.md works as written: the native file, the snippet for meson.build, the
# wrapper.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need meson ninja

make -s -C "$SNARL_ROOT" install-built PREFIX="$PWD/usr" >log 2>&1 ||
	{ cat log; fail "make install"; }
PATH=$PWD/usr/bin:$(echo "$PATH" | tr : '\n' | grep -v -x "$SNARL_BUILD/bin" | tr '\n' :)
XDG_DATA_HOME=$PWD/usr/share
export XDG_DATA_HOME
snippet=$(sed -n '/^    snarl = find_program/,/^    endif/s/^    //p' "$SNARL_ROOT/docs/ci.md")
[ "$(echo "$snippet" | wc -l)" = 5 ] || fail "docs/ci.md: no snippet"

for name in bank bank_fixed; do
	mkdir $name
	cp "$SNARL_ROOT/examples/$name.c" $name
	{
		echo "project('demo', 'c')"
		echo "threads = dependency('threads')"
		echo "selftest = executable('selftest', '$name.c', dependencies : threads)"
		echo "test('once', executable('once', '../bank_fixed.c', dependencies : threads))"
		echo "$snippet"
	} | sed "s|'../bank_fixed.c'|'once.c'|" >$name/meson.build
	cp "$SNARL_ROOT/examples/bank_fixed.c" $name/once.c
	meson setup --native-file snarl $name/build $name >log 2>&1 ||
		{ cat log; fail "meson setup"; }
	ninja -C $name/build >log 2>&1 || { cat log; fail "ninja"; }
done

# test_in FOLDER STATUS OPTIONS…: runs meson test; its exit status has to be STATUS
test_in() {
	test_folder=$1 test_want=$2
	shift 2
	status=0
	meson test -C "$test_folder/build" "$@" >log 2>&1 || status=$?
	[ $status = "$test_want" ] ||
		{ cat log; fail "meson test $* in $test_folder: exit $status"; }
}
test_in bank 1
grep -q 'hunt selftest *FAIL' log || { cat log; fail "the bug is not found"; }
[ -e bank/build/snarl-out/bugs/B001/schedule.txt ] || fail "the bug is not kept"
test_in bank 1 --suite snarl
test_in bank_fixed 0
grep -q 'hunt selftest *OK' log || { cat log; fail "the hunt did not pass"; }

wrapper=$(sed -n "s/.*--wrapper '\(.*\)'$/\1/p" "$SNARL_ROOT/docs/ci.md")
test_in bank_fixed 0 --wrapper "$wrapper" once
sed -i "s|once.c|bank.c|" bank/meson.build
ninja -C bank/build >log 2>&1 || { cat log; fail "ninja"; }
test_in bank 1 --wrapper "$wrapper" once

# A build without snarl-cc has no hunt.
CC=cc meson setup bank/plain bank >log 2>&1 || { cat log; fail "meson setup, plain"; }
meson test -C bank/plain --list 2>/dev/null | grep -q hunt && fail "plain: there is a hunt"
exit 0
