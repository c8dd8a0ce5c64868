# program.sh NAME.COMPILER: records one program of tests/programs and compares its events with
# NAME.expect. With UPDATE set, the events of gcc's build are written into NAME.expect first.
. "$SNARL_ROOT/tests/lib.sh"

name=${1%.*} cc=${1##*.}
source=$SNARL_ROOT/tests/programs/$name.c
expect=$SNARL_ROOT/tests/programs/$name.expect
[ -e "$source" ] || source=${source}c
need "$cc"
[ -e "$expect" ] || { [ -n "${UPDATE:-}" ] && : >"$expect"; } || fail "no $name.expect"
only=$(head_of "$expect" compilers)
case " ${only:-$cc} " in
*" $cc "*) ;;
*) skip "only for $only" ;;
esac

# The words of flags, options and args are meant to be split.
compile "$cc" "$source" prog $(flags_of "$source") || fail "does not compile"
status=0 wanted=$(head_of "$expect" exit)
timeout -k 10 60 $fixed snarl record --exit-code --out t.snarl $(head_of "$expect" options) -- \
	./prog $(head_of "$expect" args) || status=$?
[ $status = "${wanted:-0}" ] || fail "recorded run: exit $status, not ${wanted:-0}"
snarl dump --json t.snarl >events.json
classes=$(head_of "$expect" classes)
sed -n '/^#/!q; /^# *all/q1' "$expect" || classes=all
"$tools/normalize" "${classes:-default}" <events.json >got
if [ -n "${UPDATE:-}" ] && [ "$cc" = gcc ]; then
	sed '/^#/!Q' "$expect" >new
	cat new got >"$expect"
fi
grep -v -e '^#' -e '^ *$' "$expect" >want || true
same "other events than expected" want got
