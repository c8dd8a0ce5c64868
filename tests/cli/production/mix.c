/*
 * Cases that merging two assembly files could get wrong, in C, with mix2.c; prints the results.
 * Calls __snarl_dual_all between rounds if it exists: static variables must keep their values when
 * the version changes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mix.h"

void __snarl_dual_all(int on) __attribute__((weak));

static int n = 1;			/* same names as in mix2.c */
static __thread long mine = 3;
const char *const names[] = { "zero", "one", "two" };

#define KEEP __attribute__((noinline))

static KEEP int bump(int by)
{
	static int n;

	n += by;
	return n;
}

static KEEP int grow(int by)
{
	static int n = 100;
	static int calls;

	calls++;
	n *= by;
	return n + calls;
}

static KEEP int twin(int x)
{
	static int n = 5;

	return n++ * x + bump(x);
}

KEEP int table(int x)
{
	switch (x) {
	case 0: return bump(1);
	case 1: return 77;
	case 2: puts("two"); return grow(2);
	case 3: return twin(3);
	case 4: puts("four"); return 4;
	case 5: return mix2_twin(7);
	case 6: return n++;
	default: return -1;
	}
}

KEEP int walk(const char *program)
{
	static const void *const steps[] = { &&end, &&add, &&twice };
	int sum = 0;

	goto *steps[(int)*program++];
add:
	sum += 3;
	goto *steps[(int)*program++];
twice:
	sum *= 2;
	goto *steps[(int)*program++];
end:
	return sum;
}

KEEP int sum(int count, ...)
{
	va_list list;
	int all = 0;

	va_start(list, count);
	while (count-- > 0)
		all += va_arg(list, int);
	va_end(list);
	return all;
}

KEEP double wave(double x, float y, struct mix_box box)
{
	return x * 1.25 + y * 0.5f + box.a[2] + box.b;
}

KEEP unsigned long asm_add(unsigned long a, unsigned long b)
{
	__asm__ volatile("test %0, %0\n\tjz 1f\n\tadd %1, %0\n1:" : "+r"(a) : "r"(b) : "cc");
	return a;
}

KEEP int fib(int x)
{
	return x < 2 ? x : fib(x - 1) + fib(x - 2);
}

static KEEP const char *literal(void)
{
	return "the same object each time";
}

static int plain_version(void) { return 1; }
static int (*resolve(void))(void) { return plain_version; }
int chosen(void) __attribute__((ifunc("resolve")));

int original(int x) { return x + n; }
int other_name(int x) __attribute__((alias("original")));
__attribute__((weak)) int weak_here(int x) { return x ^ 5; }

static int early;
__attribute__((constructor)) static void before_main(void) { early = bump(10); }

static int with_args(int (*f)(int), int x) { return f(x); }

static void round_of(int r)
{
	struct mix_box box = { { r, r + 1, r + 2 }, 0.5 };
	const char *first = literal();

	for (int i = 0; i < 8; i++)
		printf("%d ", table(i));
	printf("\n%d %d %.3f %lu\n", walk("\1\2\1\0"), sum(4, r, 2, 3, 4), wave(r, 2, box),
	       asm_add((unsigned long)r, 5));
	printf("%d %d %d %d %d %d\n", fib(12), chosen(), original(r), other_name(r), weak_here(r),
	       early);
	printf("%s %s %ld %d\n", names[r % 3], __func__, ++mine, with_args(twin, r));
	if (__snarl_dual_all)
		__snarl_dual_all(r % 2);
	printf("%d %d\n", first == literal(), mix2_same(twin, table, names));
}

int main(void)
{
	for (int r = 0; r < 6; r++)
		round_of(r);
	return 0;
}
