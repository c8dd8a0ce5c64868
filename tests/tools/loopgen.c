/*
 * Writes a random C program of loops over arrays: `loopgen SEED [own]`. The loops have strides of
 * both signs and of 1 byte up to a record, indices of all types, walking pointers, triangular and
 * column order, and zero, one or many iterations. Some exit early or depend on memory. The seed
 * decides everything.
 *
 * A second thread touches all arrays first, so that later accesses are recorded; with `own`, some
 * loops also use a table that stays private. At the end the program prints a sum of the arrays.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "roll.h"

#define FUNCTIONS 12
#define ARRAYS 6

static int own;		/* some loops use a table that stays private */

static const char *const types[ARRAYS] = {
	"unsigned char", "short", "int", "long", "double", "float",
};

/* An element near the middle of the array, so that all strides stay inside. */
static void element(unsigned array, const char *index, const char *pointer)
{
	int stride = (int)roll(7) - 3;

	if (roll(8) == 0)
		printf("recs[150 + %d * %s].%c", stride, index, "child"[roll(5)]);
	else if (roll(6) == 0)
		printf("wide[(40 + %d * %s) & 127]", (int)(1 + roll(2)), index);
	else if (roll(5) == 0)
		printf("%s[%d + m * %s]", pointer, (int)roll(9) - 4, index);
	else if (roll(3) == 0)
		printf("array%u[250 + %d * %s + %d]", array, stride, index, (int)roll(5) - 2);
	else
		printf("%s[%d * %s + %d]", pointer, stride, index, (int)roll(9) - 4);
}

static void statement(const char *index, unsigned a, unsigned b)
{
	static const char *const ops[] = { "=", "+=", "-=", "=" };

	switch (roll(own ? 14 : 9)) {
	case 9:		/* the private table, at an index that is read from memory */
	case 10:
		printf("own[(unsigned char)");
		element(b, index, "q");
		printf("]%s;\n", roll(2) ? "++" : " ^= 5");
		break;
	case 11:	/* the private table, only in some iterations */
		printf("if (");
		element(b, index, "q");
		printf(" > %u) own[%s & 255] += 3;\n", 30 + roll(100), index);
		break;
	case 12:
		printf("for (unsigned k = (unsigned char)");
		element(b, index, "q");
		printf(" & 7; k > 0; k--) own[k * %u + 3]++;\n", 1 + roll(30));
		break;
	case 13:
		printf("if (own[%s & 255] & 1) sum += own[7]; else own[%u]++;\n", index, roll(256));
		break;
	case 0:
		printf("sum += (long)");
		element(b, index, "q");
		printf(";\n");
		break;
	case 8:		/* a value carried between iterations; it is needed after the other
			 * access's hook */
		if (roll(2))	/* constants of 8 and 16 bytes in memory */
			printf("weight = __builtin_fabs(weight * 0.125 - %u.75);\n", roll(3));
		printf("weight += %u.5 * (double)", roll(2));
		element(b, index, "q");
		printf(" - (double)");
		element(a, index, "p");
		printf(";\n");
		break;
	case 1:
		printf("if (");
		element(b, index, "q");
		printf(" > 100) sum++;\n");
		break;
	default:
		element(a, index, "p");
		printf(" %s ", ops[roll(4)]);
		if (roll(3)) {
			element(b, index, "q");
			if (roll(2)) {
				printf(" + ");
				element(b, index, "q");
			}
		} else {
			printf("(unsigned char)(%s + m)", index);
		}
		printf(";\n");
	}
}

static void body(const char *index, unsigned a, unsigned b)
{
	unsigned count = 1 + roll(3);

	printf("{\n");
	while (count-- > 0)
		statement(index, a, b);
	printf("}\n");
}

static void loop(unsigned a, unsigned b)
{
	const char *index = "i";

	switch (roll(9)) {
	case 0:
		printf("for (long i = 0; i < n; i++) ");
		break;
	case 1:
		printf("for (int i = 0; i < (int)n; i++) ");
		break;
	case 2:
		printf("for (unsigned i = 0; i < (unsigned)n; i++) ");
		index = "(long)i";
		break;
	case 3:
		printf("for (long i = n; i-- > 0;) ");
		break;
	case 4:
		printf("for (long i = 0; i < n; i += m + 4) ");
		break;
	case 5:
		printf("for (long k = 0; k < n; k++) for (long i = 0; i < k; i++) ");
		break;
	case 6:
		printf("for (long k = 0; k < 5; k++) for (long i = k; i <= n; i += 2) ");
		break;
	case 7:
		printf("for (%s *w = p, *end = p + n; w != end; w++) { *w += 1; q[w - p] = *w; }\n",
		       types[a]);
		return;
	case 8:
		printf("for (%s *w = p + n; w-- > p && q[w - p] != 77;) sum += (long)*w;\n",
		       types[a]);
		return;
	}
	body(index, a, b);
}

static void function(unsigned number)
{
	unsigned a = roll(ARRAYS), b = roll(ARRAYS), count = 1 + roll(3);

	printf("__attribute__((noinline)) static long f%u(long n, long m, %s *p, %s *q)\n{\n"
	       "long sum = 0;\ndouble weight = 0;\n",
	       number, types[a], types[b]);
	while (count-- > 0)
		loop(a, b);
	printf("return sum + (long)(weight * 2);\n}\n");
	printf("static long call%u(void)\n{\nlong sum = 0;\n", number);
	for (unsigned i = 0; i < 6; i++)
		printf("sum += f%u(%u, %d, array%u + %u, array%u + %u);\n", number,
		       i < 4 ? i : roll(40), (int)roll(7) - 3, a, 250 + roll(9), b, 250 + roll(9));
	printf("return sum;\n}\n");
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		return 2;
	own = argc == 3;
	state = strtoull(argv[1], NULL, 10) * 2 + 1;
	for (int i = 0; i < 9; i++)
		roll(2);
	printf("#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n");
	printf("static struct { char c; short h; int i; long l; double d; } recs[300];\n");
	printf("long wide[128];\n%s", own ? "static unsigned own[256];\n" : "");
	for (unsigned i = 0; i < ARRAYS; i++)
		printf("%s%s array%u[520];\n", roll(2) ? "static " : "", types[i], i);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		function(i);
	printf("static void *touch(void *v)\n{\n");
	printf("for (unsigned i = 0; i < sizeof(recs); i++) ((char *)recs)[i] = 1;\n");
	printf("for (unsigned i = 0; i < 128; i++) wide[i] = i;\n");
	for (unsigned i = 0; i < ARRAYS; i++)
		printf("for (unsigned i = 0; i < 520; i++) array%u[i] = (unsigned char)(i * %u);\n",
		       i, i + 1);
	printf("return v;\n}\n");
	printf("int main(void)\n{\npthread_t t;\nlong sum = 0;\ntouch(0);\n");
	printf("pthread_create(&t, 0, touch, 0);\npthread_join(t, 0);\n");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		printf("sum = sum * 31 + call%u();\n", i);
	for (unsigned i = 0; i < ARRAYS; i++)
		printf("for (unsigned i = 0; i < 520; i++) sum = sum * 31 + (long)array%u[i];\n",
		       i);
	if (own)
		printf("for (unsigned i = 0; i < 256; i++) sum = sum * 31 + (long)own[i];\n");
	printf("printf(\"%%ld\\n\", sum);\nreturn 0;\n}\n");
	return 0;
}
