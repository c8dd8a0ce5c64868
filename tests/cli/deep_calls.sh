# Recursion 200,000 calls deep, left by return and by longjmp: the trace has all entries and exits.
. "$SNARL_ROOT/tests/lib.sh"

cat >deep.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/resource.h>

int shared, after;
static jmp_buf back;

static __attribute__((noinline)) int down(int depth, int jump)
{
	int got;

	if (depth == 0) {
		shared++;
		if (jump)
			longjmp(back, 1);
		return 0;
	}
	got = down(depth - 1, jump);
	__asm__ volatile("" : "+r"(got));
	return got + 1;
}

static void *work(void *unused)
{
	shared++;
	if (down(200000, 0) != 200000)
		return NULL;
	after++;
	if (setjmp(back) == 0)
		down(200000, 1);
	after++;
	return unused;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	work(NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 20);
	pthread_create(&thread, &attr, work, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", shared + after);
	return 0;
}
END

# is THREAD KIND WANTED: number of events of this kind
is() {
	got=$("$tools/count" t.snarl "$2" | awk -v t="$1" '$1 == t { print $2 }')
	[ "$got" = "$3" ] || fail "$cc: thread $1: $got x $2, not $3"
}

ulimit -s 200000 2>/dev/null || skip "no larger stack allowed"
for cc in $(compilers); do
	wrap "$cc" deep.c prog -O1 -fno-optimize-sibling-calls -pthread
	RECORD_OPTIONS= record t.snarl ./prog
	[ "$(cat record.out)" = 10 ] || fail "$cc: $(cat record.out)"
	# Two descents; exits of the one left by return, of work and of main.
	is 0 enter 400004
	is 0.1 enter 400003
	is 0 exit 200003
	is 0.1 exit 200002
	is 0 longjmp 1
	is 0.1 longjmp 1
done
