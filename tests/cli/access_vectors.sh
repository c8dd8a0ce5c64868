# Loops that compilers vectorise, and pairs and wide registers: every granule that the program reads
# or writes must appear in the trace of both threads, which run the same code. An access wider than
# the hooks that clang's pass knows must not get lost.
. "$SNARL_ROOT/tests/lib.sh"

cat >vectors.c <<'end_c'
#include <pthread.h>
#include <stdio.h>

#define COUNT 64

struct pair {
	double re, im;
};
static struct {
	struct pair to[COUNT], from[COUNT];
	float few[COUNT], wide[COUNT];
	double fourth[4];
} x;

__attribute__((noinline)) static void scale(struct pair *to, const struct pair *from,
						  long count, double by)
{
	for (long i = 0; i < count; i++) {
		to[i].re = from[i].re / by;
		to[i].im = from[i].im * by;
	}
}

__attribute__((noinline)) static void add(float *restrict to, const float *restrict from,
						long count)
{
	for (long i = 0; i < count; i++)
		to[i] += from[i];
}

__attribute__((noinline)) static void set(double *to, double a, double b)
{
	to[0] = a;
	to[1] = b;
	to[2] = a;
	to[3] = b;
}

static void *run(void *arg)
{
	scale(x.to, x.from, COUNT, 3);
	add(x.few, x.wide, COUNT);
	set(x.fourth, 1, 2);
	return arg;
}

int main(void)
{
	pthread_t thread;

	printf("%p\n", (void *)&x);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
end_c

# Expected granules: each thread writes `to`, `few` and `fourth` and reads `from`, `few` and `wide`.
awk 'BEGIN {
	for (thread = 1; thread < 3; thread++)
		for (i = 0; i < 324; i++) {
			if (i < 128 || (i >= 256 && i < 288) || i >= 320)
				print "0." thread, "write", i
			if (i >= 128 && i < 320)
				print "0." thread, "read", i
		}
}' | sort >want

try() {
	record a.snarl ./prog
	snarl dump --raw -k access a.snarl | awk -v base="$(cat record.out)" '
	function number(text,  i, n) {
		for (i = 3; i <= length(text); i++)
			n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	{
		split($3, place, ":")
		from = number(place[1]) - number(base)
		for (at = from; at < from + place[2]; at += 4)
			if (at >= 0 && at < 324 * 8)
				count[$1 " " ($2 ~ /^write/ ? "write" : "read") " " int(at / 8)]++
	}
	END {
		for (key in count)
			print key
	}' | sort >got
}

wide=
grep -q ' avx2 ' /proc/cpuinfo && wide="$wide -O3,-mavx2 -O2,-mavx2,-mprefer-vector-width=256"
grep -q ' avx512f ' /proc/cpuinfo && wide="$wide -O3,-mavx512f,-mavx512vl"
for cc in $(compilers gcc clang clang-19); do
	for option in -O0 -O2 -O3 --no-inline,-O3 --no-loops,-O3 --production,-O2 $wide; do
		wrap $cc vectors.c prog $(echo "$option" | sed 's/,/ /g') -pthread
		try
		same "$cc $option" want got
	done
done
