#include "mix.h"

static int n = 1000;

static __attribute__((noinline)) int twin(int x)
{
	static int n = 6;

	return n++ * x;
}

int mix2_twin(int x)
{
	return twin(x) + n++;
}

int mix2_same(int (*there)(int), int (*table_there)(int), const char *const *names_there)
{
	return there != twin && table_there == table && names_there == names;
}
