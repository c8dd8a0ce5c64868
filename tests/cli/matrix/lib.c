/* Also compiled as C++. */
#include "lib.h"

long lib_total;

__attribute__((noinline)) void lib_add(long *value, long amount)
{
	*value += amount;
}

__attribute__((noinline)) long lib_get(const long *value)
{
	return *value;
}

__attribute__((noinline)) void lib_account(long amount)
{
	lib_total += amount;
}
