/*
 * Writes a program, C and C++ alike, whose code touches what is close together: `bunchgen SEED`. Fields of all
 * sizes, read, written or both, forward and backward, of structures named by pointers that may be the same or
 * overlap, of elements by index, of globals; now and then a jump, a call, a loop or an atomic operation in
 * between, and values that have to live across all of it. All of it is decided by the seed.
 *
 * The program runs in three threads, one after the other. They share most of the memory; of one array some fields
 * are touched by one of them only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "roll.h"

#define FUNCTIONS 14
#define FIELDS 9

static const char *const fields[FIELDS] = { "a", "b", "c[0]", "c[2]", "h", "n", "l", "d", "f" };

static void place(void)
{
	static const char *const pointers[] = { "p", "p", "p", "q", "(p + 1)", "(q - 1)" };

	switch (roll(9)) {
	case 0:
		printf("cells[k & 31].%s", fields[roll(FIELDS)]);
		break;
	case 1:
		printf("table[%u].%s", roll(3), fields[roll(FIELDS)]);
		break;
	case 2:
		printf("bytes[(k & 31) + %u]", roll(12));
		break;
	case 3:
		printf("w[%d]", (int)roll(7) - 3);
		break;
	default:
		printf("%s->%s", pointers[roll(6)], fields[roll(FIELDS)]);
	}
}

static void between(unsigned number)
{
	switch (roll(16)) {
	case 0:
		printf("sum += f%u(p, q, w, k + 1, depth - 1);\n", roll(number + 1));
		break;
	case 1:
		printf("__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);\n");
		break;
	case 2:
		printf("if (k & %u) ", 1 + roll(3));
		break;
	case 3:
		printf("for (long i = 0; i < (k & 3); i++) { p->n += (int)i; p->l ^= p->n; }\n");
		break;
	case 4:
		printf("p = q - (k & 1);\n");
		break;
	}
}

static void statement(void)
{
	static const char *const ops[] = { "=", "+=", "-=", "+=" };

	switch (roll(6)) {
	case 0:
		printf("sum += (long)");
		place();
		printf(";\n");
		break;
	case 1:
		printf("x = x * 0.5 + (double)");
		place();
		printf(";\n");
		break;
	case 2:
		place();
		printf("++;\n");
		break;
	default:
		place();
		printf(" %s (signed char)(", ops[roll(4)]);
		if (roll(2)) {
			printf("(long)");
			place();
			printf(" + ");
		}
		printf("%u + (k & 7));\n", roll(5));
	}
}

static void function(unsigned number)
{
	unsigned count = 3 + roll(9);

	printf("__attribute__((noinline)) %slong f%u(struct cell *p, struct cell *q, long *w, long k, int depth)\n"
	       "{\nlong sum = 0;\ndouble x = 1;\nif (depth < 0) return 1;\n", roll(2) ? "static " : "", number);
	while (count-- > 0) {
		between(number);
		statement();
	}
	printf("return sum + (long)x;\n}\n");
}

/* What no thread but one touches. */
static void alone(const char *name, unsigned field)
{
	printf("static long %s(struct cell *p)\n{\np->%s += 1;\np->n += 2;\nreturn (long)p->%s + p->n;\n}\n", name,
	       fields[field], fields[field]);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	state = strtoull(argv[1], NULL, 10) * 2 + 1;
	for (int i = 0; i < 9; i++)
		roll(2);
	printf("#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n"
	       "struct cell { char a, b; signed char c[3]; short h; int n; long l; double d; float f; };\n"
	       "struct cell cells[48];\nstatic struct cell table[4], half[8];\nstatic signed char bytes[64];\n"
	       "static long words[32];\nstatic int ticks;\n");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		function(i);
	alone("alone1", roll(FIELDS));
	alone("alone2", roll(FIELDS));
	printf("static long all(long k)\n{\nlong sum = 0;\n");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		printf("sum = sum * 31 + f%u(cells + 8 + (k & 3), cells + %u + (k & 3), words + 8 + (k & 7), k, 2);\n", i,
		       8 + roll(3));
	printf("return sum;\n}\n"
	       "static void *touch(void *v)\n{\nlong sum = 0;\n"
	       "for (int i = 0; i < 48; i++) { cells[i].a = (char)i; cells[i].h = 3; cells[i].n = 2 * i; cells[i].l = i; "
	       "cells[i].d = i; cells[i].f = 1; }\n"
	       "for (int i = 0; i < 4; i++) { table[i].b = 1; table[i].c[1] = 2; table[i].n = 1; table[i].l = 1; table[i].d = 1; }\n"
	       "for (int i = 0; i < 64; i++) bytes[i] = 1;\nfor (int i = 0; i < 32; i++) words[i] = i;\n"
	       "for (int i = 0; i < 8; i++) half[i].l = i;\n"
	       "for (long k = 0; k < 5; k++) sum += all(k);\nreturn (char *)v + (sum & 1023);\n}\n"
	       "static void *later(void *v)\n{\nlong sum = 0;\n"
	       "for (int i = 0; i < 8; i++) sum += alone1(half + i);\n"
	       "for (long k = 3; k < 9; k++) sum += all(k);\nreturn (char *)v + (sum & 1023);\n}\n"
	       "int main(void)\n{\npthread_t t;\nvoid *v = 0, *u = 0;\nlong sum = 0;\n"
	       "pthread_create(&t, 0, touch, 0);\npthread_join(t, &v);\n"
	       "pthread_create(&t, 0, later, 0);\npthread_join(t, &u);\n"
	       "for (int i = 0; i < 8; i++) sum += alone2(half + i);\n"
	       "for (long k = 0; k < 4; k++) sum = sum * 7 + all(k);\n"
	       "printf(\"%%ld %%ld %%ld\\n\", (long)v, (long)u, sum);\nreturn 0;\n}\n");
	return 0;
}
