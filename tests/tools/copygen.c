/*
 * Writes a random program of copies and fills of a few bytes, valid as C and C++: `copygen SEED`.
 * It copies structures of 1 to 40 bytes in straight code and in loops with strides of both signs,
 * swaps, returns and passes them; it calls memcpy, memmove and memset at any offset, also with
 * overlap. The seed decides everything.
 *
 * A second thread touches all memory first, so that later copies are recorded. At the end the
 * program prints a sum of all bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "roll.h"

#define FUNCTIONS 10
#define TYPES 8
#define ELEMENTS 64

static const char *const types[TYPES] = {
	"struct { char a; }",	 "struct { char a, b; }",   "struct { short a, b; }",
	"struct { int a, b; }",	 "struct { double a, b; }", "struct { char a[16]; }",
	"struct { char a[3]; }", "struct { long a[5]; }",
};

static const unsigned sizes[] = { 1, 2, 3, 4, 5, 8, 8, 12, 16, 16, 24, 32 };

/* An element near the middle of the array, so that all strides stay inside. */
static void element(unsigned type, const char *index)
{
	switch (roll(3)) {
	case 0:
		printf("array%u[32 + %d * %s]", type, (int)roll(3) - 1, index);
		break;
	case 1:
		printf("p[%d * %s]", (int)roll(3) - 1, index);
		break;
	case 2:
		printf("q[%d]", (int)roll(9) - 4);
		break;
	}
}

/* An address inside bytes[]; pieces may overlap. */
static void piece(const char *index)
{
	printf("bytes + %u + %u * %s", roll(48), roll(18), index);
}

static void bytes(const char *index)
{
	unsigned size = sizes[roll(sizeof(sizes) / sizeof(sizes[0]))];

	if (roll(3) == 0) {
		printf("memset(");
		piece(index);
		printf(", %d, %u);\n", roll(2) ? 0 : (int)roll(300) - 20, size);
		return;
	}
	printf("memmove(");
	piece(index);
	printf(", ");
	piece(index);
	printf(", %u);\n", size);
}

static void statement(unsigned type, const char *index)
{
	switch (roll(6)) {
	case 0:
		bytes(index);
		break;
	case 1:
		printf("{ T%u t = ", type);
		element(type, index);
		printf("; ");
		element(type, index);
		printf(" = ");
		element(type, index);
		printf("; ");
		element(type, index);
		printf(" = t; }\n");
		break;
	case 2:
		element(type, index);
		printf(" = pass%u(", type);
		element(type, index);
		printf(");\n");
		break;
	case 3:
		printf("memcpy(&array%u[%u], (char *)other%u + %u, sizeof(T%u));\n", type, roll(8),
		       type, roll(24), type);
		break;
	default:
		element(type, index);
		printf(" = ");
		element(type, index);
		printf(";\n");
	}
}

static void function(unsigned number)
{
	static const char *const loops[] = {
		"for (long i = 0; i < n; i++) {",
		"for (int i = (int)n; i-- > 0;) {",
		"for (long i = 0; i < n; i += 2) {",
		"for (long k = 0; k < 3; k++) for (long i = k; i < n; i++) {",
	};
	unsigned type = roll(TYPES), count = 1 + roll(3);

	printf("__attribute__((noinline)) static void f%u(long n, T%u *p, T%u *q)\n{\n", number,
	       type, type);
	while (count-- > 0) {
		unsigned body = 1 + roll(3);

		printf("%s\n", roll(4) ? loops[roll(4)] : "{ long i = n & 3;");
		while (body-- > 0)
			statement(type, "i");
		printf("}\n");
	}
	printf("}\n");
	printf("static void call%u(void)\n{\n", number);
	for (unsigned i = 0; i < 5; i++)
		printf("f%u(%u, array%u + 32, %s%u + 32);\n", number, i < 3 ? i : roll(28), type,
		       roll(2) ? "array" : "other", type);
	printf("}\n");
}

static void write_main(void)
{
	printf("static void *touch(void *v)\n{\n");
	for (unsigned i = 0; i < TYPES; i++)
		printf("for (unsigned i = 0; i < sizeof(array%u); i++) ((char *)array%u)[i] = "
		       "(char)(i * %u), ((char *)other%u)[i] = (char)~i;\n",
		       i, i, i + 3, i);
	printf("for (unsigned i = 0; i < sizeof(bytes); i++) bytes[i] = (char)i;\nreturn v;\n}\n");
	printf("static unsigned long sum;\n");
	printf("static void add(const void *at, unsigned size)\n{\n"
	       "for (unsigned i = 0; i < size; i++) sum = sum * 31 + ((const unsigned char "
	       "*)at)[i];\n}\n");
	printf("int main(void)\n{\npthread_t t;\ntouch(0);\n"
	       "pthread_create(&t, 0, touch, 0);\npthread_join(t, 0);\n");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		printf("call%u();\n", i);
	for (unsigned i = 0; i < TYPES; i++)
		printf("add(array%u, sizeof(array%u));\nadd(other%u, sizeof(other%u));\n", i, i, i,
		       i);
	printf("add(bytes, sizeof(bytes));\nprintf(\"%%lu\\n\", sum);\nreturn 0;\n}\n");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	state = strtoull(argv[1], NULL, 10) * 2 + 1;
	for (int i = 0; i < 9; i++)
		roll(2);
	printf("#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n");
	for (unsigned i = 0; i < TYPES; i++) {
		printf("typedef %s T%u;\n", types[i], i);
		printf("%sT%u array%u[%u], other%u[%u];\n", roll(2) ? "static " : "", i, i,
		       ELEMENTS, i, ELEMENTS);
		printf("__attribute__((noinline)) static T%u pass%u(T%u x)\n{\nreturn x;\n}\n", i,
		       i, i);
	}
	printf("static char bytes[640];\n");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		function(i);
	write_main();
	return 0;
}
