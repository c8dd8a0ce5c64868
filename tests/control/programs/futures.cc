/* std::thread, async, promise, packaged_task, shared_future; values, exceptions, time-outs. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define WANT(what)                                                                        \
	do {                                                                              \
		if (!(what)) {                                                            \
			std::fprintf(stderr, "futures.cc:%d: not so: %s\n", __LINE__, #what); \
			std::abort();                                                     \
		}                                                                         \
	} while (0)

static std::atomic<int> calls;

static int square(int n)
{
	calls++;
	if (n < 0)
		throw std::invalid_argument("negative");
	return n * n;
}

static void with_async()
{
	std::vector<std::future<int>> results;
	int sum = 0;

	for (int i = 1; i <= 3; i++)
		results.push_back(std::async(std::launch::async, square, i));
	results.push_back(std::async(std::launch::deferred, square, 4));
	for (auto &r : results)
		sum += r.get();
	WANT(sum == 30);
	auto bad = std::async(std::launch::async, square, -1);
	try {
		bad.get();
		WANT(false);
	} catch (const std::invalid_argument &e) {
		WANT(std::string(e.what()) == "negative");
	}
	WANT(calls == 5);
}

static void with_promise()
{
	std::promise<std::unique_ptr<std::string>> promise;
	auto future = promise.get_future();
	std::thread t([&promise] { promise.set_value(std::make_unique<std::string>("moved")); });

	WANT(*future.get() == "moved");
	t.join();
	std::promise<int> never;
	WANT(never.get_future().wait_for(std::chrono::hours(1)) == std::future_status::timeout);
	std::future<int> broken;
	{
		std::promise<int> gone;
		broken = gone.get_future();
	}
	try {
		broken.get();
		WANT(false);
	} catch (const std::future_error &e) {
		WANT(e.code() == std::future_errc::broken_promise);
	}
}

static void with_task()
{
	std::packaged_task<int(int)> task(square);
	std::shared_future<int> result = task.get_future().share();
	std::vector<std::thread> threads;
	std::atomic<int> sum{ 0 };

	for (int i = 0; i < 2; i++)
		threads.emplace_back([result, &sum] { sum += result.get(); });
	threads.emplace_back(std::move(task), 5);
	for (auto &t : threads)
		t.join();
	WANT(sum == 50);
}

int main()
{
	with_async();
	with_promise();
	with_task();
	return 0;
}
