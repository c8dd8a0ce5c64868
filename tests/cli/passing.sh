# The nearest passing run that is saved with a bug passes in every replay with both back ends. The
# stored first difference is where the two traces differ line by line, and reports show both runs.
. "$SNARL_ROOT/tests/lib.sh"
need jq

# events TRACE: prints thread, kind, object and site; without calls, returns and values
events() {
	snarl dump --raw "$1" 2>/dev/null | awk '/^(snarl-text|begin|thread|module|meta) / { next }
		$2 == "enter" || $2 == "exit" || $2 == "value" { next }
		{ out = $1 " " $2;
			for (i = 3; i <= NF; i++) if ($i ~ /^0x/ || $i ~ /^@/) out = out " " $i;
			print out }' |
		sed 's/:\([0-9]*\)\( .*\)* @/:\1 @/'
}

check() {	# BUG
	jq -e '.passing | .schedule == "passing.txt" and .trace == "passing.snarl" and
		.replays == [20, 20] and .first_difference.passing.thread and
		.first_difference.passing.op' "$1/bug.json" >/dev/null ||
		{ jq .passing "$1/bug.json"; fail "$1: passing"; }
	for backend in user kernel; do
		snarl replay --backend $backend --times 20 "$1/passing.txt" 2>err ||
			{ cat err; fail "$1 $backend: exit $?"; }
		grep -qx 'snarl: 20 of 20 replays passed' err ||
			{ cat err; fail "$1: what is said"; }
	done
	status=0
	snarl replay --quiet "$1" || status=$?
	[ $status = 1 ] || fail "$1 does not fail any more: exit $status"
	events "$1/trace.snarl" >failing.events
	events "$1/passing.snarl" >passing.events
	at=$(awk 'NR == FNR { a[NR] = $0; next } $0 != a[FNR] { print FNR; exit }' failing.events \
		passing.events)
	[ "$(jq .passing.first_difference.event "$1/bug.json")" = "$at" ] ||
		fail "$1: differs at $at"
	for run in failing passing; do
		[ "$(jq -r ".passing.first_difference.$run | .thread + \" \" + .op" \
			"$1/bug.json")" = "$(sed -n "${at}p" $run.events | cut -d ' ' -f 1,2)" ] ||
			fail "$1: first difference in $run"
	done
	snarl report "$1" >said
	grep -q "^  replay the run that passes: snarl replay $1/passing.txt" said ||
		{ cat said; fail "$1: the report"; }
	tr '\n' ' ' <said | grep -q 'nearest run that passes is the same until' ||
		{ cat said; fail "$1: the report"; }
	grep -q '<h2 id="beside">' "$1/report.html" || fail "$1: the page"
	[ "$(grep -c 'class="first"><td colspan' "$1/report.html")" = 2 ] ||
		fail "$1: marks on the page"
}

for program in bank inversion buffer session mysql_3596; do
	example $program
	snarl hunt --quiet --out hunt-$program -- ./$program </dev/null || [ $? = 1 ]
	check hunt-$program/bugs/B001
done
snarl test --quiet --out test -- ./bank </dev/null || [ $? = 1 ]
check test/bugs/B001

# Both reads by main in bank's passing run find 60: no update is lost.
jq -e '.bugs[0].passing_picture | map(select(.thread == "0" and .op == "read")) |
	length == 2 and all(.value == "60")' \
	>/dev/null <<X || fail "the balance of the passing run"
$(snarl report --format json hunt-bank/bugs/B001)
X

# A program that always fails has no passing run.
cat >always.c <<'C'
#include <pthread.h>
static int shared;
static void *add(void *arg) { shared++; return arg; }
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, add, NULL);
	shared++;
	pthread_join(t, NULL);
	return 3;
}
C
snarl-cc -g -O0 -pthread always.c -o always
snarl test --quiet --out always-out -- ./always </dev/null || [ $? = 1 ]
jq -e 'has("passing") and .passing == null' always-out/bugs/B001/bug.json >/dev/null ||
	fail "always: passing"
[ ! -e always-out/bugs/B001/passing.txt ] || fail "always: a file"
grep -q 'No run that passes was found' always-out/bugs/B001/report.html || fail "always: the page"
