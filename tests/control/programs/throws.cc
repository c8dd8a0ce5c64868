/*
 * Exceptions through instrumented frames while other threads run: thrown under locks and
 * out of condition waits, through call_once and guards of statics (both are then tried
 * again), stored and rethrown in another thread; destructors run when a thread is
 * cancelled.
 */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define WANT(what)                                                                        \
	do {                                                                              \
		if (!(what)) {                                                            \
			std::fprintf(stderr, "throws.cc:%d: not so: %s\n", __LINE__, #what); \
			std::abort();                                                     \
		}                                                                         \
	} while (0)

static std::mutex lock;
static std::condition_variable more;
static std::deque<int> queue;
static bool closed;
static int unwound, caught, sum, once_tries, once_done, static_tries;

struct counts_unwinding {
	~counts_unwinding()
	{
		std::lock_guard<std::mutex> hold(lock);
		unwound++;
	}
};

struct closed_error : std::runtime_error {
	closed_error() : std::runtime_error("closed") {}
};

static __attribute__((noinline)) int take()
{
	std::unique_lock<std::mutex> hold(lock);

	more.wait(hold, [] { return closed || !queue.empty(); });
	if (queue.empty())
		throw closed_error();
	int n = queue.front();
	queue.pop_front();
	return n;
}

static __attribute__((noinline)) void take_deep(int level)
{
	counts_unwinding at_the_end;

	if (level > 0) {
		take_deep(level - 1);
		return;
	}
	int n = take();
	std::lock_guard<std::mutex> hold(lock);
	sum += n;
}

static void consume()
{
	try {
		for (;;)
			take_deep(2);
	} catch (const closed_error &e) {
		WANT(std::string(e.what()) == "closed");
		std::lock_guard<std::mutex> hold(lock);
		caught++;
	}
}

static void queues()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(consume);
	for (int i = 1; i <= 5; i++) {
		std::lock_guard<std::mutex> hold(lock);
		queue.push_back(i);
		more.notify_one();
	}
	{
		std::lock_guard<std::mutex> hold(lock);
		closed = true;
		more.notify_all();
	}
	for (auto &t : threads)
		t.join();
	WANT(caught == 3);
	WANT(sum == 15);
	WANT(unwound == 3 * (5 + 3));
}

static std::once_flag flag;

static void first_fails()
{
	if (once_tries++ == 0)
		throw std::runtime_error("first");
	once_done++;
}

static int make_static()
{
	if (static_tries++ == 0)
		throw 1;
	return 7;
}

static int get_static()
{
	static int value = make_static();
	return value;
}

static void tries_once()
{
	for (;;) {
		try {
			std::call_once(flag, first_fails);
			break;
		} catch (const std::runtime_error &) {
		}
	}
	for (;;) {
		try {
			WANT(get_static() == 7);
			break;
		} catch (int n) {
			WANT(n == 1);
		}
	}
}

static void onces()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(tries_once);
	for (auto &t : threads)
		t.join();
	WANT(once_tries == 2 && once_done == 1 && static_tries == 2);
}

static void carried()
{
	std::exception_ptr kept;
	std::thread t([&kept] {
		try {
			std::vector<int>().at(3);
		} catch (...) {
			kept = std::current_exception();
		}
	});

	t.join();
	try {
		std::rethrow_exception(kept);
	} catch (const std::out_of_range &) {
		return;
	}
	WANT(false);
}

static void *waits_for_ever(void *)
{
	counts_unwinding at_the_end;

	for (;;) {
		std::unique_lock<std::mutex> hold(lock);
		more.wait(hold);
	}
}

static void cancelled()
{
	int before = unwound;
	void *result;
	pthread_t t;

	WANT(pthread_create(&t, nullptr, waits_for_ever, nullptr) == 0);
	std::this_thread::yield();
	WANT(pthread_cancel(t) == 0);
	WANT(pthread_join(t, &result) == 0);
	WANT(result == PTHREAD_CANCELED);
	WANT(unwound == before + 1);
	WANT(lock.try_lock());
	lock.unlock();
}

int main()
{
	queues();
	onces();
	carried();
	cancelled();
	return 0;
}
