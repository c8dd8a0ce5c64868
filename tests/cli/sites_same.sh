# With a list of sites from an earlier run, each thread's sequence of accesses to shared memory and
# the program's output are the same as without, on all test programs and kernels. (sites_forms.sh
# shows that other sites are off.)
. "$SNARL_ROOT/tests/lib.sh"

# shared_of NAME OPTIONS…: records ./prog; accesses to shared memory go to NAME.txt
shared_of() {
	trace=$1
	shift
	$fixed snarl record --exit-code --out "$trace.snarl" "$@" $more -- ./prog $arguments \
		>"$trace.out" 2>err </dev/null ||
		{ cat "$trace.out" err; fail "$name, $cc: cannot record"; }
	"$tools/shared" "$trace.snarl" >"$trace.txt" || fail "$name, $cc: cannot read the trace"
}

all_of() {
	shared_of "$1"
}

# records with the sites of the run just before
known_of() {
	shared_of "$1" --sites "a${1#b}.snarl"
	grep -q -E '^snarl: ([0-9]+ of [0-9]+ inlined sites were|no site was) switched off' err ||
		fail "$name, $cc: $(cat err)"
	cmp -s "a${1#b}.out" "$1.out" || differs="$differs $name"
}

# off TRACE: prints the number of sites that were off
off() {
	snarl dump --stats --json "$1" | sed -n 's/.*"known_sites":{[^}]*"off":\([0-9]*\).*/\1/p'
}

compared=0 lines=0 unstable= differs=
programs >list
while read -r cc name source arguments; do
	extra=
	case $source in */bench/*) extra='-std=c11 -D_GNU_SOURCE -O2 -lm' ;; esac
	rm -rf work
	mkdir work
	compile $cc "$source" work/prog $(flags_of "$source") $extra
	cd work
	more=$(head_of "${source%.*}.expect" options | sed "s/--no-filter//")
	status=0
	agree all_of known_of || status=$?
	# Test programs may wait in loops, so their accesses vary. Kernels must not.
	if [ $status = 2 ] && [ -z "$extra" ]; then
		unstable="$unstable $name"
	elif [ $status != 0 ]; then
		same "$name, $cc: other accesses to shared memory at known sites" a1.txt b1.txt
	fi
	[ -z "$extra" ] || [ -z "$differs" ] || fail "$name, $cc: prints something else"
	[ -z "$extra" ] || [ "$(off b1.snarl)" -gt 0 ] || fail "$name, $cc: all sites are on"
	lines=$((lines + $(wc -l <a1.txt)))
	compared=$((compared + 1))
	cd ..
	differs=
done <list
# Fail if almost nothing was compared.
[ $lines -gt 10000 ] || fail "only $lines accesses in $compared programs"
echo "$compared programs, $lines accesses to shared memory; unstable:$unstable"
[ "$(echo $unstable | wc -w)" -lt $((compared / 2)) ] || fail "too many unstable programs"
