# Each optimisation that SNARL_OPTIONS=without=NAME switches off changes the size of some trace but
# no event.
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

# An unknown name gives a warning.
SNARL_OPTIONS=without=xyzzy record t.snarl ./fft $(small fft)
grep -q 'SNARL_OPTIONS: ignored: without' record.err || fail "no warning about an unknown name"
