# --baseline compares with an earlier results.json: a bug in it is known and no failure, even if
# lines moved or another thread comes first; other bugs are new; bugs that did not show again are
# listed as gone. --gen-suppressions prints lines that suppress exactly the bugs found.
. "$SNARL_ROOT/tests/lib.sh"
need jq

# Two lost updates, of the variables `first` and `second`. -DFIRST_FIXED and -DSECOND_FIXED repair
# them.
cat >two.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, whole = PTHREAD_MUTEX_INITIALIZER;
static long first, second;
__attribute__((noinline)) static void add_first(void)
{
#ifdef FIRST_FIXED
	pthread_mutex_lock(&whole);
#endif
	pthread_mutex_lock(&lock);
	long value = first;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	first = value + 1;
	pthread_mutex_unlock(&lock);
#ifdef FIRST_FIXED
	pthread_mutex_unlock(&whole);
#endif
}
__attribute__((noinline)) static void add_second(void)
{
#ifdef SECOND_FIXED
	pthread_mutex_lock(&whole);
#endif
	pthread_mutex_lock(&lock);
	long value = second;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	second = value + 1;
	pthread_mutex_unlock(&lock);
#ifdef SECOND_FIXED
	pthread_mutex_unlock(&whole);
#endif
}
static void *work(void *arg) { add_first(); add_second(); return arg; }
int main(void)
{
	pthread_t t[2];

	(void)whole;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(first == 2);
	assert(second == 2);
	return 0;
}
C
{ seq 17 | sed 's|.*|/* moved */|'; cat two.c; } >moved.c
build() { snarl-cc -g -O1 -pthread "$@"; }
build -DSECOND_FIXED two.c -o first
build moved.c -o both
build -DFIRST_FIXED moved.c -o second
build -DFIRST_FIXED -DSECOND_FIXED moved.c -o none

# hunt STATUS OUT OPTIONS… -- PROGRAM: results go to OUT; the exit status has to be STATUS
hunt() {
	hunt_want=$1 hunt_out=$2
	shift 2
	status=0
	snarl hunt --runs 300 --out "$hunt_out" "$@" >stdout 2>stderr </dev/null || status=$?
	[ $status = "$hunt_want" ] || { cat stderr; fail "hunt $*: exit $status, not $hunt_want"; }
}
# of OUT FILTER: applies FILTER to the member "baseline" of OUT/results.json
of() { jq -c ".baseline | $2" "$1/results.json"; }

hunt 1 one --keep-going -- ./first
[ "$(jq -c '[.bugs[] | .variable]' one/results.json)" = '["first"]' ] ||
	{ cat one/results.json; fail "one bug is expected"; }
[ "$(jq -c .baseline one/results.json)" = null ] ||
	fail "a member baseline in results without --baseline"

# The same bug in the same program is known.
hunt 0 again --baseline one/results.json -- ./first
[ "$(of again '[.file, .new, .known, .gone]')" = \
	'["one/results.json",[],[{"id":"B001","was":"B001"}],[]]' ] ||
	{ cat again/results.json; fail "the same bug is not known"; }
grep -q '^snarl: run [0-9]* failed as B001 of the baseline; saved as again/bugs/B001$' stderr ||
	{ cat stderr; fail "known"; }
[ "$(tail -n 1 stderr)" = \
	'snarl: compared with one/results.json: 0 new, 1 known, 0 not found again' ] ||
	{ cat stderr; fail "counts"; }

# The second bug is new; the known first one does not end the hunt before it is found.
hunt 1 two --baseline one/results.json -- ./both
[ "$(of two '[(.new | length), (.known | length), (.gone | length)]')" = '[1,1,0]' ] ||
	{ cat stderr two/results.json; fail "one is new"; }
id=$(of two '.new[0]')
[ "$(jq -c ".bugs[] | select(.id == $id) | .variable" two/results.json)" = '"second"' ] ||
	fail "the bug called new is not that of second"
grep -q 'likely cause: \|cause: ' stderr ||
	{ cat stderr; fail "no cause is printed for the new bug"; }

# After the first bug is repaired, it counts as gone.
hunt 0 three --baseline two/results.json -- ./second
[ "$(of three '[(.new | length), (.known | length), (.gone | length)]')" = '[0,1,1]' ] ||
	{ cat stderr three/results.json; fail "one is gone"; }
grep -q '^  not found again: B00[12], atomicity [A-Z]* on first in add_first$' stderr ||
	{ cat stderr; fail "the bug that is gone is not printed"; }
hunt 0 four --baseline two/results.json -- ./none
[ "$(of four '[(.new | length), (.known | length), (.gone | length)]')" = '[0,0,2]' ] ||
	{ cat four/results.json; fail "both are gone"; }
# snarl test has the same option. It knows no cause, so it compares the failure and its place.
snarl test --quiet --out t1 -- ./first </dev/null || [ $? = 1 ]
snarl test --quiet --runs 100 --baseline t1/results.json --out t2 -- ./first </dev/null ||
	fail "test: exit $?"

hunt 1 five --gen-suppressions --keep-going -- ./first
printf '# B001: atomicity %s on first in add_first\nrace:^first$\n' \
	"$(jq -r '.bugs[0].pattern' five/results.json)" >wanted
same "other suppressions" wanted stdout
cp stdout snarl.supp
hunt 0 six --suppressions snarl.supp --keep-going -- ./first
hunt 1 seven --suppressions snarl.supp --keep-going -- ./both
[ "$(jq -c '[.bugs[] | .variable]' seven/results.json)" = '["second"]' ] ||
	{ cat seven/results.json; fail "the lines suppress too much or too little"; }
status=0
snarl hunt --json --gen-suppressions -- ./first >out 2>&1 || status=$?
[ $status = 2 ] || fail "--json --gen-suppressions: exit $status"

for file in missing two.c; do
	status=0
	snarl hunt --baseline $file -- ./first >out 2>&1 || status=$?
	[ $status = 2 ] || fail "--baseline $file: exit $status"
	cat out
done >messages
cat >wanted <<'M'
snarl hunt: cannot read the baseline missing: No such file or directory (see snarl hunt --help)
snarl hunt: two.c is no results.json of snarl hunt or snarl test (see snarl hunt --help)
M
same "other messages" wanted messages
