# Each optimisation that SNARL_OPTIONS=without=NAME switches off changes the size of some trace but
# no event. Each one that SNARL_LOOPS_WITHOUT=NAME switches off in the compiler changes the code of
# some program but no event either.
. "$SNARL_ROOT/tests/lib.sh"

# The names, as `snarl help options` lists them.
names=$(snarl help options | sed -n 's/^  without=\([a-z|-]*\),.*/\1/p' | tr '|' ' ')
[ -n "$names" ] || fail "snarl help options names no optimisation"

changed=
for cc in $(one_of $(compilers)); do
	for kernel in fft lu ocean radix; do
		SNARL_CC=$cc snarl-cc -std=c11 -D_GNU_SOURCE -O2 -pthread \
			"$SNARL_ROOT/tests/bench/kernels/$kernel.c" -o "$kernel" -lm
		record all.snarl "./$kernel" $(small $kernel)
		events all.snarl all >wanted
		snarl dump --stats all.snarl >wanted.stats
		for name in $names; do
			SNARL_OPTIONS=without=$name record without.snarl "./$kernel" \
				$(small $kernel)
			events without.snarl all >got
			same "$cc, $kernel: other events without $name" wanted got
			# The switch must have an effect on some trace.
			[ "$(stat -c %s all.snarl)" = "$(stat -c %s without.snarl)" ] ||
				changed="$changed $name"
		done
	done
done
for name in $names; do
	case " $changed " in
	*" $name "*) ;;
	*) fail "without=$name makes no difference to any trace" ;;
	esac
done

# By gcc, whose hooks are calls: then all of these apply.
changed=
for kernel in lu ocean; do
	build() {
		SNARL_CC=gcc snarl-cc -std=c11 -D_GNU_SOURCE -O2 -pthread \
			"$SNARL_ROOT/tests/bench/kernels/$kernel.c" -o "$1" -lm
		record "$1.snarl" "./$1" $(small $kernel)
		events "$1.snarl" all >"$1.events"
	}
	build all
	for name in spills constants ends dead-code; do
		SNARL_LOOPS_WITHOUT=$name build without
		same "$kernel: other events without $name" all.events without.events
		cmp -s all without || changed="$changed $name"
	done
done
for name in spills constants ends dead-code; do
	case " $changed " in
	*" $name "*) ;;
	*) fail "SNARL_LOOPS_WITHOUT=$name makes no difference to any program" ;;
	esac
done

# An unknown name gives a warning.
SNARL_OPTIONS=without=xyzzy record t.snarl ./fft $(small fft)
grep -q 'SNARL_OPTIONS: ignored: without' record.err || fail "no warning about an unknown name"
