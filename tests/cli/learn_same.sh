# What is guarded does not depend on the runs that were learnt from: a queue whose items are put and
# taken in one critical section each has nothing to guard, whether or not the threads ever met.
. "$SNARL_ROOT/tests/lib.sh"

snarl-cc -g -O2 -pthread "$SNARL_ROOT/tests/bench/kernels/queue.c" -o queue
guarded() {
	snarl learn --dump "$1" | sed -n '/in a transaction\|function in.*transaction\|, open\|may follow/{s/: [0-9]* runs//;s/, broken apart in [0-9]*//;s/,* cut.*//;p;}'
}
# The first is what the others are compared with.
for seed in 1 $(seq 2 20 | slice 3); do
	snarl learn --schedules --runs 12 --stable 6 --seed "$seed" --quiet --out "s$seed" -- ./queue 150 >/dev/null </dev/null ||
		fail "learn with seed $seed"
	guarded "s$seed/learn.db" >got
	[ "$seed" != 1 ] || cp got wanted
	same "seed $seed" wanted got
done
# No place is open, no function holds a transaction: what belongs together is in one critical section.
! grep 'transaction\|open\|may follow' wanted || fail "something is guarded"
snarl learn --dump s1/learn.db | grep -q '^  queue.c:35 write in produce: .*broken apart' || fail "not even looked at"

# One thread after the other: the turns of their loops are told apart all the same.
snarl learn --parallel --runs 3 --stable 0 --quiet --out few -- ./queue 30 >/dev/null </dev/null || fail "learn in parallel"
! guarded few/learn.db | grep transaction || fail "a transaction of several turns"
