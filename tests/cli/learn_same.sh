# What is guarded does not depend on the runs that were learnt from: a queue whose items are put and
# taken in one critical section each has nothing to guard, whether or not the threads ever met.
. "$SNARL_ROOT/tests/lib.sh"

snarl-cc -g -O2 -pthread "$SNARL_ROOT/tests/bench/kernels/queue.c" -o queue
guarded() {
	snarl learn --dump "$1" | sed -n '/in a transaction\|function in\|, open\|may follow/{s/: [0-9]* runs//;s/, broken apart in [0-9]*//;p;}'
}
for seed in $(seq 20); do
	snarl learn --schedules --runs 12 --stable 6 --seed "$seed" --quiet --out "s$seed" -- ./queue 150 >/dev/null </dev/null ||
		fail "learn with seed $seed"
	guarded "s$seed/learn.db" >got
	[ "$seed" != 1 ] || cp got wanted
	same "seed $seed" wanted got
done
# No place is open, no function holds a transaction: each turn of a loop is one, and cut from the next.
! grep 'transaction\|open\|may follow' wanted || fail "something is guarded"
snarl learn --dump s1/learn.db >dump
for line in 33 47; do
	grep -q "^  queue.c:$line read .*cut before it" dump || { cat dump; fail "no cut before line $line"; }
done

# One thread after the other: the turns of their loops are told apart all the same.
snarl learn --parallel --runs 3 --stable 0 --quiet --out few -- ./queue 30 >/dev/null </dev/null || fail "learn in parallel"
! guarded few/learn.db | grep transaction || fail "a transaction of several turns"
