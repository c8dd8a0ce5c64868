/*
 * thread_local objects are destroyed at their thread's end in reverse order of construction, before
 * values of keys; main's at exit, before static objects and atexit handlers. Passes under every
 * schedule.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <thread>

static char log_text[256];
static const char expected[] = "late2 b1 a1 key1 | late3 b2 a2 key2 | b0 a0 late1 static atexit ";

static void say(const std::string &what)
{
	std::strcat(log_text, (what + " ").c_str());
}

struct named {
	std::string name;	/* long enough to need the heap */
	explicit named(const char *n) : name(std::string(n) + "                              ") {}
	~named() { say(name.substr(0, name.find(' '))); }
};

static int number;
static thread_local int mine;

struct late {
	int made;
	late() : made(++number) {}
	~late() { say("late" + std::to_string(made)); }
};

/* Constructed while others are being destroyed: it is destroyed before those that remain. */
static void make_late()
{
	static thread_local late l;
	(void)l.made;
}

struct first {
	~first() { say("a" + std::to_string(mine)); }
	int touch = 0;
};
struct second {
	~second() { say("b" + std::to_string(mine)); }
	int touch = 0;
};
struct maker {
	~maker() { make_late(); }
	int touch = 0;
};
static thread_local first a;
static thread_local second b;
static thread_local maker m;

static pthread_key_t key;
static void key_gone(void *p)
{
	say("key" + std::to_string(*static_cast<int *>(p)));
	delete static_cast<int *>(p);
}

static void use(int n)
{
	mine = n;
	a.touch++;
	b.touch++;
	m.touch++;
}

static void worker(int n)
{
	pthread_setspecific(key, new int(n));
	use(n);
}

static struct at_end {
	~at_end()
	{
		say("static");
	}
} end;

static void last()
{
	say("atexit");
	std::puts(std::strcmp(log_text, expected) == 0 ? "ok" : log_text);
	std::fflush(stdout);
	if (std::strcmp(log_text, expected) != 0)
		_Exit(1);
}

/* Registered before the static object is constructed, so it runs after the object is destroyed. */
__attribute__((constructor(200))) static void early()
{
	std::atexit(last);
}

int main()
{
	pthread_key_create(&key, key_gone);
	make_late();
	use(0);
	std::thread(worker, 1).join();
	say("|");
	std::thread(worker, 2).join();
	say("|");
	return 0;
}
