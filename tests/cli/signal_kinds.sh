# Signals in all situations: faster than they can be handled, from bad addresses, on alternate
# stacks, while threads start and end, from a timer. The program behaves as without the runtime and
# the trace has every signal.
. "$SNARL_ROOT/tests/lib.sh"
here=$SNARL_ROOT/tests/cli/signal_kinds

# kinds MODE: records ./prog MODE; sets hits (handlers run) and jumps (left by siglongjmp)
kinds() {
	RECORD_OPTIONS= record t.snarl timeout 30 ./prog "$1"
	read -r hits jumps <record.out
	! grep lost record.err || fail "$cc: $1: something was lost"
	snarl dump --stats t.snarl >stats
}

# is KIND WANTED: the number of events of this kind
is() {
	got=$(awk -v kind="$1" '$2 == kind && NF == 2 { n = $1 } END { print n + 0 }' stats)
	[ "$got" = "$2" ] || fail "$cc: $mode: $got $1 in the trace, not $2"
}

for cc in $(one_of $(compilers)); do
	wrap "$cc" "$here/kinds.c" prog -O1 -pthread
	mode=flood
	kinds flood
	[ "$jumps" -gt 0 ] || fail "$cc: flood: $jumps jumps"
	is signal "$hits"
	is longjmp "$jumps"
	is signal-return $((hits - jumps))

	mode=faults
	kinds faults
	[ "$hits" = 2000 ] || fail "$cc: faults: $hits"
	is signal 2000
	is longjmp 1000
	is signal-return 1000

	mode=stacks
	kinds stacks
	[ "$hits" = 10000 ] || fail "$cc: stacks: $hits"
	is signal 10000
	is longjmp 5000

	mode=births
	kinds births
	[ "$hits" = 100 ] || fail "$cc: births: $hits"
	"$tools/count" t.snarl start >starts
	! grep '^~' starts || fail "$cc: births: threads without a name"
	# A signal after a thread's end event leaves no event.
	[ "$(awk '$2 == "signal" && NF == 2 { print $1 }' stats)" -le 100 ] ||
		fail "$cc: births: signals"

	mode=timer
	kinds timer
	is signal "$hits"
	is signal-return "$hits"
	snarl dump --json --thread 0 t.snarl | "$tools/normalize" all >events
	awk '$2 == "signal" { inside = 1 }
	     $2 == "signal-return" { inside = 0; next }
	     inside || $2 != "write" || $3 !~ /^shared/ { next }
	     { at = $3; sub(/shared\+?/, "", at); at /= 4
	       if (seen++ && at != (last + 1) % 32) {
		       print "line " NR ": " last " then " at
		       exit 1
	       }
	       last = at }
	     END { if (seen < 1000) { print seen " writes"; exit 1 } }' events ||
		fail "$cc: timer: another order"
done
