# A library opened by another library is known from its first event on. A library loaded at the
# address of a closed one replaces it in the trace, so every event has the right name.
. "$SNARL_ROOT/tests/lib.sh"

cat >plug.c <<'END'
/* Same code and data but other names, so each build fits at the same address. */
#include <pthread.h>

int DATA[1024];
static int at_once;

static __attribute__((constructor)) void BEGIN(void)
{
	at_once++;
}

static void *THREAD(void *unused)
{
	DATA[1]++;
	return unused;
}

void run(void)
{
	pthread_t thread;

	DATA[1] = at_once;
	pthread_create(&thread, 0, THREAD, 0);
	pthread_join(thread, 0);
}
END
cat >outer.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

/* dlopen is called from this library, not from the executable */
int use(const char *file, void **where)
{
	void *handle = dlopen(file, RTLD_NOW);
	void (*run)(void);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	run = (void (*)(void))dlsym(handle, "run");
	*where = (void *)run;
	run();
	return dlclose(handle);
}
END
cat >main.c <<'END'
#include <stdio.h>

int use(const char *file, void **where);

int main(void)
{
	void *where[3];

	if (use("./one.so", &where[0]) || use("./two.so", &where[1]) || use("./one.so", &where[2]))
		return 1;
	puts(where[0] == where[1] && where[1] == where[2] ? "same" : "different");
	return 0;
}
END
cat >want <<'END'
0 write one_data+4 run
0 write two_data+4 run
0 write one_data+4 run
0.1 read one_data+4 one_thread
0.1 write one_data+4 one_thread
0.2 read two_data+4 two_thread
0.2 write two_data+4 two_thread
0.3 read one_data+4 one_thread
0.3 write one_data+4 one_thread
END

for cc in $(compilers); do
	SNARL_CC=$cc
	export SNARL_CC
	for name in one two; do
		snarl-cc -O1 -fPIC -shared -pthread plug.c -o $name.so -DDATA=${name}_data \
			-DBEGIN=${name}_begin -DTHREAD=${name}_thread
	done
	for outer in snarl-cc "$cc"; do
		$outer -O1 -g -fPIC -shared outer.c -o libouter.so
		snarl-cc -O1 -pthread main.c -o prog -L. -louter -Wl,-rpath,"$PWD"
		RECORD_OPTIONS= record t.snarl ./prog
		[ "$(cat record.out)" = same ] || skip "libraries are not loaded to the same place"
		events t.snarl access | grep _data >got
		same "$cc, opened by a library of $outer" want got
	done
done
