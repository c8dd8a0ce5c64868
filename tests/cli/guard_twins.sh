#!/bin/sh
# Correct programs print the same 200 times under guard, with noise and rules that were learnt;
# broken ones are kept from failing.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

for name in bank_fixed buffer_fixed inversion_fixed mozilla_7_fixed; do
	example $name
	snarl learn --quiet --schedules --out $name.out -- ./$name >/dev/null
	./$name >want
	seed=1
	while [ $seed -le 50 ]; do
		SNARL_OPTIONS="mode=guard:rules=$name.out/rules.bin:noise=300:seed=$seed" ./$name >got 2>&1 ||
			fail "$name, seed $seed: $?"
		same "$name, seed $seed" want got
		seed=$((seed + 1))
	done
done

# Half of the runs of bank fail alone; not one of 50 would be a chance of 1 : 10^15.
example bank
snarl learn --quiet --schedules --out bank.out -- ./bank >/dev/null || true
failed=0 alone=0 seed=1
while [ $seed -le 50 ]; do
	snarl guard --quiet --out bank.out --noise 300 --seed $seed -- ./bank >got 2>&1 || failed=$((failed + 1))
	snarl guard --quiet --out bank.out --protect none --noise 300 --seed $seed -- ./bank >got 2>&1 ||
		alone=$((alone + 1))
	seed=$((seed + 1))
done
[ $alone -ge 5 ] || fail "noise makes only $alone of 50 fail"
[ $failed -le $((alone / 4)) ] || fail "$failed of 50 fail under guard, $alone alone"
