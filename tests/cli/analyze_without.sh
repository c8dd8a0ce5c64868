# The prescans of snarl analyze, which --without leaves out, save time and change no candidate.
. "$SNARL_ROOT/tests/lib.sh"

# candidates TRACE OPTION…: the candidates, without what counts how often the analyses met them.
candidates() {
	snarl analyze --json "$@" |
		sed -E 's/,"seconds":[0-9.e-]+//; s/"pruned":.*//; s/(\{"class"|"sites")/\n\1/g'
}

i=0
for source in "$SNARL_ROOT"/examples/*.c; do
	i=$((i + 1))
	[ -n "${LONG:-}" ] || [ $((i % 6)) = 1 ] || continue
	name=$(basename "$source" .c)
	snarl-cc -g -O1 -pthread "$source" -o "$name"
	snarl record -q -o "$name.snarl" -- "./$name" >/dev/null 2>&1 || true
	candidates "$name.snarl" >wanted
	for prescan in unshared ordered unshared,ordered; do
		candidates --without $prescan "$name.snarl" >got
		same "$name: other candidates without $prescan" wanted got
	done
done
for kernel in queue pipeline; do
	snarl-cc -std=c11 -D_GNU_SOURCE -O2 -pthread \
		"$SNARL_ROOT/tests/bench/kernels/$kernel.c" -o $kernel -lm
	record $kernel.snarl ./$kernel $(small $kernel)
	candidates $kernel.snarl >wanted
	for prescan in unshared ordered; do
		candidates --without $prescan $kernel.snarl >got
		same "$kernel: other candidates without $prescan" wanted got
	done
done

snarl analyze --without xyzzy queue.snarl 2>err && fail "--without took an unknown name"
grep -q "unshared and ordered, not 'xyzzy'" err || fail "no message about the name"
