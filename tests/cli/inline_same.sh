# Inlined hooks and called hooks record the same events, on all test programs and kernels. Without
# loop records (see loops_same): they fill the ring differently, so the filter may keep other
# private events.
. "$SNARL_ROOT/tests/lib.sh"

inline_of() {
	record "$1.snarl" ./inline $arguments
	events "$1.snarl" all+lines >"$1.txt"
}

calls_of() {
	record "$1.snarl" ./calls $arguments
	events "$1.snarl" all+lines >"$1.txt"
}

compared=0 unstable=
programs >list
while read -r cc name source arguments; do
	extra=
	case $source in */bench/*) extra='-std=c11 -D_GNU_SOURCE -O2 -lm' ;; esac
	rm -rf work
	mkdir work
	wrap $cc "$source" work/inline --no-loops $(flags_of "$source") $extra
	wrap $cc "$source" work/calls --no-inline $(flags_of "$source") $extra
	cd work
	RECORD_OPTIONS=$(head_of "${source%.*}.expect" options)
	status=0
	agree calls_of inline_of || status=$?
	# Test programs may wait in loops, so their events vary. Kernels must not.
	if [ $status = 2 ] && [ -z "$extra" ]; then
		unstable="$unstable $name"
	elif [ $status != 0 ]; then
		same "$name, $cc: other events with --no-inline" a1.txt b1.txt
	fi
	compared=$((compared + 1))
	cd ..
done <list
echo "$compared programs; unstable:$unstable"
[ "$(echo $unstable | wc -w)" -lt $((compared / 2)) ] || fail "too many unstable programs"
