# What hunt and test do after a failure: minimise the switches, list all orders of events that fail,
# group failures by cause, and explain the role of locks in the report. The expected numbers are
# worked out by hand.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# find_bug COMMAND PROGRAM OPTIONS…: snarl test or hunt into out-PROGRAM; it has to find a bug
find_bug() {
	find_command=$1 find_program=$2
	shift 2
	rm -rf "out-$find_program"
	status=0
	snarl "$find_command" --out "out-$find_program" "$@" -- "./$find_program" >find.out \
		2>find.err </dev/null || status=$?
	[ $status = 1 ] ||
		{ cat find.err; fail "$find_command $find_program $*: exit $status, not 1"; }
}

# expect PROGRAM EXPRESSION: about the results r and their first bug b
expect() {
	python3 - "$@" <<-'PY' || { cat "out-$1/results.json"; fail "$1: $2"; }
		import json, sys
		r = json.load(open("out-" + sys.argv[1] + "/results.json"))
		b = r["bugs"][0]
		def orders(b):
		    return [(i["pattern"], [(e["thread"], e["op"], e["line"]) for e in i["events"]])
		            for i in b["interleavings"]]
		sys.exit(not eval("(" + sys.argv[2] + ")"))
	PY
}

replays() {
	status=0
	snarl replay --quiet "$@" </dev/null || status=$?
	[ $status = 1 ] || fail "replay $*: exit $status"
}

# Fewest switches: main blocks in a join, then one thread is preempted. A lost update needs the
# turns main, one, other, one, main. The reader between two writes, and the deadlock, need no switch
# back.
example bank buffer inversion
for expected in 'bank 4 1' 'buffer 2 1' 'inversion 2 1'; do
	for how in 'hunt' 'hunt --seed 5' 'test --seed 1' 'test --seed 2 --strategy pos'; do
		echo "$expected $how"
	done
done | slice 3 >list
while read -r program switches preemptions command options; do
	# shellcheck disable=SC2086
	find_bug $command $program $options
	expect $program "b['switches'] == $switches and b['preemptions'] == $preemptions"
	expect $program "b['minimised']['from'] >= b['switches'] and
		0 < b['minimised']['runs'] <= 550"
	expect $program "b['replays'] == [20, 20]"
	[ "$(grep -c ' x ' out-$program/bugs/B001/schedule.txt)" = $((switches + 1)) ] ||
		fail "$program: the schedule has another number of turns"
	replays out-$program/bugs/B001
done <list

# --no-minimise saves the schedule as found.
find_bug test bank --no-minimise --strategy roundrobin --seed 3
expect bank "b['minimised'] is None and 'switches' not in b"

# The schedule is the same for any -j, either back end, and without fork server.
find_bug hunt buffer -j 1
cp out-buffer/bugs/B001/schedule.txt first
for option in '-j 3' '--backend kernel' '--no-fork-server'; do
	# shellcheck disable=SC2086
	find_bug hunt buffer $option
	same "$option" first out-buffer/bugs/B001/schedule.txt
done

# Either thread's update may be lost, which makes two failing orders; other orders pass.
cat >two.c <<'C'
#include <assert.h>
#include <pthread.h>

static long balance = 100;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *arg)
{
	long value;

	pthread_mutex_lock(&lock);
	value = balance;		/* line 12 */
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	balance = value + 10;		/* line 15 */
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *withdraw(void *arg)
{
	long value;

	pthread_mutex_lock(&lock);
	value = balance;		/* line 25 */
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	balance = value - 10;		/* line 28 */
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, deposit, NULL);
	pthread_create(&b, NULL, withdraw, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(balance == 100);
	return 0;
}
C
snarl-cc -g -O1 -pthread two.c -o two
find_bug hunt two
cp find.err two.err
expect two "sorted(orders(b)) == [
	('RWW', [('0.1', 'read', 12), ('0.2', 'write', 28), ('0.1', 'write', 15)]),
	('RWW', [('0.2', 'read', 25), ('0.1', 'write', 15), ('0.2', 'write', 28)])]"
expect two "[(i['schedule'], i['switches'], i['replays']) for i in b['interleavings']] ==
	[('bugs/B001/interleavings/0%d.txt' % n, 4, [20, 20]) for n in (1, 2)]"
for n in 01 02; do
	file=out-two/bugs/B001/interleavings/$n.txt
	replays $file
	awk '/^(exact|events)$/ { skip = 1 } /^goal$/ { skip = 0 } !skip' $file >goal.txt
	grep -q ' after ' goal.txt || fail "two: $n has no goals"
	replays goal.txt
done
same "the first is the bug's own" out-two/bugs/B001/schedule.txt \
	out-two/bugs/B001/interleavings/01.txt

# In bank.c both threads run the same lines, so there is one order.
example bank
find_bug hunt bank
expect bank "[p for p, e in orders(b)] == ['RWW'] and
	[l for t, o, l in orders(b)[0][1]] == [22, 30, 30]"

# A long run with many switches is reduced to few, and the cause is found.
sed 's/#define DEPOSITS 3/#define DEPOSITS 1000/' "$SNARL_ROOT/examples/bank.c" >long.c
snarl-cc -g -O1 -pthread long.c -o long
find_bug hunt long
expect long "b['switches'] <= 6 and b['minimised']['from'] > 2 * b['switches'] and
	b['pattern'] == 'RWW'"
find_bug test long
expect long "b['switches'] <= 6 and b['minimised']['from'] > 100 and b['minimised']['runs'] <= 400"

# The explanation with threads, values and locks is the same in the hunt's output and in
# report.txt.
if grep -q 'thread 0.1 releases' two.err; then
	read=12 write=15 one=0.1 two=0.2 new=110 lost=90
else
	read=25 write=28 one=0.2 two=0.1 new=90 lost=110
fi
story="Thread $one read 100 before thread $two wrote $lost, and then wrote $new over it."
between="two.c:$read and two.c:$write"
cat >want <<T
  $story Every access holds
  lock, but thread $one releases it between $between: two critical sections where one is
  needed.
T
for file in two.err out-two/bugs/B001/report.txt; do
	sed -n '/^  Thread .* over it/,/needed\.$/p' $file >got
	same "$file" want got
done
for pair in "1 reads 100 from balance *two.c:$read" \
	"2 writes $lost to balance *two.c:$([ $read = 12 ] && echo 28 || echo 15)" \
	"3 writes $new to balance *two.c:$write" \
	'(likely )?cause: Lost update on balance \(atomicity/RWW\)'; do
	grep -Eq "$pair$" two.err || { cat two.err; fail "no line: $pair"; }
done
grep -q '^  replay it: snarl replay out-two/bugs/B001$' out-two/bugs/B001/report.txt ||
	fail "no command to replay it"
grep -q '^  Other orders that fail' out-two/bugs/B001/report.txt ||
	fail "the other order is not in the report"

# One cause with two symptoms is one bug.
cat >symptoms.c <<'C'
#include <pthread.h>
#include <stdlib.h>

static volatile int state;

static void *writer(void *arg)
{
	state = 1;
	state = 2;
	return arg;
}

static void *reader(void *arg)
{
	int a = state, b = state;

	if (a == 1)
		abort();
	if (a == 0 && b == 2)
		exit(3);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
snarl-cc -g -O1 -pthread symptoms.c -o symptoms
find_bug hunt symptoms --keep-going --runs 300
expect symptoms "len(r['bugs']) == 1 and
	sorted(f['failure'] for f in b['failures']) == ['exit', 'signal']"
expect symptoms "b['failures'][0]['schedule'] == 'bugs/B001/schedule.txt'"
expect symptoms "b['failures'][1]['schedule'] == 'bugs/B001/failures/02.txt' and
	b['failures'][1]['replays'] == [20, 20]"
replays out-symptoms/bugs/B001
replays out-symptoms/bugs/B001/failures/02.txt
grep -q 'Other failures with this cause' out-symptoms/bugs/B001/report.txt ||
	fail "symptoms: the report does not name the second symptom"

# Two causes with the same symptom are two bugs.
cat >causes.c <<'C'
#include <assert.h>
#include <pthread.h>

static volatile int left, right;

static void *count(void *arg)
{
	left++;
	right++;
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(left + right == 4);
	return 0;
}
C
snarl-cc -g -O1 -pthread causes.c -o causes
find_bug hunt causes --keep-going --runs 300
expect causes "sorted(x['variable'] for x in r['bugs']) == ['left', 'right']"
expect causes "len({x['text'] for x in r['bugs']}) == 1"
expect causes "all(len(x['failures']) == 1 for x in r['bugs'])"

# Replays of the other orders get the stdin that is saved with the bug.
cat >input.c <<'C'
#include <pthread.h>
#include <stdio.h>

static volatile int value;
static int step;

static void *add(void *arg)
{
	value += step;
	return arg;
}

static void *subtract(void *arg)
{
	value -= step;
	return arg;
}

int main(void)
{
	pthread_t a, b;

	if (scanf("%d", &step) != 1)
		return 0;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, subtract, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return value != 0;
}
C
snarl-cc -g -O1 -pthread input.c -o input
status=0
echo 7 | snarl hunt --quiet --out out-input -- ./input || status=$?
[ $status = 1 ] || fail "input: exit $status"
for file in out-input/bugs/B001/interleavings/*.txt; do
	replays "$file"
done
expect input "len(b['interleavings']) == 2"
find . -name '*.tmp*' | grep . && fail "files are left"
exit 0
