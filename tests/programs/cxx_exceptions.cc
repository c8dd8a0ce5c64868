// Exceptions thrown through instrumented frames that hold locks.
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int depth_reached;

class holder {
	pthread_mutex_t *m;

public:
	explicit holder(pthread_mutex_t *mutex) : m(mutex) { pthread_mutex_lock(m); }
	~holder() { pthread_mutex_unlock(m); }
	holder(const holder &) = delete;
	holder &operator=(const holder &) = delete;
};

static void deep(int n)
{
	depth_reached++;
	if (n == 0) {
		holder h(&inner);
		throw std::runtime_error("thrown");
	}
	deep(n - 1);
	depth_reached--;
}

static void *worker(void *arg)
{
	try {
		holder h(&outer);
		deep(5);
	} catch (const std::runtime_error &) {
		pthread_mutex_lock(&inner);
	}
	pthread_mutex_unlock(&inner);
	return arg;
}

int main()
{
	pthread_t t;

	if (pthread_create(&t, nullptr, worker, nullptr))
		std::abort();
	pthread_join(t, nullptr);
	worker(nullptr);
	return depth_reached == 12 ? 0 : 1;
}
