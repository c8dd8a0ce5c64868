/*
 * The C++ variant: std::thread, std::mutex, std::atomic, a virtual call, a function with a static,
 * objects from new. Accesses as in main.c.
 */
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "lib.h"

#ifdef DLOPEN
static void (*add)(long *value, long amount);
static long (*get)(const long *value);
static void (*account)(long amount);
#else
#define add lib_add
#define get lib_get
#define account lib_account
#endif

struct Shape {
	long width;
	explicit Shape(long w) : width(w) {}
	virtual ~Shape() {}
	virtual long area() const { return 0; }
};

struct Square : Shape {
	explicit Square(long w) : Shape(w) {}
	__attribute__((noinline)) long area() const override { return width * 3; }
};

/* Not static: otherwise the compiler knows all their uses. */
std::mutex lock_;
std::atomic<long> flag;
long counter, slots[2];
Square square(3);
Shape *shape = &square;	/* its type is unknown at compile time */

static void load()
{
#ifdef DLOPEN
	void *library = dlopen("./libmatrix.so", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	add = (void (*)(long *, long))dlsym(library, "lib_add");
	get = (long (*)(const long *))dlsym(library, "lib_get");
	account = (void (*)(long))dlsym(library, "lib_account");
#endif
}

static __attribute__((noinline)) void prepare()
{
	counter = 5;
}

static __attribute__((noinline)) long area_of(const Shape *shape)
{
	return shape->area();
}

static __attribute__((noinline)) void work(long self)
{
	{
		std::lock_guard<std::mutex> hold(lock_);
		add(&counter, self);
		account(2);
	}
	long area = area_of(shape);
	add(&slots[self], area);
	flag.fetch_add(1, std::memory_order_acq_rel);
}

static __attribute__((noinline)) long check()
{
	long sum = get(&counter);

	sum += get(&slots[0]);
	return sum + get(&slots[1]);
}

int main()
{
	load();
	prepare();
	std::thread first(work, 0), second(work, 1);
	first.join();
	second.join();
	long sum = check();
	return sum == 5 + 1 + 9 + 9 && flag.load() == 2 ? 0 : 1;
}
