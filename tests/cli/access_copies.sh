# Copies of 16 bytes, which clang makes of small structures: between shared and private
# memory both ways, at every offset and wherever the ring stands, the read and the write of
# what is shared are recorded, in this order.
. "$SNARL_ROOT/tests/lib.sh"

cat >copies.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Alignas(16) static char shared[96], private[96];
static volatile size_t size = 16;

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
	for (int round = 0; round < 4000; round++)
		for (int i = 0; i < 9; i++) {
			memcpy(shared + 32, shared + i, size);
			memmove(shared + 48 + i, private + 32, size);
			memcpy(private + i, shared + 64, size);
			memcpy(private + 32, private + i, size);
			memcpy(private + 64, shared + 3 * i, size);
		}
	return 0;
}
END_C

awk 'BEGIN {
	for (round = 0; round < 4000; round++)
		for (i = 0; i < 9; i++)
			print "read", i "\nwrite 32\nwrite", 48 + i "\nread 64\nread", 3 * i
}' >want

for cc in $(compilers); do
	wrap $cc copies.c prog -O1 -pthread
	# With the smallest window most of what is private is told by one compare.
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
		if (at >= 0 && at < 96 && place[2] == 16)
			print $2, at
	}' >got
	same "$cc" want got
done
