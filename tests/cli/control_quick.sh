#!/bin/sh
# Most scheduling points of user-level threads take a fast path (runtime/control/point_fast.c);
# those of kernel threads never do. With one seed, both back ends must take the same turns to the
# same failure. A slice of the pairs of example and strategy.
. "$SNARL_ROOT/tests/lib.sh"

# turns BACKEND OPTIONS…: prints the schedule of the first failure, without the line that names the
# back end
turns() {
	rm -rf out
	code=0
	snarl test --quiet -j 1 --runs 300 --replays 1 --out out --backend "$@" >/dev/null 2>err \
		</dev/null ||
		code=$?
	[ $code -eq 1 ] || { cat err; fail "snarl test --backend $*: exit $code"; }
	sed '/^backend /d' out/bugs/B001/schedule.txt
}

for example in bank string_buffer inversion log_proc_sweep pbzip2 cherokee; do
	for strategy in random pct pos surw delay; do
		echo "$example $strategy"
	done
done | slice 3 >list
for example in $(cut -d ' ' -f 1 list | uniq); do
	snarl-cc -O2 -pthread "$SNARL_ROOT/examples/$example.c" -o "$example"
done
while read -r example strategy; do
	turns user --strategy $strategy -- ./$example >user
	turns kernel --strategy $strategy -- ./$example >kernel
	same "$example by $strategy" kernel user
done <list
