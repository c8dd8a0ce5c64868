/* flags: -O1 -pthread -std=c++17 -fno-builtin */
/*
 * operator new and delete are allocations of their callers, and throw as usual. (An exception is a
 * heap block, too.)
 */
#include <cstdint>
#include <cstdlib>
#include <new>

static volatile std::size_t huge = SIZE_MAX / 2;

struct alignas(64) wide {
	char bytes[64];
};

extern "C" __attribute__((noinline)) void single()
{
	int *volatile p = new int(7);

	delete p;
}

extern "C" __attribute__((noinline)) void array()
{
	char *volatile p = new char[100];

	delete[] p;
}

extern "C" __attribute__((noinline)) void over_aligned()
{
	wide *volatile p = new wide;

	if (reinterpret_cast<std::uintptr_t>(p) % 64 != 0)
		std::exit(9);
	delete p;
}

extern "C" __attribute__((noinline)) void failing()
{
	bool thrown = false;

	try {
		::operator delete(::operator new(huge));
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	if (!thrown || ::operator new(huge, std::nothrow) != nullptr)
		std::exit(9);
}

int main()
{
	single();
	array();
	over_aligned();
	failing();
	single();
	return 0;
}
