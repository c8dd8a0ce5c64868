/*
 * Initialisation in C++: statics constructed once, call_once, atomic_flag as a lock, and objects
 * that their last owner deletes. Broken: "once" by a plain check before the call.
 */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::atomic<int> made, deleted;

struct table {
	int size = 3;
	table() { made++; }
	~table() { deleted++; }
};

static table &the_table()
{
	static table t;

	return t;
}

static std::once_flag once;
static int by_once;

#ifdef BROKEN
static std::atomic<bool> initialised;

static void init()
{
	if (!initialised) {
		by_once++;
		initialised = true;
	}
}
#else
static void init()
{
	std::call_once(once, [] { by_once++; });
}
#endif

static std::atomic_flag busy = ATOMIC_FLAG_INIT;
static int by_flag;

static void worker(std::shared_ptr<table> mine)
{
	assert(the_table().size == 3);
	init();
	assert(by_once == 1);
	while (busy.test_and_set(std::memory_order_acquire))
		std::this_thread::yield();
	by_flag++;
	busy.clear(std::memory_order_release);
	assert(mine->size == 3);
}

int main()
{
	{
		std::vector<std::thread> threads;
		auto shared = std::make_shared<table>();

		for (int i = 0; i < 2; i++)
			threads.emplace_back(worker, shared);
		shared.reset();
		for (auto &t : threads)
			t.join();
	}
	assert(made == 2 && deleted == 1);
	assert(by_flag == 2);
	return 0;
}
