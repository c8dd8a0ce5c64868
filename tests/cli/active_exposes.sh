# The strategy active exposes predicted interleavings (iRoots): at least three quarters of the
# untested ones of idiom 1 and half of all. The result is the same with one job and with three
# (tests/tools/expose.c).
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

# Two threads use two counters, one of them under a lock, so that predictions of every idiom exist.
# The third thread waits for a plain flag: its write of y can never come first.
cat >pairs.c <<'X'
#include <pthread.h>

static volatile int x, y, flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *arg)
{
	x = 1;
	pthread_mutex_lock(&lock);
	y = 1;
	pthread_mutex_unlock(&lock);
	(void)x;
	flag = 1;
	return arg;
}

static void *second(void *arg)
{
	pthread_mutex_lock(&lock);
	(void)y;
	pthread_mutex_unlock(&lock);
	x = 2;
	return arg;
}

static void *third(void *arg)
{
	while (!flag)
		;
	y = 3;
	return arg;
}

int main(void)
{
	void *(*const routines[])(void *) = { first, second, third };
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, routines[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
X
snarl-cc -g -O1 -pthread pairs.c -o pairs
for jobs in 1 3; do
	JOBS=$jobs "$tools/expose" chase 3000 0 1 ./pairs >out.$jobs 2>err </dev/null ||
		{ cat err; fail "chase -j $jobs"; }
	grep '^chased' out.$jobs >chased.$jobs ||
		{ cat out.$jobs; fail "no line about chased iRoots"; }
done
same "-j 1 and 3" chased.1 chased.3

# $2, $4, … count the untested iRoots of each idiom, $3, $5, … those that were exposed.
awk '{ exit !($2 >= 3 && $3 >= 0.75 * $2 &&
	$3 + $5 + $7 + $9 + $11 + $13 >= ($2 + $4 + $6 + $8 + $10 + $12) / 2) }' chased.1 ||
	{ cat out.1; fail "too few predicted iRoots were exposed"; }
