# Copies of 1 to 16 bytes (clang emits them for small structures; memcpy and memmove) record a read
# of the source and then a write of the destination, both with the right size. Covers shared and
# private memory in all combinations, every offset, overlapping copies and every position in the
# ring; the copy is a call if its size is unknown to the compiler, otherwise inlined. A missing,
# extra or swapped event fails.
. "$SNARL_ROOT/tests/lib.sh"

cat >copies.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Alignas(16) static char shared[96], private[96];
#ifdef SIZE
#define size SIZE
#else
static volatile size_t size = 16;
#endif

/* keeps the compiler from merging or reordering copies */
#define FENCE __asm__ volatile("" ::: "memory")

static void *other(void *arg)
{
	for (int i = 0; i < 96; i++)
		((volatile char *)shared)[i] = 1;
	return arg;
}

int main(void)
{
	pthread_t thread;

	printf("%p\n", (void *)shared);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 9; i++) {
			memcpy(shared + 32, shared + i, size); FENCE;
			memmove(shared + 48 + i, private + 32, size); FENCE;
			memcpy(private + i, shared + 64, size); FENCE;
			memcpy(private + 32, private + i, size); FENCE;
			memcpy(private + 64, shared + 3 * i, size); FENCE;
			memmove(shared + 72, shared + 63 + i, size); FENCE;
		}
	return 0;
}
END_C

# want ROUNDS: writes the expected events of the shared bytes to the file want.
want() {
	awk -v rounds=$1 'BEGIN {
		for (round = 0; round < rounds; round++)
			for (i = 0; i < 9; i++)
				print "read", i "\nwrite 32\nwrite", 48 + i "\nread 64\nread",
					3 * i "\nread", 63 + i "\nwrite 72"
	}' >want
}

# try SIZE: records ./prog and writes its events of `size` bytes on `shared` to the file got. The
# smallest window makes most private accesses take the inlined path that drops them after one
# comparison.
try() {
	RECORD_OPTIONS='--window 64K' record a.snarl ./prog
	snarl dump --raw -t 0 -k access a.snarl | awk -v base="$(cat record.out)" -v size=$1 '
	function number(text,  i, n) {
		for (i = 3; i <= length(text); i++)
			n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	{
		split($3, place, ":")
		at = number(place[1]) - number(base)
		if (at >= 0 && at < 96 && place[2] == size)
			print $2, at
	}' >got
}

for cc in $(compilers gcc) $(one_of $(compilers clang clang-19)); do
	want 4000
	wrap $cc copies.c prog -O1 -DROUNDS=4000 -pthread
	try 16
	same "$cc" want got
	want 300
	for variant in 1:-O0 2:-O1 4:-O2 8:-O3 8:-O0 16:-O0 16:-O1 16:-O2 16:-O3; do
		wrap $cc copies.c prog ${variant#*:} -DROUNDS=300 -DSIZE=${variant%:*} -pthread
		try ${variant%:*}
		same "$cc, size and level $variant" want got
	done
done
