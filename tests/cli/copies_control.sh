# Under control, another thread can run between the read and the write of a small copied structure,
# with inlined and with called hooks. Hunt must find the failure that needs this. Only clang: gcc
# emits the write's hook before the read's, so nothing can come between.
. "$SNARL_ROOT/tests/lib.sh"
need clang

cat >split.c <<'end'
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct pair { double x, y; };
static struct pair a, b;

static void *other(void *arg)
{
	a.x = 1;
	b.x = 2;
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	COPY;
	pthread_join(thread, NULL);
	assert(b.x != 0);	/* fails only if the other thread ran between the read of a and
				 * the write of b */
	return 0;
}
end

for cc in $(compilers clang clang-19); do
	for copy in 'b = a' 'memcpy(&b, &a, sizeof(a))' 'memmove(&b.x, &a.x, sizeof(a.x))'; do
		for option in --no-inline --no-loops; do
			SNARL_CC=$cc snarl-cc $option -O0 -DCOPY="$copy" -pthread split.c -o split
			status=0
			snarl hunt --out out --runs 200 -- ./split >hunt.out 2>hunt.err \
				</dev/null || status=$?
			[ $status = 1 ] ||
				{ cat hunt.err; fail "$cc, $copy, $option: exit $status"; }
			rm -rf out
		done
	done
done
