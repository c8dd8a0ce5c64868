# The recording filter drops only accesses to memory that no second thread touches: with and without
# it, each thread's sequence of accesses to shared memory is the same, on all test programs and
# kernels.
. "$SNARL_ROOT/tests/lib.sh"

# shared_of NAME: records ./prog with $options; accesses to shared memory go to NAME.txt
shared_of() {
	$fixed snarl record --exit-code --out "$1.snarl" $options -- ./prog $arguments \
		>out 2>err </dev/null || { cat out err; fail "$name, $cc: cannot record"; }
	"$tools/shared" "$1.snarl" >"$1.txt" || fail "$name, $cc: cannot read the trace"
}

all_of() {
	options="--no-filter $more"
	shared_of "$1"
}

kept_of() {
	options=$more
	shared_of "$1"
}

compared=0 lines=0 unstable=
programs >list
while read -r cc name source arguments; do
	extra=
	case $source in */bench/*) extra='-std=c11 -D_GNU_SOURCE -O2 -lm' ;; esac
	rm -rf work
	mkdir work
	compile $cc "$source" work/prog $(flags_of "$source") $extra
	cd work
	more=$(head_of "${source%.*}.expect" options)
	status=0
	agree all_of kept_of || status=$?
	# Test programs may wait in loops, so their accesses vary. Kernels must not.
	if [ $status = 2 ] && [ -z "$extra" ]; then
		unstable="$unstable $name"
	elif [ $status != 0 ]; then
		same "$name, $cc: with the filter, other accesses to shared memory" a1.txt b1.txt
	fi
	lines=$((lines + $(wc -l <a1.txt)))
	compared=$((compared + 1))
	cd ..
done <list
# Fail if almost nothing was compared.
[ $lines -gt 10000 ] || fail "only $lines accesses in $compared programs"
echo "$compared programs, $lines accesses to shared memory; unstable:$unstable"
[ "$(echo $unstable | wc -w)" -lt $((compared / 2)) ] || fail "too many unstable programs"
