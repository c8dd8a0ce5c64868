# The results of snarl hunt do not depend on -j, on snapshots, or on the fork server: the same
# figures, bugs and schedules.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# results FOLDER: prints results.json without the duration, and all schedules
results() {
	python3 - "$1" <<-'EOF2'
		import json, sys
		r = json.load(open(sys.argv[1] + "/results.json"))
		del r["seconds"]
		print(json.dumps(r, indent=1))
	EOF2
	cat "$1"/bugs/*/schedule.txt 2>/dev/null || :
}

hunt() {
	name=$1
	shift
	rm -rf out
	snarl hunt --quiet --keep-going --runs 160 --out out "$@" </dev/null || [ $? = 1 ] ||
		fail "$*"
	results out >"$name"
}

# 4000 steps before the interesting part, so that snapshots pay off; it also prints before that
# part.
cat >long.c <<'X'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int warm;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum[3];

static void *warm_up(void *arg)
{
	for (int i = 0; i < 2000; i++)
		atomic_fetch_add(&warm, 1);
	return arg;
}

static void add(int *to)
{
	int before;

	pthread_mutex_lock(&lock);
	before = *to;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	*to = before + 1;
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	for (int i = 0; i < 3; i++)
		add(&sum[i]);
	return arg;
}

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
	both(warm_up);
	if (write(1, "warm\n", 5) != 5)
		return 2;
	both(work);
	printf("%d\n", sum[0] + sum[1] + sum[2]);
	return sum[0] == 1;
}
X
snarl-cc -g -O1 -pthread long.c -o long
for program in mysql_791 pfscan joblist_fixed; do
	compile gcc "$SNARL_ROOT/examples/$program.c" $program -g -O1 -pthread
done

for program in long $(printf '%s\n' mysql_791 pfscan joblist_fixed | slice 2); do
	hunt first -j 1 --snapshots 0 -- ./$program
	hunt snapshots -j 1 --snapshots 1 -- ./$program
	same "$program: with snapshots" first snapshots
	hunt jobs -j 3 --snapshots 1 -- ./$program
	same "$program: -j 3" first jobs
	hunt exec -j 2 --no-fork-server -- ./$program
	same "$program: without fork server" first exec
done

# Output printed before a snapshot belongs to each run. A process with an open file gets no
# snapshots.
hunt first -j 2 --snapshots 0 --check 'grep -q warm' --expect-exit any -- ./long
hunt snapshots -j 2 --snapshots 1 --check 'grep -q warm' --expect-exit any -- ./long
same "output" first snapshots
grep -q '"bugs": \[\]' first || fail "output: a bug"
open='FILE *f = fopen("\/dev\/zero", "r"); if (!f || getc(f)) return 3;'
sed "s/both(warm_up);/both(warm_up); $open/" long.c >file.c
grep -q fopen file.c
snarl-cc -g -O1 -pthread file.c -o file
hunt first -j 2 --snapshots 0 -- ./file
hunt snapshots -j 2 --snapshots 1 -- ./file
same "open file" first snapshots
