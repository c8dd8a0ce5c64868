# A program that fails in its very first run, before any trace exists: the cause is still found,
# from a recorded replay and from later runs that pass.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# hunt NAME SEED: hunts ./NAME, stderr goes to the file said
hunt() {
	rm -rf out
	status=0
	snarl hunt --seed "$2" --out out -- "./$1" >/dev/null 2>said </dev/null || status=$?
	[ $status = 1 ] || { cat said; fail "$1: exit $status"; }
}

# expect NAME EXPRESSION: about the bug b
expect() {
	python3 - "$2" <<-'END' || { cat said out/bugs/B001/report.txt; fail "$1: $2"; }
		import json, sys
		b = json.load(open("out/bugs/B001/bug.json"))
		sys.exit(not eval(sys.argv[1]))
	END
}

prints() { grep -q -- "$1" said || { cat said; fail "not printed: $1"; }; }

# The posting thread reads `wanted` too early and posts nothing. The access and the wait are in one
# line.
cat >post.c <<'END'
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static int wanted;

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	wanted = 1, pthread_mutex_unlock(&lock), sem_wait(&posted);
	return arg;
}

static void *posts(void *arg)
{
	int now;

	pthread_mutex_lock(&lock);
	now = wanted;
	pthread_mutex_unlock(&lock);
	if (now)
		sem_post(&posted);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	sem_init(&posted, 0, 0);
	pthread_create(&a, NULL, waits, NULL);
	pthread_create(&b, NULL, posts, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
snarl-cc -g -O1 -pthread post.c -o post
for seed in 1 2 4; do
	hunt post $seed
	expect post 'b["runs_to_first"] == 1 and b["replays"] == [20, 20]'
	expect post 'b["class"] == "order" and b["pattern"] == "before-init"'
	expect post 'b["variable"] == "wanted"'
	expect post \
		'[(s["line"], s["op"]) for s in b["sites"][:2]] == [(20, "read"), (11, "write")]'
	prints '1 reads 0 from wanted '
	prints '2 writes 1 to wanted '
done

# Fails unless the new thread runs first, which few runs do.
cat >first.c <<'END'
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int result;

static void *compute(void *arg)
{
	pthread_mutex_lock(&lock);
	result = 5;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;
	int now;

	pthread_create(&thread, NULL, compute, NULL);
	pthread_mutex_lock(&lock);
	now = result;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return now != 5;
}
END
snarl-cc -g -O1 -pthread first.c -o first
for seed in 1 2 3; do
	hunt first $seed
	expect first 'b["failure"] == "exit" and b["variable"] == "result" and \
		b["pattern"] == "before-init"'
	expect first '[(s["line"], s["op"]) for s in b["sites"][:2]] == [
		(21, "read"), (9, "write")]'
done
