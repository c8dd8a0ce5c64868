# With a list of sites, a loop without hooks whose sites are all off calls nothing at its end; a
# loop with a site that is on is still recorded. In programs and libraries, also those opened by
# dlopen.
. "$SNARL_ROOT/tests/lib.sh"

cat >lib.h <<'END'
extern long both[64];
void shared_loop(long *to, const long *from, long n);
void private_loop(long *to, const long *from, long n);
const char *calls(const void *function);
END
cat >lib.c <<'END'
#include <string.h>
#include "lib.h"
long both[64];
__attribute__((noinline)) void shared_loop(long *to, const long *from, long n)
{
	for (long i = 0; i < n; i++)
		to[i] += from[i];
}
__attribute__((noinline)) void private_loop(long *to, const long *from, long n)
{
	for (long i = 0; i < n; i++)
		to[i] ^= from[i];
}
/* reads the code at the last nop that marks a loop (runtime/hooks/loop.h), and whether the
 * loop's end is skipped */
__attribute__((no_sanitize("thread"))) const char *calls(const void *function)
{
	const volatile unsigned char *p = function;
	const char *end = "no end";

	for (int i = 0; i < 2000; i++, p++) {
		if (p[4] == 0x66 && p[5] == 0x0f && p[6] == 0x1f && p[7] == 0x05)
			end = "end";
		else if (p[5] == 0x0f && p[6] == 0x1f && p[7] == 0x05)
			return p[0] == 0xe8 || p[-1] == 0xff
				       ? (*end == 'e' ? "recorded" : "recorded without an end")
				       : (*end == 'e' ? "silent but for its end" : "silent");
	}
	return "no loop";
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include "lib.h"
static void (*shared)(long *, const long *, long), (*private)(long *, const long *, long);
static const char *(*which)(const void *);
static long *all;
static void *work(void *arg)
{
	long mine[64] = { 0 }, more[64];

	for (int i = 0; i < 64; i++)
		more[i] = i;
	private(mine, more, 60);
	shared(all, mine, 50);
	return arg;
}
int main(void)
{
	pthread_t thread;
#ifdef DLOPEN
	void *library = dlopen("./lib.so", RTLD_NOW);

	if (!library)
		return 1;
	shared = (void (*)(long *, const long *, long))dlsym(library, "shared_loop");
	private = (void (*)(long *, const long *, long))dlsym(library, "private_loop");
	which = (const char *(*)(const void *))dlsym(library, "calls");
	all = dlsym(library, "both");
#else
	shared = shared_loop;
	private = private_loop;
	which = calls;
	all = both;
#endif
	work(NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	fprintf(stderr, "shared %s, private %s\n", which((const void *)shared),
		which((const void *)private));
	printf("%ld\n", all[49]);
	return 0;
}
END

# check WHAT: records ./prog without and with a list
check() {
	RECORD_OPTIONS= record a.snarl ./prog
	grep -q '^shared recorded, private recorded$' record.err || fail "$1: $(cat record.err)"
	cp record.out want
	RECORD_OPTIONS='--sites a.snarl' record b.snarl ./prog
	grep -q '^shared recorded, private silent$' record.err ||
		fail "$1, with a list: $(cat record.err)"
	same "$1: output" want record.out
	for t in a b; do
		"$tools/shared" $t.snarl >$t.txt || fail "$1: cannot read the trace"
	done
	[ "$(wc -l <a.txt)" -gt 100 ] || fail "$1: no shared accesses"
	same "$1: shared accesses" a.txt b.txt
}

for cc in $(compilers); do
	SNARL_CC=$cc
	export SNARL_CC
	options='-O1 -fno-tree-vectorize'
	snarl-cc $options -fPIC -shared lib.c -o lib.so
	snarl-cc $options -pthread main.c lib.c -o prog
	check "$cc"
	snarl-cc $options -no-pie -fno-pie -pthread main.c lib.c -o prog
	check "$cc -no-pie"
	snarl-cc $options -pthread main.c lib.so -Wl,-rpath,. -o prog
	check "$cc, shared library"
	snarl-cc $options -pthread -DDLOPEN main.c -ldl -o prog
	check "$cc, dlopen"
done
