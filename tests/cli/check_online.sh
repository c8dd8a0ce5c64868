# snarl check during a run: it watches only accesses that another thread can break apart, and all
# with --all; a violation has the value found in memory. snarl learn takes orders from a guard log
# whose delays timed out. A learn run that cannot start leaves no database.
. "$SNARL_ROOT/tests/lib.sh"
need jq

source=$SNARL_ROOT/tests/cli/check/pairs.c
line() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }

for cc in gcc clang; do
	SNARL_CC=$cc snarl-cc -g -O1 -pthread "$source" -o pairs
	rm -rf snarl-out
	snarl learn --quiet --parallel --runs 3 --stable 0 -- ./pairs good </dev/null ||
		fail "$cc: learn"
	snarl learn --dump >dump
	for each in read write other; do
		grep -q "^  pairs.c:$(line "x $each") .*, checked" dump ||
			{ cat dump; fail "$cc: x $each"; }
		for variable in y z; do
			grep "^  pairs.c:$(line "$variable $each") " dump >found ||
				fail "$cc: no place $variable $each"
			! grep checked found || fail "$cc: $variable $each"
		done
	done

	# violations VARIABLE: those in the file out, as PATTERN FIRST REMOTE THEN FOUND
	violations() {
		jq -r --arg v "$1" '.violations[] |
			select((.variable // "") | startswith($v + " ")) |
			"\(.pattern) \(.first.line) \(.remote.line) \(.then.line) \(.found)"' out
	}
	wanted() { echo "RWW $(line "$1 read") $(line "$1 other") $(line "$1 write") 10"; }
	for all in '' --all; do
		snarl check $all --json -q -- ./pairs x >out </dev/null &&
			fail "$cc: check $all x: exit 0"
		[ "$(violations x)" = "$(wanted x)" ] || { cat out; fail "$cc: check $all x"; }
		snarl check $all --json -q -- ./pairs good >out </dev/null || :
		[ -z "$(violations x)$(violations y)$(violations z)" ] ||
			{ cat out; fail "$cc: check $all good"; }
		snarl check $all --json -q -- ./pairs y >out </dev/null || :
		[ "$(violations y)" = "${all:+$(wanted y)}" ] ||
			{ cat out; fail "$cc: check $all y"; }
	done
done

# The text output has the value that was found, too.
snarl check -q -- ./pairs x >out </dev/null && fail "check: exit 0"
grep -q "^  then    writes  .*pairs.c:$(line 'x write') (one), over 10$" out ||
	{ cat out; fail "text"; }

# With --all, accesses in a row without another thread in between are skipped; with --noise they are
# not. Both report the same violations, except for which of several writes was the first.
(
	source=$SNARL_ROOT/tests/cli/check/streak.c
	for cc in gcc clang; do
		SNARL_CC=$cc snarl-cc -g -O1 -pthread "$source" -o streak
		rm -rf streak-out
		snarl learn --quiet --parallel --runs 3 --stable 0 --out streak-out \
			-- ./streak good </dev/null || fail "$cc: learn streak"
		for noise in 0 1; do
			first=$(line begin)
			[ $noise = 0 ] || first=$(line write)
			{
				echo "a RWW $(line read) $(line 'other write') $(line write) 10"
				echo "b WWR $(line write) $(line 'other write') $(line again) 10"
				echo "c WRW $first $(line 'other read') $(line last) 5"
			} >wanted
			for each in good a b c; do
				snarl check --all --noise $noise --out streak-out --json -q \
					-- ./streak $each >out </dev/null || :
				jq -r --arg e $each '.violations[] | "\($e) \(.pattern) " +
					"\(.first.line) \(.remote.line) \(.then.line) " +
					"\(.found)"' out
			done >got
			same "$cc: streaks, noise $noise" wanted got
		done
	done
)

# A program that cannot be run leaves no database.
for program in ./nonexist /bin/true; do
	code=0
	snarl learn --out none -- $program >out 2>err </dev/null || code=$?
	[ $code = 3 ] && [ ! -e none/learn.db ] ||
		{ cat err; ls none; fail "$program: exit $code"; }
done

# The guard log of a passing run has a delay without effect (timed out): learn adds that order as
# known.
need python3
place() {
	python3 - "$1" <<'X'
import sqlite3, sys
row = sqlite3.connect("snarl-out/learn.db").execute(
    "SELECT build, offset FROM place JOIN site ON site.id = site WHERE line = ? LIMIT 1",
    (int(sys.argv[1]),)).fetchone()
print("%s+0x%x" % row)
X
}
before=$(place "$(line 'x other')") delayed=$(place "$(line 'x read')")
{
	echo 'snarl-guard 1'
	echo "pset $before $delayed 3 0 3 0 100 50 ; in vain"
	echo "pset $delayed $before 3 1 2 0 100 50 ; it helped once"
	echo "pset 00+0x1 $before 1 0 1 0 100 50 ; of another build"
	echo "tx $before - 1 0 1 0 100 50 ; a lock"
} >guard.log
grep -q "^    follows pairs.c:$(line 'x other') " dump &&
	fail "the order is known before the log is read"
snarl learn --guard-log guard.log 2>err || { cat err; fail "guard-log"; }
grep -q '^snarl: 1 order that delays did not avoid, 1 of them new, 1 at places unknown here; ' \
	err || { cat err; fail "summary"; }
snarl learn --dump | sed -n "/^  pairs.c:$(line 'x read') /,/^  [^ ]/p" |
	grep -q "follows pairs.c:$(line 'x other') " || fail "not learnt"
snarl learn --guard-log guard.log 2>err
grep -q ', 0 of them new, ' err || { cat err; fail "twice"; }
code=0
snarl learn --guard-log dump >out 2>err || code=$?
[ $code = 3 ] && grep -q 'not a log of snarl guard' err || { cat err; fail "no log: exit $code"; }
code=0
snarl learn --schedules --parallel ./pairs >out 2>err || code=$?
[ $code = 2 ] || fail "two ways at once: exit $code"
