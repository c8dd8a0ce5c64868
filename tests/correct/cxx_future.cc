/*
 * Results by future and promise, one of them an exception, and a queue with a condition and a
 * predicate. Broken: the promise is fulfilled before the result is complete.
 */
#include <cassert>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::deque<std::string> words;
static bool closed;

static void put(std::string word)
{
	std::lock_guard<std::mutex> guard(lock);

	words.push_back(std::move(word));
	changed.notify_one();
}

static size_t letters()
{
	size_t sum = 0;

	for (;;) {
		std::unique_lock<std::mutex> guard(lock);

		changed.wait(guard, [] { return closed || !words.empty(); });
		if (words.empty())
			return sum;
		sum += words.front().size();
		words.pop_front();
	}
}

static std::string text;	/* the data that the promise announces */

static void answer(std::promise<int> *promise)
{
#ifdef BROKEN
	promise->set_value(4);
	text = "four";
#else
	text = "four";
	promise->set_value(4);
#endif
}

int main()
{
	std::promise<int> promise, failing;
	std::future<int> four = promise.get_future(), none = failing.get_future();
	auto count = std::async(std::launch::async, letters);
	std::thread a(answer, &promise);
	std::thread b([&failing] {
		failing.set_exception(std::make_exception_ptr(std::runtime_error("no")));
	});
	bool caught = false;

	put("one");
	put("three");
	{
		std::lock_guard<std::mutex> guard(lock);

		closed = true;
	}
	changed.notify_all();
	assert(four.get() == 4 && text.size() == 4);
	try {
		none.get();
	} catch (const std::runtime_error &) {
		caught = true;
	}
	assert(caught && count.get() == 8);
	a.join();
	b.join();
	return 0;
}
