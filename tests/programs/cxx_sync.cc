/* flags: -O1 -pthread -std=c++17 */
// std::mutex and its kin, std::condition_variable, std::call_once, std::thread.
// wait and notify_one are in libstdc++.so, but end in a jump: their events are the caller's.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>

static std::mutex m;
static std::recursive_mutex nesting;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable c;
static std::once_flag once;
static sem_t there;
static int calls;

static void want(int got, int expected)
{
	if (got != expected)
		std::abort();
}

// Says that it is there while it holds the mutex, so it is found waiting.
static void waiter()
{
	std::unique_lock<std::mutex> hold(m);

	sem_post(&there);
	c.wait(hold);
}

static void wake()
{
	std::thread t(waiter);

	sem_wait(&there);
	{
		std::lock_guard<std::mutex> hold(m);
		c.notify_one();
	}
	t.join();
}

static void locks()
{
	want(nesting.try_lock(), true);
	nesting.lock();
	nesting.unlock();
	nesting.unlock();
	want(timed.try_lock_until(std::chrono::steady_clock::time_point()), true);
	timed.unlock();
	shared.lock_shared();
	shared.unlock_shared();
	shared.lock();
	shared.unlock();
}

// The first try throws; the second does it.
static void once_and_again()
{
	try {
		std::call_once(once, [] { calls++; throw 1; });
	} catch (int) {
	}
	std::call_once(once, [] { calls++; });
	std::call_once(once, [] { calls++; });
	want(calls, 2);
}

static void too_late()
{
	std::unique_lock<std::mutex> hold(m);

	want(c.wait_until(hold, std::chrono::steady_clock::time_point()) ==
		     std::cv_status::timeout, true);
}

int main()
{
	sem_init(&there, 0, 0);
	wake();
	locks();
	once_and_again();
	too_late();
}
