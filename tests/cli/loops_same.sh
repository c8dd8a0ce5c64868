# Random loops (tests/tools/loopgen.c) give the same results and events without hooks, with inlined
# hooks, and with called hooks: in pie and no-pie executables and in a library.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/cli/loops/build.sh"

# run NAME: records ./prog; leaves its output, events and number of records
run() {
	record "$1.snarl" ./prog
	mv record.out "$1.out"
	events "$1.snarl" all+lines >"$1.txt"
	sed -n 's/.*: \([0-9]*\) records of .*/\1/p' record.err >"$1.records"
}

compared=0 fewer=0
for cc in $(compilers); do
	for seed in $(one_of 1 2 3); do
		"$tools/loopgen" $seed >loops.c
		for variant in no-pie:-O1 pie:-O2 library:-O2 no-pie:-O3; do
			build $cc ${variant%:*} ${variant#*:}
			run loops
			build $cc ${variant%:*} ${variant#*:} --no-loops
			run hooks
			same "$cc, seed $seed, $variant: another result" hooks.out loops.out
			same "$cc, seed $seed, $variant: other events" hooks.txt loops.txt
			compared=$((compared + 1))
			[ "$(cat loops.records)" -ge "$(cat hooks.records)" ] ||
				fewer=$((fewer + 1))
		done
		build $cc no-pie -O3 --no-inline
		run calls
		same "$cc, seed $seed: other events with --no-inline" calls.txt loops.txt
	done
done
echo "$compared programs, $fewer of them with fewer records"
[ $((fewer * 2)) -gt $compared ] || fail "loops without hooks do not save records"
