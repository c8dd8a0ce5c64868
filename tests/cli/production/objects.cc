/*
 * Cases that merging two assembly files could get wrong, in C++, with objects2.cc: exceptions
 * through both versions, guards of static variables, templates in two files, virtual functions.
 */
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "objects.h"

extern "C" void __snarl_dual_all(int on) __attribute__((weak));

static thread_local int depth;

struct Guard {
	const char *name;
	explicit Guard(const char *n) : name(n) { depth++; }
	~Guard() { std::printf("(%s %d)", name, --depth); }
};

namespace {
struct Square : Shape {
	int side;
	explicit Square(int s) : side(s) {}
	int area() const override { return side * side; }
};
}

static int hidden(int x)
{
	Guard g("hidden");

	if (x == 3)
		throw std::runtime_error("three");
	if (x == 4)
		throw 4;
	return Counter<int>::next() + x;
}

__attribute__((noinline)) int outer(int x)
{
	Guard g("outer");
	static const std::string once("once" + std::to_string(Counter<long>::next()));

	try {
		return hidden(x) + (int)once.size();
	} catch (int i) {
		return -i;
	}
}

static Square global(7);

static void round_of(int r)
{
	std::vector<std::unique_ptr<Shape>> shapes;
	std::map<std::string, int> areas;

	shapes.emplace_back(new Square(r));
	shapes.emplace_back(make_other(r));
	for (auto &s : shapes)
		areas[dynamic_cast<Square *>(s.get()) ? "square" : "other"] += s->area();
	for (auto &a : areas)
		std::printf("%s %d ", a.first.c_str(), a.second);
	for (int i = 0; i < 6; i++) {
		auto call = [i](int more) { return outer(i) + more; };

		try {
			std::printf("%d ", call(r));
		} catch (const std::exception &e) {
			std::printf("%s ", e.what());
		}
		if (__snarl_dual_all)
			__snarl_dual_all((i + r) % 2);
	}
	std::printf("%d %d\n", Counter<int>::next(), other_next() + global.area());
}

int main()
{
	for (int r = 0; r < 4; r++)
		round_of(r);
}
