# kill -9 at a slice of 200 seeded points of a recording: every trace is readable and has all the
# rounds that the program had finished. No files are left beside the trace.
. "$SNARL_ROOT/tests/lib.sh"
rounds=${KILLS:-200}

${CC:-cc} -O1 "$SNARL_ROOT/tests/cli/kill9/killer.c" -o killer
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -O1 -pthread "$SNARL_ROOT/tests/cli/kill9/victim.c" -o victim.$cc
	echo $cc
done >built
count=$(wc -l <built)

kills=0
for seed in $(seq 0 $((rounds - 1)) | slice 4); do
	cc=$(sed -n "$((kills % count + 1))p" built)
	rm -rf run
	mkdir run
	./killer $seed progress snarl record --exit-code --out run/t.snarl \
		-- ./victim.$cc progress >killed 2>err ||
		{ cat err; fail "seed $seed: the recording did not start"; }
	read -r _ status _ first second <killed
	[ "$status" = 137 ] || { cat err; fail "seed $seed: record ended with $status, not 137"; }
	snarl dump --stats run/t.snarl >stats 2>err || { cat err; fail "seed $seed: unreadable"; }
	"$tools/count" run/t.snarl unlock >unlocks || fail "seed $seed: damaged"
	set -- $(awk '$1 == "0" { a = $2 } $1 == "0.1" { b = $2 } END { print a + 0, b + 0 }' \
		unlocks)
	[ "$1" -ge "$first" ] && [ "$2" -ge "$second" ] ||
		fail "seed $seed: did $first and $second rounds, the trace has $1 and $2"
	# The round that was under way may be in the trace, too, but no more.
	[ "$1" -le $((first + 1)) ] && [ "$2" -le $((second + 1)) ] ||
		fail "seed $seed: did $first and $second rounds, the trace has $1 and $2"
	[ "$(ls run)" = t.snarl ] || fail "seed $seed: left behind: $(ls run)"
	kills=$((kills + 1))
done
echo "$kills kills"
