# The cause of a C++ bug names the program's own files, not the standard library's threads and
# locks, if the program's own order makes runs fail; a use after free has a goal.
. "$SNARL_ROOT/tests/lib.sh"
need python3

cat >log.cc <<'C'
#include <atomic>
#include <thread>

struct log {
	int lines = 0;
	void add() { lines++; }
};

log *shared;
std::atomic<bool> stop{ false };

static void work()
{
	for (int i = 0; i < 3; i++)
		if (!stop.load())
			shared->add();
}

int main()
{
	shared = new log;
	std::thread a(work);
	stop = true;
	delete shared;
	a.join();
}
C
snarl-c++ -g -O1 -std=c++17 -pthread log.cc -o log
for seed in 1 2 3; do
	rm -rf out
	status=0
	snarl hunt --seed $seed --out out -- ./log 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "seed $seed: exit $status"; }
	python3 - <<-'EOF' || { cat err; fail "seed $seed"; }
		import json, sys
		b = json.load(open("out/results.json"))["bugs"][0]
		own = all(s["file"].endswith("log.cc") for s in b["sites"][:2])
		sys.exit(not (b["failure"] == "uaf" and b["class"] == "order" and
		              b["pattern"] == "use-free" and own))
	EOF
	sed -n '/^goal/,/^end/p' out/bugs/B001/schedule.txt >goal
	grep -q 'log.cc:6#.* after 0 log.cc:24#1 ' goal && [ "$(grep -c ' after ' goal)" = 1 ] ||
		{ cat goal err; fail "seed $seed: goal"; }
	snarl replay --quiet out/bugs/B001 2>err && fail "seed $seed: replay passed"
done
exit 0
