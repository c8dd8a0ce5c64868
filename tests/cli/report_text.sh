# The text format, compared with expected output: a lost update, a deadlock and a use after free
# with hand-written traces; then other widths, ASCII, with and without colour.
. "$SNARL_ROOT/tests/lib.sh"
cp -r "$SNARL_ROOT/tests/cli/report/." .
cp lost/bank.c .
export LC_ALL=C.UTF-8
unset NO_COLOR

for bug in lost deadlock freed; do
	snarl report --width 100 $bug >$bug.txt || fail "$bug: exit $?"
	same "the report of $bug differs" $bug/expect.txt $bug.txt
done

LC_ALL=C snarl report --width 60 lost >narrow.txt || fail "narrow: exit $?"
same "60 columns of ASCII" lost/expect-60.txt narrow.txt
! LC_ALL=C grep -q '[^ -~]' narrow.txt || fail "not ASCII"

# Commands are never broken.
for width in 40 77 100 200; do
	LC_ALL=C snarl report --width $width lost |
		awk -v most=$width '!/: snarl replay / && length($0) > most { print; bad = 1 }
			END { exit bad }' ||
		fail "wider than $width columns"
done

# No colour in a pipe; colour on a terminal unless NO_COLOR is set.
! grep -q "$(printf '\033')" lost.txt || fail "colour without a terminal"
need script
script -qec 'snarl report lost' /dev/null >colour.txt </dev/null || fail "on a terminal: exit $?"
grep -q "$(printf '\033')\[1m" colour.txt || fail "no colour on a terminal"
NO_COLOR=1 script -qec 'snarl report lost' /dev/null >plain.txt </dev/null
! grep -q "$(printf '\033')" plain.txt || fail "NO_COLOR is ignored"

# Control characters of the program do not reach the terminal.
snarl report --width 100 hostile >hostile.txt || fail "hostile: exit $?"
! LC_ALL=C grep -q "$(printf '[\033\007\r]')" hostile.txt || fail "control characters in the output"

# Sources are found in the folder of compilation, although the program is and runs elsewhere.
mkdir -p deep/src bin
cp "$SNARL_ROOT/examples/bank.c" deep/src/teller.c
(cd deep/src && snarl-cc -g -O1 -pthread teller.c -o ../../bin/teller)
snarl hunt --quiet --out elsewhere -- bin/teller >/dev/null 2>&1 </dev/null || [ $? = 1 ]
grep -q '│     value = balance;$' elsewhere/bugs/B001/report.txt ||
	{ cat elsewhere/bugs/B001/report.txt; fail "no source lines"; }

# bug.json identifies events by their index in the traces. Without indexes, as in files of older
# versions, the goals of the schedule identify them.
cd elsewhere/bugs/B001
grep -q '"index":[0-9]' bug.json || fail "no event is named by its index"
snarl report . >new.txt
sed -i 's/,"\(passing_\)\?index":[0-9a-z]*//g; s/,"pending":true//g' bug.json
! grep -q index bug.json
snarl report . >old.txt
same "without indexes" new.txt old.txt
