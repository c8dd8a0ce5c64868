// Local statics: made once, asked for again, and one whose first try throws.
#include <cstdlib>
#include <stdexcept>
#include <thread>

static int tries;

struct plain {
	int value;
	plain() : value(42) {}
};

struct stubborn {
	int value;
	stubborn() : value(++tries)
	{
		if (value == 1)
			throw std::runtime_error("not yet");
	}
};

static int get_plain()
{
	static plain p;
	return p.value;
}

static int get_stubborn()
{
	static stubborn s;
	return s.value;
}

static void want(int got, int expected)
{
	if (got != expected)
		std::abort();
}

int main()
{
	bool thrown = false;

	want(get_plain(), 42);
	want(get_plain(), 42);
	try {
		get_stubborn();
	} catch (const std::runtime_error &) {
		thrown = true;
	}
	want(thrown, 1);
	std::thread t([] { want(get_stubborn(), 2); want(get_plain(), 42); });
	t.join();
	want(get_stubborn(), 2);
}
