# Guard rules do not depend on which passing runs were seen: a queue that uses one critical section
# per item needs no guarded transaction, whether or not the threads ever met in training runs.
. "$SNARL_ROOT/tests/lib.sh"

snarl-cc -g -O2 -pthread "$SNARL_ROOT/tests/bench/kernels/queue.c" -o queue
guarded() {
	snarl learn --dump "$1" |
		sed -n '/in a transaction\|function in.*transaction\|, open\|may follow/{
			s/: [0-9]* runs//;s/, broken apart in [0-9]*//;s/,* cut.*//;p;}'
}
# Seed 1 is what the other seeds are compared with.
for seed in 1 $(seq 2 20 | slice 3); do
	snarl learn --schedules --runs 12 --stable 6 --seed "$seed" --quiet --out "s$seed" \
		-- ./queue 150 >/dev/null </dev/null ||
		fail "learn with seed $seed"
	guarded "s$seed/learn.db" >got
	[ "$seed" != 1 ] || cp got wanted
	same "seed $seed" wanted got
done
# Nothing is marked as open and no function has a transaction: each item has one critical section.
! grep 'transaction\|open\|may follow' wanted || fail "something is guarded"
snarl learn --dump s1/learn.db | grep -q '^  queue.c:35 write in produce: .*broken apart' ||
	fail "no run broke the pair of produce apart"

# In runs without overlap, iterations of a loop are still kept apart.
snarl learn --parallel --runs 3 --stable 0 --quiet --out few -- ./queue 30 >/dev/null </dev/null ||
	fail "learn in parallel"
! guarded few/learn.db | grep transaction || fail "a transaction over several iterations"
