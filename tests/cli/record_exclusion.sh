# Two threads at one lock, and at one atomic counter: in the trace, too, the lock is held by one at a time, and
# the counter goes up. Rings that fill up just then used to move events behind those of the other thread.
. "$SNARL_ROOT/tests/lib.sh"

cat >busy.c <<'EOF'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long count;
static volatile long sum;

static void *work(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&lock);
		sum = sum + 1;
		sched_yield();	/* so that the other one has to wait */
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 20000; i++)
		atomic_fetch_add(&count, 1);
	return arg;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, NULL) != 0)
		return 2;
	work(NULL);
	pthread_join(other, NULL);
	return sum != 40000 || count != 40000;
}
EOF
snarl-cc -O2 -pthread busy.c -o busy
snarl record -q -o busy.snarl -- ./busy
snarl dump busy.snarl | awk '
	$2 == "lock" { locks++; if ($3 in by) bad++; by[$3] = $1 }
	$2 == "unlock" { if (by[$3] != $1) bad++; delete by[$3] }
	$2 == "atomic-add" { if ((adds ? sprintf("0x%x", adds) : "seq_cst") != $4) bad++; adds++ }
	END { print locks + 0, adds + 0, bad + 0 }' >got
echo "40000 40000 0" >wanted
same "order of locks and atomics" wanted got
