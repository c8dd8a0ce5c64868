#!/bin/sh
# Under guard with learnt rules and noise, correct programs print the same in 50 runs each; a broken
# one fails at most a quarter as often as without guard.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

for name in bank_fixed buffer_fixed inversion_fixed mozilla_7_fixed; do
	example $name
	snarl learn --quiet --schedules --out $name.out -- ./$name >/dev/null
	./$name >want
	seed=1
	while [ $seed -le 50 ]; do
		SNARL_OPTIONS="mode=guard:rules=$name.out/rules.bin:noise=300:seed=$seed" ./$name \
			>got 2>&1 ||
			fail "$name, seed $seed: $?"
		same "$name, seed $seed" want got
		seed=$((seed + 1))
	done
done

# Without guard about half of the runs of bank fail under noise.
example bank
snarl learn --quiet --schedules --out bank.out -- ./bank >/dev/null || true
failed=0 unguarded=0 seed=1
while [ $seed -le 50 ]; do
	snarl guard --quiet --out bank.out --noise 300 --seed $seed -- ./bank >got 2>&1 ||
		failed=$((failed + 1))
	snarl guard --quiet --out bank.out --protect none --noise 300 --seed $seed -- ./bank >got \
		2>&1 ||
		unguarded=$((unguarded + 1))
	seed=$((seed + 1))
done
[ $unguarded -ge 5 ] || fail "noise makes only $unguarded of 50 fail"
[ $failed -le $((unguarded / 4)) ] || fail "$failed of 50 fail under guard, $unguarded unguarded"
