#include "objects.h"

namespace {
struct Square : Shape {	/* another type than in objects.cc */
	int a, b;
	Square(int x, int y) : a(x), b(y) {}
	int area() const override { return a * b; }
};
}

Shape *make_other(int r)
{
	return new Square(r, 10);
}

int other_next()
{
	return Counter<int>::next();
}
