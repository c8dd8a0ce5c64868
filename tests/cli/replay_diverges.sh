# A schedule that the program does not follow gives exit code 4 and names the turn and, if known,
# the first event that differs. A broken schedule file gives exit code 3 and the line.
. "$SNARL_ROOT/tests/lib.sh"

example bank
example bank_fixed
snarl test --quiet -- ./bank </dev/null || [ $? = 1 ]
good=snarl-out/bugs/B001/schedule.txt

# replay WANTED_EXIT WANTED_TEXT FILE OPTIONS…
replay() {
	exit=$1 text=$2
	shift 2
	status=0
	snarl replay --trust "$@" >out 2>err || status=$?
	[ $status = "$exit" ] || { cat err; fail "$*: exit $status, not $exit"; }
	grep -q -e "$text" err || { cat err; fail "$*: no '$text'"; }
}
replay 1 'assertion failed' $good

# Changes the third turn: another thread, another hash, a timeout.
third=$(awk '/^exact/ { n = NR } n && NR == n + 3 { print $1 }' $good)
edit() { awk -v new="$1" '/^exact/ { n = NR } n && NR == n + 3 { $0 = new } { print }' $good \
	>edited; }
edit "0.7 x 1"
replay 4 'diverged at turn 3 of [0-9]* (thread 0.7' edited
edit "$third x 1 check=00000001"
replay 4 "diverged at turn 3 of [0-9]* (thread $third" edited
edit "0.1 timeout"
replay 4 'diverged at turn [0-9]* of' edited

# A schedule of one step of main: after its end main runs on until it joins its children.
sed '/^exact/,$d' $good >serial
sed -i '/^failure/d' serial
printf 'exact\n\t0 x 1\nend\n' >>serial
replay 0 'passed' serial

# An input file has changed, so the program takes another path: the first different event is named,
# with both back ends.
cat >input.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int total, odd;

static void *add(void *arg)
{
	int n = *(int *)arg;

	total += n;
	if (n % 2)
		odd++;	/* line 13 */
	total += n;
	return NULL;
}

int main(void)
{
	pthread_t thread[2];
	int n = 0;
	FILE *f = fopen("number", "r");

	if (!f || fscanf(f, "%d", &n) != 1)
		return 2;
	fclose(f);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, add, &n);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert(total == 4 * n);
	return odd < 0;
}
C
snarl-cc -g -O1 -pthread input.c -o input
echo 4 >number
snarl test --quiet --out changed -- ./input </dev/null || [ $? = 1 ]
replay 1 'assertion failed' changed/bugs/B001
echo 6 >number
replay 1 'assertion failed' changed/bugs/B001	# an even number takes the same path
echo 5 >number
for backend in user kernel; do
	replay 4 'diverged at event [0-9]* in turn [0-9]* of [0-9]* (thread 0.[12] was' \
		changed/bugs/B001 --backend $backend
	grep -q 'thread 0\.[12] did this instead: read of odd (input.c:5) at input.c:13 (add)$' \
		err ||
		{ cat err; fail "$backend: the event is not named"; }
done
# Without the part `events` only the turn is known.
sed '/^events/,/^$/d' changed/bugs/B001/schedule.txt >noevents
replay 4 'diverged at turn [0-9]* of [0-9]* (thread 0.[12] was' noevents
# Edited by hand: the turn's hash is right, but an event differs.
sed '/^events/,/^$/s/^\t../\t00/' $good >edited
replay 4 'diverged at event 1 in turn 1 of' edited

# Another build is named, and its divergence is reported.
replay 4 'is not the build this schedule was made with' $good -- ./bank_fixed

sed '/^seed/s/.*/seed one/' $good >bad
line=$(grep -n '^seed' bad | cut -d: -f1)
replay 3 "^snarl replay: bad:$line: seed has to be a number\$" bad
sed '$d' $good >cut
replay 3 "^snarl replay: cut:[0-9]*: the line 'end' is missing: the file is cut\$" cut
replay 3 'cannot open nowhere' nowhere
sed 's|^program .*|program /nowhere/bank|' $good >gone
replay 3 'cannot run /nowhere/bank: No such file' gone
