// Destructors of thread_local objects are the thread's own doing.
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex m;
static int counter;

struct local {
	~local()
	{
		std::lock_guard<std::mutex> hold(m);
		counter++;
	}
	int value = 0;
};

static thread_local local mine;

int main()
{
	for (int i = 0; i < 20; i++)
		std::thread([i] { mine.value = i; }).join();
	printf("%d\n", counter);
	return counter == 20 ? 0 : 1;
}
