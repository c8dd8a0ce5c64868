// C++: local statics that several threads initialise, the first of which throws.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static int built, tries, calls;
static std::mutex mutex;
static std::condition_variable ready;
static std::shared_mutex shared;
static std::once_flag flag;

static void want(bool good, int line)
{
	if (good)
		return;
	std::fprintf(stderr, "guard.cc:%d: not so\n", line);
	std::abort();
}

struct once_only {
	int value;
	once_only() : value(7) { built++; }
};

struct second_time {
	int value;
	second_time() : value(8)
	{
		if (tries++ == 0)
			throw 1;
	}
};

static void visit()
{
	static once_only a;

	want(a.value == 7, __LINE__);
	for (;;) {
		try {
			static second_time b;
			want(b.value == 8, __LINE__);
			break;
		} catch (int) {
		}
	}
	std::shared_lock<std::shared_mutex> reading(shared);
	want(built == 1, __LINE__);
}

static void call()
{
	for (;;) {
		try {
			std::call_once(flag, [] {
				if (calls++ == 0)
					throw 2;
			});
			break;
		} catch (int) {
		}
	}
	std::lock_guard<std::mutex> hold(mutex);
	ready.notify_one();
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([] { visit(); call(); });
	{
		std::unique_lock<std::mutex> hold(mutex);
		ready.wait(hold, [] { return calls == 2; });
	}
	for (auto &t : threads)
		t.join();
	want(built == 1 && tries == 2 && calls == 2, __LINE__);
	return 0;
}
