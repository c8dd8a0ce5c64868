# Interleavings that runs let one expect are brought about by the strategy active, and what comes of
# it does not depend on the number of jobs (tests/tools/expose.c).
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

# Two threads that take turns at two counters, one of them locked: each idiom is there. A third waits for a
# flag of its own making, so that nothing it does then comes before.
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
	JOBS=$jobs "$tools/expose" chase 3000 0 1 ./pairs >out.$jobs 2>err </dev/null || { cat err; fail "chase -j $jobs"; }
	grep '^chased' out.$jobs >chased.$jobs || { cat out.$jobs; fail "nothing was told"; }
done
same "-j 1 and 3" chased.1 chased.3

# Of idiom 1 at least three quarters of those that were not seen before; of all idioms half.
awk '{ exit !($2 >= 3 && $3 >= 0.75 * $2 && $3 + $5 + $7 + $9 + $11 + $13 >= ($2 + $4 + $6 + $8 + $10 + $12) / 2) }' chased.1 ||
	{ cat out.1; fail "too few"; }
