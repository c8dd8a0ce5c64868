#!/bin/sh
# Wrong command lines give exit code 2 and one line with a hint. Help goes to stdout with exit code
# 0.
. "$SNARL_ROOT/tests/lib.sh"

# wrong MESSAGE ARGS…: exit code 2, and MESSAGE as the only output
wrong() {
	message=$1
	shift
	status=0
	snarl "$@" >out 2>err </dev/null || status=$?
	[ $status = 2 ] || fail "snarl $*: exit $status, not 2"
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
wrong "snarl: no command 'dmup'; did you mean 'dump'?" dmup
wrong "snarl: no command 'rec'; did you mean 'record'?" rec
wrong "snarl: no command 'xyzzyplugh' (see snarl help)" xyzzyplugh
wrong "snarl: no command 'recrod'; did you mean 'record'?" help recrod
missing 'PROGRAM' record '[--] PROGRAM [ARGUMENT…]'
missing 'PROGRAM' record '[--] PROGRAM [ARGUMENT…]' --quiet --
wrong "snarl record: unknown option '--foo' (see snarl record --help)" record --foo -- true
wrong "snarl record: option '--out' needs a value (see snarl record --help)" record --out
wrong "snarl record: --window needs a number from 64K to 16G, not '7 ' (see snarl record --help)" \
	record --window '7 ' -- true
wrong "snarl record: --window needs a number from 64K to 16G, not '65G' (see snarl record --help)" \
	record --window 65G -- true
wrong "snarl record: --fork is record or off, not 'on' (see snarl record --help)" \
	record --fork on -- true
wrong "snarl record: --wait needs a number of seconds, not '-1' (see snarl record --help)" \
	record --wait -1 -- true
wrong "snarl record: --sites and --no-filter contradict each other (see snarl record --help)" \
	record --sites x --no-filter -- true
missing 'PROGRAM' test '[--] PROGRAM [ARGUMENT…]'
wrong "snarl test: no strategy 'pctt'; did you mean 'pct'? (see snarl test --help)" \
	test --strategy pctt -- true
wrong "snarl test: no strategy 'xyzzy'; --strategy help lists them (see snarl test --help)" \
	test -s xyzzy -- true
wrong "snarl test: 'exact' follows a schedule: use snarl replay (see snarl test --help)" \
	test -s exact -- true
needs='needs iRoots that a profile predicts: use snarl cover --chase (see snarl test --help)'
wrong "snarl test: 'active' $needs" test -s active -- true
wrong "snarl test: 'greedy' $needs" test -s greedy -- true
wrong "snarl test: --runs needs a number above 0, not '0' (see snarl test --help)" test --runs 0 \
	-- true
wrong "snarl test: --jobs needs a number from 1 to 64, not 'x' (see snarl test --help)" test -j x \
	-- true
form='a time such as 90, 1.5s, 10m or 2h'
wrong "snarl test: --time needs $form, not '1x' (see snarl test --help)" test --time 1x -- true
wrong "snarl test: --backend is user or kernel, not 'x' (see snarl test --help)" \
	test --backend x -- true
missing 'PROGRAM' hunt '[--] PROGRAM [ARGUMENT…]'
wrong "snarl hunt: unknown option '--strategy' (see snarl hunt --help)" hunt --strategy pct -- true
wrong "snarl hunt: --profiles needs a number from 1 to 1000, not '0' (see snarl hunt --help)" \
	hunt --profiles 0 -- true
wrong "snarl hunt: --backend is user or kernel, not 'x' (see snarl hunt --help)" \
	hunt --backend x -- true
options='--all, --noise, --seed and --rules'
for option in --all '--noise 3' '--rules x'; do
	wrong "snarl check: $options need a PROGRAM, not traces (see snarl check --help)" \
		check $option --trace a
done
missing 'BUG' check-fix 'BUG… [-- PROGRAM [ARGUMENT…]]'
missing 'BUG' check-fix 'BUG… [-- PROGRAM [ARGUMENT…]]' -- true
missing 'PROGRAM after --' check-fix 'BUG… [-- PROGRAM [ARGUMENT…]]' a b --
wrong "snarl check-fix: unknown option '--foo' (see snarl check-fix --help)" check-fix a --foo \
	-- true
form='a number from 1 to 1000'
wrong "snarl check-fix: --profiles needs $form, not '0' (see snarl check-fix --help)" \
	check-fix a --profiles 0 -- true
missing 'BUG' replay 'BUG [-- PROGRAM [ARGUMENT…]]'
wrong "snarl replay: one BUG at a time; unexpected 'b' (see snarl replay --help)" replay a b
wrong "snarl replay: unknown option '--foo' (see snarl replay --help)" replay a --foo
missing 'PROGRAM after --' replay 'BUG [-- PROGRAM [ARGUMENT…]]' a --
missing 'TRACE' dump 'TRACE'
wrong "snarl dump: one trace at a time, not also 'b' (see snarl dump --help)" dump a b
wrong "snarl dump: no kind of event is called 'bla' (see snarl dump --help)" dump --kind lock,bla a
wrong "snarl dump: --limit needs a number, not '-3' (see snarl dump --help)" dump --limit -3 a
wrong "snarl dump: unknown option '-z' (see snarl dump --help)" dump -z a
wrong "snarl dump: option '--text=3' takes no value (see snarl dump --help)" dump --text=3 a
wrong "snarl doctor: unexpected argument 'x' (see snarl doctor --help)" doctor x

for words in help --help -h "help record" "record --help" "hunt --help" "dump -h" "doctor --help" \
	--version; do
	snarl $words >out 2>err </dev/null || fail "snarl $words: exit $?"
	[ -s out ] && [ ! -s err ] || fail "snarl $words: not on stdout"
done
status=0
snarl >out 2>err </dev/null || status=$?
[ $status = 2 ] && [ ! -s out ] && [ -s err ] || fail "snarl alone: exit $status"
# Every command that the help lists has a page in docs, and a link to it in both lists of commands.
snarl help | awk '/^A first/ { exit } /^  [a-z]/ && $1 != "c++" { print $1 }' >commands
grep -qx check-fix commands || fail "commands of snarl help: $(tr '\n' ' ' <commands)"
while read -r command; do
	[ -e "$SNARL_ROOT/docs/$command.md" ] || fail "no docs/$command.md"
	for list in snarl.md index.md; do
		grep -qF "]($command.md)" "$SNARL_ROOT/docs/$list" ||
			fail "docs/$list has no link to $command.md"
	done
done <commands
