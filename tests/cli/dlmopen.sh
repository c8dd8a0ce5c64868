# Libraries opened with dlmopen: an instrumented one in the base namespace is recorded with names; a
# plain one in a namespace of its own, where no runtime exists, works.
. "$SNARL_ROOT/tests/lib.sh"

cat >lib.c <<'END_C'
long total;
void add(long n) { total += n; }
END_C
cat >plain.c <<'END_C'
long twice(long n) { return 2 * n; }
END_C
cat >main.c <<'END_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void (*add)(long);

static void *work(void *arg)
{
	add(1);
	return arg;
}

int main(void)
{
	void *here = dlmopen(LM_ID_BASE, "./lib.so", RTLD_NOW);
	void *apart = dlmopen(LM_ID_NEWLM, "./plain.so", RTLD_NOW);
	long (*twice)(long);
	pthread_t thread;

	if (!here || !apart || dlmopen(LM_ID_BASE, "./none.so", RTLD_NOW)) {
		puts(dlerror());
		return 1;
	}
	add = (void (*)(long))dlsym(here, "add");
	twice = (long (*)(long))dlsym(apart, "twice");
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	add(twice(2));
	printf("%ld\n", *(long *)dlsym(here, "total"));
	return dlclose(here) || dlclose(apart);
}
END_C

cat >want <<'END_WANT'
0 read total add
0 write total add
0 read total main
0.1 read total add
0.1 write total add
END_WANT
echo 5 >output

for cc in $(compilers); do
	$cc -O1 -fPIC -shared plain.c -o plain.so
	SNARL_CC=$cc
	export SNARL_CC
	snarl-cc -O1 -fPIC -shared lib.c -o lib.so
	snarl-cc -O1 -pthread main.c -o prog -ldl
	record t.snarl ./prog
	same "$cc: what it prints" output record.out
	snarl dump --json t.snarl | "$tools/normalize" access | grep ' total ' >got
	same "$cc" want got
done
