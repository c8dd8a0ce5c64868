# Reports of C++ programs, whose locks and atomics are inlined from headers of the system: the steps
# are those of bug.json, on lines of the program, and no step that happened is marked "not reached".
# Two locks taken on one line are two steps: one acquired, one waited for.
. "$SNARL_ROOT/tests/lib.sh"
export LC_ALL=C.UTF-8

cat >flag.cc <<'C'
#include <atomic>
#include <cstdlib>
#include <thread>

std::atomic<bool> done{ false };
std::atomic<int> times{ 0 };

static void finish()
{
	if (!done.load()) {
		done.store(true);
		if (times.fetch_add(1))
			abort();
	}
}

int main()
{
	std::thread a(finish), b(finish);

	a.join();
	b.join();
}
C
cat >locks.cc <<'C'
#include <mutex>
#include <thread>

std::mutex left, right;

static void both(std::mutex &a, std::mutex &b)
{
	std::lock_guard<std::mutex> x(a), y(b);
}

int main()
{
#ifdef LOCAL
	std::mutex left, right;
#endif
	std::thread a([&] { both(left, right); }), b([&] { both(right, left); });

	a.join();
	b.join();
}
C
# The thread's only write to the pointer comes after the use, but it is not the cause.
cat >late.cc <<'C'
#include <memory>
#include <mutex>
#include <thread>

struct session {
	long id = 7;
};

std::mutex m;
std::shared_ptr<session> current = std::make_shared<session>();
volatile long seen;

static void use()
{
	session *s;

	{
		std::lock_guard<std::mutex> g(m);
		s = current.get();
	}
	if (s)
		seen = s->id;
}

static void end()
{
	std::lock_guard<std::mutex> g(m);
	current.reset();
}

int main()
{
	std::thread a(use), b(end);

	a.join();
	b.join();
}
C
for cc in $(compilers); do
	export SNARL_CC=$cc
	for name in flag locks late; do
		snarl-c++ -g -O1 -pthread $name.cc -o $name
		rm -rf $name.out
		status=0
		snarl hunt --quiet --out $name.out -- ./$name >log 2>&1 </dev/null || status=$?
		[ $status = 1 ] || { cat log; fail "$cc: hunt $name: exit $status"; }
		snarl report --width 160 $name.out/bugs/B001 >$name.txt
		! grep -q 'not reached' $name.txt ||
			{ cat $name.txt; fail "$cc: a step of $name is not found"; }
	done
	snarl-c++ -g -O1 -pthread -DLOCAL locks.cc -o locks
	rm -rf local.out
	! snarl hunt --quiet --out local.out -- ./locks >log 2>&1 </dev/null ||
		fail "$cc: no deadlock"
	snarl report --width 160 local.out/bugs/B001 | tr '\n' ' ' | tr -s ' ' >local.txt
	both='(stack of 0-[0-9]+), then (stack of 0-[0-9]+)'
	grep -q -E "takes $both; thread 0.. takes \\2, then \\1\." local.txt ||
		{ cat local.txt; fail "$cc: which lock of main's is which?"; }
	for step in '1 atomically reads false from done' '2 atomically writes true to done' \
		'3 atomically writes true to done' '✗ aborts'; do
		grep -q "$step .*:1[0-3]$\|$step .*:1[0-3] *│" flag.txt ||
			{ cat flag.txt; fail "$cc: no step $step"; }
	done
	grep -q 'Use after free' late.txt && ! grep -q initialise late.txt ||
		{ cat late.txt; fail "$cc: use after free"; }
	for step in '1 locks' '2 locks' '3 waits for' '4 waits for'; do
		[ "$(grep -c " $step " locks.txt)" = 1 ] ||
			{ cat locks.txt; fail "$cc: no step $step"; }
	done
	tr '\n' ' ' <locks.txt | tr -s ' ' |
		grep -q -e 'takes left, then right; thread 0.. takes right, then left' \
		-e 'takes right, then left; thread 0.. takes left, then right' ||
		{ cat locks.txt; fail "$cc: order of locks"; }
done
