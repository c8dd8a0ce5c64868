# The trace saved with a bug has the events in the order of the schedule, turn by turn, up to the
# crash; so has one made by snarl replay --trace with either back end.
. "$SNARL_ROOT/tests/lib.sh"

cat >crash.c <<'C'
#include <pthread.h>

static int value, a, b;
static int *volatile p = &value;

static void *use(void *arg)
{
	a++;
	if (p) {
		b++;
		*p = 1;	/* line 11 */
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, use, NULL);
	a++;
	p = NULL;
	b++;
	return pthread_join(t, NULL);
}
C
snarl-cc -g -O1 -pthread crash.c -o crash
for program in bank inversion mysql_791; do
	example $program
done

# by_schedule SCHEDULE: prints the thread of each step; "…" marks a last turn without a count
by_schedule() {
	awk '/^events/ { exit }
		on && $2 == "x" {
			if ($3 == "*")
				print $1, "…"
			else
				for (i = 0; i < $3; i++)
					print $1
		}
		/^exact/ { on = 1 }' "$1"
}

# by_trace TRACE: prints the thread of each event that is a step
by_trace() {
	snarl dump "$1" 2>/dev/null | awk '/^0 start/ { on = 1; next }
		on && $2 != "enter" && $2 != "exit" && $2 != "value" && $2 != "malloc" &&
			$2 != "free" &&
		$2 != "blocked" && $2 != "exit-process" { print $1 }'
}

# in_order SCHEDULE TRACE: both have the same threads; after a turn without a count only its thread
# runs
in_order() {
	by_schedule "$1" >wanted
	by_trace "$2" >got
	[ -s got ] || fail "$2: no events"
	awk 'NR == FNR { want[NR] = $1; open[NR] = $2; count = NR; next }
		{ n = FNR < count ? FNR : count }
		$1 != want[n] || (FNR > count && !open[n]) {
			print "step", FNR, "is by", $1, "not", want[n]
			exit 1
		}
		END { if (FNR < count - (open[count] != "")) { print FNR, "steps instead of", count;
			exit 1 } }' \
		wanted got || { cat "$1"; snarl dump "$2"; fail "$2: not in the order of $1"; }
}

for program in crash bank inversion mysql_791; do
	snarl test --quiet --out out-$program -- ./$program </dev/null || [ $? = 1 ]
	bug=out-$program/bugs/B001
	[ -s $bug/trace.snarl ] || { cat $bug/report.txt; fail "$program: no trace"; }
	grep -q '"trace":"trace.snarl"' $bug/bug.json || fail "$program: bug.json"
	in_order $bug/schedule.txt $bug/trace.snarl
	for backend in user kernel; do
		status=0
		snarl replay --quiet --backend $backend --trace again.snarl $bug || status=$?
		[ $status = 1 ] || fail "$program: replay --trace: exit $status"
		in_order $bug/schedule.txt again.snarl
	done
	files='bug.json passing.snarl passing.txt report.html report.txt schedule.txt trace.snarl '
	[ "$(ls $bug | grep -Ev '^std(out|err)$' | tr '\n' ' ')" = "$files" ] || fail "$(ls $bug)"
done
# The access that crashed is the last event of the trace.
snarl dump out-crash/bugs/B001/trace.snarl 2>/dev/null | grep -v ' value ' | tail -n 1 >last
grep -q '^0\.1 read .*; p  use crash\.c:11' last || { cat last; fail "the end of the trace"; }

status=0
snarl replay --trace t --times 2 out-bank/bugs/B001 2>err || status=$?
[ $status = 2 ] || fail "--trace --times: exit $status"
status=0
snarl replay --trace nowhere/t out-bank/bugs/B001 2>err || status=$?
[ $status = 3 ] || fail "--trace nowhere: exit $status"
grep -q 'cannot record to nowhere/t: No such file' err || { cat err; fail "--trace nowhere"; }
[ -z "$(ls | grep tmp-)" ] || fail "files were left: $(ls)"
