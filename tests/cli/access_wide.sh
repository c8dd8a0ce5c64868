# Stores of 16 to 264 bytes, singly and in loops, to granules that are partly or wholly undecided
# (one thread used them so far). If a second thread comes later, the trace has all stores from the
# first one on; if none comes, it has none. Stores of the late thread are complete, too.
. "$SNARL_ROOT/tests/lib.sh"

cat >wide.c <<'end_c'
#include <pthread.h>
#include <stdio.h>

struct pair {
	double a, b;
#if SIZE > 16
	char more[SIZE - 16];
#endif
};
static _Alignas(16) struct pair x[64];

/* bits of a pair's number: which half another thread writes first, whether main writes a before
 * the loop, which half a thread writes afterwards */
enum { EARLY_A = 1, EARLY_B = 2, NOT_OWN_A = 4, LATE_A = 8, LATE_B = 16 };

static void *early(void *arg)
{
	for (int i = 0; i < 64; i++) {
		if (i & EARLY_A)
			x[i].a = 1;
		if (i & EARLY_B)
			x[i].b = 1;
	}
	return arg;
}

static void *late(void *arg)
{
	for (int i = 0; i < 64; i++) {
		if (i & LATE_A)
			x[i].a = 2;
		if (i & LATE_B)
			x[i].b = 2;
	}
	return arg;
}

static void run(void *(*what)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, what, NULL);
	pthread_join(thread, NULL);
}

#ifdef LOOP
/* every second element, in a loop long enough to be recorded without hooks */
__attribute__((noinline)) static void set_half(struct pair *to, const struct pair *from, long count)
{
	for (long i = 0; i < count; i += 2)
		to[i] = *from;
}

static void set(const struct pair *from, long count)
{
	set_half(x, from, count);
	set_half(x + 1, from, count);
}
#else
__attribute__((noinline)) static void set_one(struct pair *to, const struct pair *from)
{
	*to = *from;
}

static void set(const struct pair *from, long count)
{
	for (long i = 0; i < count; i++)
		set_one(&x[i], from);
}
#endif

int main(void)
{
	struct pair from = { 3, 4 };

	printf("%p\n", (void *)x);
	run(early);
	for (int i = 0; i < 64; i++)
		if (!(i & NOT_OWN_A))
			x[i].a = 3;
	for (int round = 0; round < 3; round++)
		set(&from, 64);
	run(late);
	set(&from, 32);
	return 0;
}
end_c

# want SIZE: writes the expected number of stores for each offset to the file want.
want() {
	awk -v size=$1 'BEGIN {
		for (i = 0; i < 64; i++) {
			if (i % 4 || int(i / 8) % 4)
				print i * size, "main", 3 + (i < 32)
			for (half = 0; half < 2; half++)
				if (int(i / (half ? 16 : 8)) % 2)
					print i * size + half * 8, "late", 1
		}
	}' | sort -n >want
}

# try SIZE: records ./prog and counts its stores of main and of the late thread into the file got.
try() {
	record a.snarl ./prog
	snarl dump --raw -k access a.snarl | awk -v base="$(cat record.out)" -v size=$1 '
	function number(text,  i, n) {
		for (i = 3; i <= length(text); i++)
			n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	$2 ~ /^write/ {
		split($3, place, ":")
		at = number(place[1]) - number(base)
		if (at < 0 || at >= 64 * size)
			next
		if ($1 == "0" && place[2] == size)
			count[at " main"]++
		if ($1 == "0.2")
			count[at " late"]++
	}
	END {
		for (key in count)
			print key, count[key]
	}' | sort -n >got
}

for cc in $(compilers gcc) $(one_of $(compilers clang clang-19)); do
	want 16
	for option in -O0 -O2 -mavx '-O1 -fpie -pie' --no-inline '-O1 -DLOOP' '-O3 -DLOOP'; do
		wrap $cc wide.c prog $option -DSIZE=16 -pthread
		try 16
		same "$cc $option" want got
	done
	for size in 24 32 48 72 264; do
		want $size
		wrap $cc wide.c prog -O1 -DLOOP -DSIZE=$size -pthread
		try $size
		same "$cc, $size bytes" want got
	done
done
