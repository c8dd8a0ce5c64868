# The hooks for accesses of unknown alignment, of 1 to 16 bytes at every offset: an access that
# touches the 8 bytes another thread wrote is recorded with its size, whether it lies inside that
# granule or crosses its ends, and whether the hook is inlined or called.
. "$SNARL_ROOT/tests/lib.sh"

cat >hooks.c <<'END_C'
#include <pthread.h>
#include <stdio.h>

#define HOOKS(n)                                   \
	void __tsan_unaligned_read##n(void *);          \
	void __tsan_unaligned_write##n(void *);         \
	void __tsan_unaligned_volatile_read##n(void *); \
	void __tsan_unaligned_volatile_write##n(void *);
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
#define TOUCH(n)                                                  \
	for (int i = 0; i < 24; i++) {                                 \
		__tsan_unaligned_read##n(buffer + i);                   \
		__tsan_unaligned_write##n(buffer + i);                  \
		__tsan_unaligned_volatile_read##n(buffer + i);          \
		__tsan_unaligned_volatile_write##n(buffer + i);         \
	}

_Alignas(16) static char buffer[48];

static void *other(void *arg)
{
	*(volatile long *)(buffer + 8) = 1;
	return arg;
}

int main(void)
{
	pthread_t thread;

	printf("%p\n", (void *)buffer);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	for (int round = 0; round < 600; round++) {
		TOUCH(1) TOUCH(2) TOUCH(4) TOUCH(8) TOUCH(16)
	}
	return 0;
}
END_C

awk 'BEGIN {
	for (round = 0; round < 600; round++)
		for (size = 1; size <= 16; size *= 2)
			for (i = 0; i < 24; i++)
				if (i < 16 && i + size > 8)
					print "read", i ":" size "\nwrite", i ":" size \
					      "\nread", i ":" size,
					      "volatile\nwrite", i ":" size, "volatile"
}' >want

for cc in $(compilers); do
	for flags in '-O1' '-O1 -fPIC' '-O1 --no-inline'; do
		wrap $cc hooks.c prog $flags -pthread
		# The smallest window makes most private accesses take the inlined path with one
		# comparison.
		RECORD_OPTIONS='--window 64K' record a.snarl ./prog
		snarl dump --raw -t 0 -k access a.snarl | awk -v base="$(cat record.out)" '
		function number(text,  i, n) {
			for (i = 3; i <= length(text); i++)
				n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return n
		}
		{
			split($3, place, ":")
			at = number(place[1]) - number(base)
			if (at >= 0 && at < 16 && at + place[2] > 8)
				print $2, at ":" place[2] (/volatile/ ? " volatile" : "")
		}' >got
		same "$cc $flags" want got
	done
done
# The loop above tests inlined hooks only if the compiler really inlined them.
SNARL_CC=gcc snarl-cc -c -O1 hooks.c -o hooks.o
objdump -d hooks.o | grep -q 'test .*\$0x7,%dil' || fail "nothing was inlined"
