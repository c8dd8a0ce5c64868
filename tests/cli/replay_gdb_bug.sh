# Under gdb a replay stops before the first event of the bug (the right one of several at that site)
# and prints what will happen; snarl-next and snarl-threads follow the schedule, with both back
# ends. Without a trace it stops at the first switch, without a cause where the program fails.
. "$SNARL_ROOT/tests/lib.sh"
need gdb
[ -z "$SNARL_ASAN" ] || skip "gdb and ASan do not go together"
gdb -q -batch -ex 'python print("yes")' 2>/dev/null | grep -qx yes || skip "this gdb has no python"

cat >bank.c <<'C'
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;

static long get(void)
{
	pthread_mutex_lock(&lock);
	long value = balance;
	pthread_mutex_unlock(&lock);
	return value;
}

static void set(long value)
{
	pthread_mutex_lock(&lock);
	balance = value;
	pthread_mutex_unlock(&lock);
}

static void *teller(void *arg)
{
	for (int i = 0; i < 2; i++)
		set(get() + 10);
	return arg;
}

int main(void)
{
	pthread_t tellers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], NULL, teller, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], NULL);
	assert(balance == 40);
	return 0;
}
C
snarl-cc -g -O0 -no-pie -pthread bank.c -o bank
address=$(nm bank | sed -n 's/^0*\([0-9a-f]*\) b balance$/0x\1/p')
mkdir bug
# 0.1 starts, deposits 10 and reads 10; 0.2 starts and deposits 10; 0.1 writes 20; 0.2 continues.
cat >bug/schedule.txt <<S
snarl-schedule 1
program $PWD/bank
directory $PWD
argument ./bank
failure assert

shared
	$address+8

exact
	0 x 2
	0.1 x 10
	0.2 x 7
	0.1 x 3
	0.2 x 6

end
S
cat >bug/bug.json <<'J'
{"version":1,"class":"atomicity","pattern":"RWW","failure":"assert",
"text":"assertion failed in thread 0","cause":"seen",
"sites":[{"thread":"0.1","function":"get","file":"bank.c","line":10,"op":"read",
"object":"balance","locks":"lock","index":14},
{"thread":"0.2","function":"set","file":"bank.c","line":18,"op":"write",
"object":"balance","locks":"lock","index":9},
{"thread":"0.1","function":"set","file":"bank.c","line":18,"op":"write",
"object":"balance","locks":"lock","index":19},
{"thread":"0","function":"main","file":"bank.c","line":37,"op":"assert"}]}
J
status=0
snarl replay --trust --quiet --trace bug/trace.snarl bug || status=$?
[ $status = 1 ] || fail "the schedule does not make it fail: exit $status"

cat >commands <<'C'
snarl-threads
print balance
next
snarl-next
snarl-threads
print balance
snarl-next
print balance
snarl-next 2
kill
snarl-next
snarl-start
print balance
kill
quit
C
cat >wanted <<'W'
snarl: stopped before the first event of the bug, in thread 0.1. What will happen:
  1. 0.1: read balance at bank.c:10 (get), holding lock
  2. 0.2: write balance at bank.c:18 (set), holding lock
  3. 0.1: write balance at bank.c:18 (set), holding lock
  then: assertion failed in thread 0
snarl-next runs to the next switch between threads, snarl-threads shows where all threads are.
#0  ADDR in get () at bank.c:10
10		long value = balance;
  0    waiting to join a thread at bank.c:36 (main)
* 0.1  running, at bank.c:10 (get); holds lock (since bank.c:9 (get))
  0.2  ready to start
$1 = 10
11		pthread_mutex_unlock(&lock);
snarl: 0.1 stops; its next step: lock lock at bank.c:17 (set)
snarl: 0.2 goes on; its next step: start
#0  teller (arg=ADDR) at bank.c:23
23	{
  0    waiting to join a thread at bank.c:36 (main)
  0.1  ready to lock lock at bank.c:17 (set)
* 0.2  running, at bank.c:23 (teller)
$2 = 10
snarl: 0.2 stops; its next step: lock lock at bank.c:9 (get)
snarl: 0.1 goes on; its next step: lock lock at bank.c:17 (set)
#4  ADDR in set (value=20) at bank.c:17
17		pthread_mutex_lock(&lock);
$3 = 20
snarl: 0.1 stops; its next step: end
snarl: 0.2 goes on; its next step: lock lock at bank.c:9 (get)
snarl: 0.2 has ended
snarl: 0.1 goes on; its next step: end
snarl: the program is not running; snarl-start starts it
snarl: stopped before the first event of the bug, in thread 0.1. What will happen:
  1. 0.1: read balance at bank.c:10 (get), holding lock
  2. 0.2: write balance at bank.c:18 (set), holding lock
  3. 0.1: write balance at bank.c:18 (set), holding lock
  then: assertion failed in thread 0
snarl-next runs to the next switch between threads, snarl-threads shows where all threads are.
#0  ADDR in get () at bank.c:10
10		long value = balance;
$4 = 10
W

# said OUTPUT: leaves out prompts, gdb's own remarks, and numbers that depend on the build
said() {
	sed -e '/was not written by your snarl/,+1d' -e 's/^\((gdb) \)*//' \
		-e 's/0x[0-9a-f]*/ADDR/g' -e 's/^#[0-9]* \( .* in set \)/#4 \1/' "$1" |
		grep -v -e '^Reading symbols' -e '^Kill the' -e '^\[Inferior' -e '^$' \
		-e '^\[Thread' -e '^warning: ' || true
}
for backend in kernel user; do
	timeout 120 snarl replay --trust --gdb --backend $backend bug <commands >out 2>&1 ||
		{ cat out; fail "$backend: exit $?"; }
	said out >got
	same "$backend: other words" wanted got
done

# Without a trace, the index of the bug's first event at its site is unknown: gdb stops at the first
# switch between threads, where main waits for 0.1.
mkdir bare
cp bug/schedule.txt bug/bug.json bare
printf 'snarl-next\nprint balance\nkill\nquit\n' |
	timeout 120 snarl replay --trust --gdb bare >out 2>&1 ||
	{ cat out; fail "bare: exit $?"; }
where='Stopped at the first switch between threads. What will happen:'
cat >wanted <<W
snarl: 0 stops; its next step: join a thread at bank.c:36 (main)
snarl: 0.1 goes on; its next step: start
snarl: the first event of the bug is not known: there is no trace of the run. $where
  1. 0.1: read balance at bank.c:10 (get), holding lock
  2. 0.2: write balance at bank.c:18 (set), holding lock
  3. 0.1: write balance at bank.c:18 (set), holding lock
  then: assertion failed in thread 0
snarl-next runs to the next switch between threads, snarl-threads shows where all threads are.
#0  teller (arg=ADDR) at bank.c:23
23	{
snarl: 0.1 stops; its next step: lock lock at bank.c:17 (set)
snarl: 0.2 goes on; its next step: start
#0  teller (arg=ADDR) at bank.c:23
23	{
\$1 = 10
W
said out >got
same "bare: other words" wanted got

# Without a cause, gdb stops where the runtime finds the failure and selects the program's frame.
cat >stuck.c <<'C'
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
	return 0;
}
C
snarl-cc -g -O0 -no-pie -pthread stuck.c -o stuck
snarl test --quiet -- ./stuck </dev/null || [ $? = 1 ]
printf 'snarl-threads\nkill\nquit\n' |
	timeout 120 snarl replay --gdb snarl-out/bugs/B001 >out 2>&1 ||
	{ cat out; fail "stuck: exit $?"; }
cat >wanted <<'W'
snarl: its cause is not known; stopped at the failure:
  then: deadlock
    thread 0 waits at stuck.c:8 (main) for lock (stuck.c:3), held by thread 0 since stuck.c:7 (main)
snarl-next runs to the next switch between threads, snarl-threads shows where all threads are.
#N  ADDR in main () at stuck.c:8
8		pthread_mutex_lock(&lock);
* 0  waiting to lock lock at stuck.c:8 (main); holds lock (since stuck.c:7 (main))
W
said out | sed 's/^#[0-9]*  */#N  /' >got
same "stuck: other words" wanted got

# A plain schedule file: gdb with snarl's commands; snarl-next before the start is harmless.
cp bug/schedule.txt alone.txt
printf 'snarl-next\nquit\n' | timeout 120 snarl replay --trust --gdb alone.txt >out 2>&1 ||
	{ cat out; fail "alone: exit $?"; }
[ "$(said out)" = 'snarl: the program is not running; snarl-start starts it' ] ||
	{ cat out; fail "alone"; }

# Breakpoints on names that the runtime has as well, even inlined, mean the program's functions.
# Names that only the runtime has still work.
cat >named.c <<'C'
#include <pthread.h>

static int chosen;

static void __attribute__((noinline)) choose(void)
{
	chosen++;
}

static void *take(void *arg)
{
	choose();
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, take, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return chosen != 2;
}
C
snarl-cc -g -O1 -no-pie -pthread named.c -o named
snarl test --quiet --out named.out -- ./named </dev/null || [ $? = 1 ]
gdb -q -batch -ex 'break choose' -ex 'break take' ./named >out 2>&1
[ "$(grep -c 'locations)' out)" = 2 ] ||
	{ cat out; fail "named: the runtime has other names now, and this test needs those"; }
printf 'break choose\nbreak take\nbreak ctl_fail\ninfo breakpoints\nrun\nkill\nquit\n' |
	timeout 120 snarl replay --gdb named.out/bugs/B001 >out 2>&1 ||
	{ cat out; fail "named: exit $?"; }
if gdb -q -batch -ex 'python print(hasattr(gdb, "BreakpointLocation"))' | grep -qx True; then
	# breakpoints themselves, and enabled locations
	awk '$1 ~ /^[0-9]+\.[0-9]+$/ && $2 == "y" || $1 == 3 && $2 == "breakpoint"' out |
		sed 's/.* in //; s/:[0-9]*$//; s/ *$//' >got
	printf '%s\n' 'choose at named.c' 'take at named.c' ctl_fail >wanted
	same "named: other breakpoints" wanted got
	grep -q 'hit Breakpoint [12]\.[0-9]*, .* at named.c:' out ||
		{ cat out; fail "named: not stopped in the program"; }
fi
