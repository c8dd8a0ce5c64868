# Sites that are not in the list are switched off in every form of program: gcc and clang, pie and
# not, -static, shared libraries, dlopen, dlopen again, constructors. Recorded without the filter,
# so that any access of a site that stayed on shows.
. "$SNARL_ROOT/tests/lib.sh"

cat >lib.h <<'END'
extern long lib_counter;
void lib_shared(void);
long lib_private(long n);
END
cat >lib.c <<'END'
#include "lib.h"
long lib_counter;
__attribute__((noinline)) static void lib_private_add(volatile long *to, long n)
{
	*to += n;
}
__attribute__((noinline)) long lib_private(long n)
{
	volatile long sum[4];

	for (long i = 0; i < n; i++)
		lib_private_add(&sum[i % 4], i);
	return n;
}
__attribute__((noinline)) void lib_shared(void)
{
	lib_counter++;
}
__attribute__((constructor)) static void lib_start(void)
{
	lib_private(4);
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include "lib.h"

long counter;
__int128 wide;
static void (*shared)(void);
static long (*private)(long n);

__attribute__((noinline)) static void add_private(volatile long *to, long n)
{
	*to += n;
}
__attribute__((noinline)) static void wide_private(volatile __int128 *to, long n)
{
	*to = n;
}
struct __attribute__((packed)) odd {
	char before;
	long number;
	short small[4];
};
/* a field across two granules: clang's hooks test for it, gcc calls a range hook */
__attribute__((noinline)) static void odd_private(volatile struct odd *to, long n)
{
	to->number = n;
	to->small[3] = (short)n;
}
__attribute__((noinline)) static long main_private(long n)
{
	volatile long sum[4];
	volatile __int128 big;
	_Alignas(16) volatile struct odd odd;

	odd_private(&odd, n);

	for (long i = 0; i < n; i++)
		add_private(&sum[i % 4], i);
	wide_private(&big, n);
	return n;
}
__attribute__((noinline)) static void main_shared(void)
{
	counter++;
	wide += 1;
}
static void *work(void *arg)
{
	long n;

	main_shared();
	shared();
	n = main_private(9) + private(9);
	return n == 42 ? arg : NULL;
}
static void run(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	printf("%ld %ld %ld\n", counter, (long)wide, private(7));
}
int main(void)
{
#ifdef DLOPEN
	for (int i = 0; i < 2; i++) {
		void *library = dlopen("./lib.so", RTLD_NOW);

		if (!library)
			return 1;
		shared = (void (*)(void))dlsym(library, "lib_shared");
		private = (long (*)(long))dlsym(library, "lib_private");
		run();
		if (dlclose(library))
			return 1;
	}
#else
	shared = lib_shared;
	private = lib_private;
	run();
#endif
	return 0;
}
END

# accesses TRACE: counts accesses by function
accesses() {
	snarl dump --json "$1" | "$tools/normalize" access | awk '{ print $NF }' | sort | uniq -c
}

# check WHAT: records ./prog without and with a list
check() {
	./prog >want
	RECORD_OPTIONS= record a.snarl ./prog
	same "$1: output" want record.out
	RECORD_OPTIONS='--sites a.snarl' SNARL_OPTIONS=filter=off record b.snarl ./prog
	same "$1: output at known sites" want record.out
	grep -q '^snarl: [1-9][0-9]* of [0-9]* inlined sites were switched off$' record.err ||
		fail "$1: $(cat record.err)"
	accesses b.snarl >got
	! grep -q private got || { cat got; fail "$1: private accesses are still recorded"; }
	# All shared accesses are still recorded.
	RECORD_OPTIONS=--no-filter record c.snarl ./prog
	accesses c.snarl >all
	[ "$(grep -c private all)" = 4 ] ||
		{ cat all; fail "$1: no private accesses without a list"; }
	grep _shared all >want
	grep _shared got >got.shared
	[ "$(wc -l <want)" = 2 ] || { cat all; fail "$1: no shared accesses"; }
	same "$1: shared accesses" want got.shared
}

for cc in $(one_of $(compilers)); do
	SNARL_CC=$cc
	export SNARL_CC
	for level in -O0 -O2; do
		snarl-cc $level -fPIC -shared lib.c -o lib.so
		for form in -pie -no-pie -static -static-pie; do
			case $form in *pie) compile=-f${form#-} ;; *) compile=-fno-pie ;; esac
			case $form in -static-pie) compile=-fpie ;; esac
			snarl-cc $level $compile $form -pthread main.c lib.c -o prog
			check "$cc $level $form"
			case $form in -static*) continue ;; esac
			snarl-cc $level $compile $form -pthread main.c lib.so -Wl,-rpath,. -o prog
			check "$cc $level $form, shared library"
			snarl-cc $level $compile $form -pthread -DDLOPEN main.c -ldl -o prog
			check "$cc $level $form, dlopen"
		done
	done
	# The linker rewrites position-independent code in an executable.
	snarl-cc -O1 -fPIC -pie -pthread main.c lib.c -o prog
	check "$cc -fPIC -pie"
	snarl-cc -O1 -fPIC -no-pie -pthread main.c lib.c -o prog
	check "$cc -fPIC -no-pie"
done
