# The stages of snarl hunt: candidates that do not overlap are tried in one run, search runs that
# show something new are recorded and analysed, and the hunt ends when runs show nothing new
# (--saturation).
. "$SNARL_ROOT/tests/lib.sh"
need python3

# hunt STATUS PROGRAM OPTIONS…: the exit status has to be STATUS
hunt() {
	hunt_want=$1 hunt_program=$2
	shift 2
	rm -rf out
	status=0
	snarl hunt --out out "$@" -- "./$hunt_program" 2>err </dev/null || status=$?
	[ $status = "$hunt_want" ] ||
		{ cat err; fail "hunt $hunt_program $*: exit $status, not $hunt_want"; }
}

# expect EXPRESSION: about the results r, the first bug b and the candidates c (c['list'] has each
# of them)
expect() {
	python3 - "$@" <<-'EOF2' || { cat out/results.json; fail "$1"; }
		import json, sys
		r = json.load(open("out/results.json"))
		b = r["bugs"][0] if r["bugs"] else None
		c = r["candidates"]
		sys.exit(not eval(sys.argv[1], globals()))
	EOF2
}

# Three pairs of threads, one pair after the other, each with a racy counter. HARM is the counter
# that makes runs fail.
cat >phases.c <<'X'
#include <assert.h>
#include <pthread.h>

static volatile int first, second, third;

#define ADDER(name, counter) \
	static void *name(void *arg) { int t = counter; counter = t + 1; return arg; }
ADDER(one, first)
ADDER(two, second)
ADDER(three, third)

static void both(void *(*what)(void *))
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, what, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	both(one);
	both(two);
	both(three);
#ifdef HARM
	assert(HARM == 2);
#endif
	return 0;
}
X
snarl-cc -g -O1 -pthread phases.c -o harmless
hunt 0 harmless --runs 60
expect "c['grouped'] >= 3 and c['harmless'] == c['tried'] == len(c['list'])"
expect "all(l['outcome'] == 'harmless' and l['exposed'] >= 1 and \\
	l['runs'] >= l['exposed'] for l in c['list'])"
for variable in first second third; do
	snarl-cc -g -O1 -pthread -DHARM=$variable phases.c -o $variable
	hunt 1 $variable
	expect "b['variable'] == '$variable' and b['cause'] == 'predicted' and \\
		b['runs_to_first'] <= 12"
	expect "c['grouped'] >= 3 and c['proved'] == 1"
done
# With --keep-going, every candidate of the failing group is tried alone.
hunt 1 second --keep-going --runs 100
expect "c['tried'] == c['proved'] + c['harmless'] and c['proved'] >= 1"
expect "all(l['outcome'] == ('proved' if l['variable'] == 'second' else 'harmless')
	for l in c['list'] if l['pattern'] == 'RWW')"

# enter() runs only with an unusual schedule. Once a search run reaches it, its accesses are
# predicted, too.
cat >rare.c <<'X'
#include <pthread.h>

static volatile int door, inside;

static void *opens(void *arg)
{
	door = 1;
	door = 0;
	inside = inside + 1;
	return arg;
}

static void enter(void)
{
	int t = inside;

	inside = t + 1;
}

static void *comes(void *arg)
{
	if (door)
		enter();
	return arg;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, opens, NULL);
	pthread_create(&t[1], NULL, comes, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
X
snarl-cc -g -O0 -pthread rare.c -o rare
hunt 0 rare --runs 16
expect "not any(e['function'] == 'enter' for l in c['list'] for e in l['events'])"
hunt 0 rare --runs 400
expect "any(e['function'] == 'enter' and l['exposed'] for l in c['list'] for e in l['events'])"

# Without --saturation the whole budget is used; with it the hunt ends early, after the same run for
# any -j.
grep -q 'nothing new' err && fail "ended early"
hunt 0 rare --runs 5000 --saturation 60
grep -q '60 runs in a row showed nothing new: ended early' err ||
	{ cat err; fail "the summary does not say why the hunt ended"; }
expect "r['runs'] < 5000"
cp out/results.json first
hunt 0 rare --runs 5000 --saturation 60 -j 5 --quiet
[ ! -s err ] || fail "--quiet: $(cat err)"
for f in first out/results.json; do
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
del r["seconds"]
print(r)' $f >$(basename $f).same
done
same "saturation with -j" first.same results.json.same
hunt 0 rare --runs 700 --saturation 0
expect "r['runs'] == 700"
