# Loops that run without hooks and are told by one record: the same events as with hooks, in the
# modes that allow it; hooks in all others.
. "$SNARL_ROOT/tests/lib.sh"

dir=$SNARL_ROOT/tests/cli/loops

# plain TRACE: its events without their times
plain() {
	snarl dump --raw --no-symbols "$1" | sed -n 's/ t=[0-9]*//; /^[0-9~?]/p'
}

# records TRACE: how many raw ones
records() {
	snarl dump --chunks "$1" | awk '$2 == "events" { n += $5 } END { print n }'
}

for cc in $(one_of $(compilers)); do
	SNARL_CC=$cc snarl-cc -O1 -pthread "$dir/shapes.c" "$dir/shapes.S" -o shapes
	for kind in loops hooks; do
		record $kind.snarl ./shapes $kind short
		plain $kind.snarl >$kind.txt
		record long.$kind.snarl ./shapes $kind long
		"$tools/shared" long.$kind.snarl >long.$kind.txt
	done
	same "$cc: other events" hooks.txt loops.txt
	# With some thousand records and few private ones among them, these are kept.
	same "$cc: other accesses to shared memory" long.hooks.txt long.loops.txt
	[ "$(records long.loops.snarl)" -lt $(($(records long.hooks.snarl) / 2)) ] || fail "$cc: no loops in the trace"
	RECORD_OPTIONS=--no-filter record all.snarl ./shapes loops long
	"$tools/shared" all.snarl >all.txt
	same "$cc: other accesses without the filter" all.txt long.loops.txt

	# Memory of which it is not known yet: kept where another thread came to it, in whatever life.
	for what in later lives; do
		for kind in loops hooks; do
			record $what.$kind.snarl ./shapes $kind $what
			plain $what.$kind.snarl >$what.$kind.txt
			"$tools/shared" $what.$kind.snarl >shared.$what.$kind.txt
		done
		RECORD_OPTIONS=--no-filter record $what.all.snarl ./shapes hooks $what
		"$tools/shared" $what.all.snarl >shared.$what.all.txt
		same "$cc, $what: other events" $what.hooks.txt $what.loops.txt
		same "$cc, $what: other accesses than without the filter" shared.$what.all.txt shared.$what.loops.txt
	done

	# Cut when the window is full: 12 of 32 granules of 163, 100 and 1 then come to be shared; one of 4 of twice 800, and 400.
	for what in cut:104 teeth:800; do
		number=${what#*:} what=${what%:*}
		for kind in hooks loops; do
			RECORD_OPTIONS='--window 64K --json' record $what.$kind.snarl ./shapes $kind $what
			plain $what.$kind.snarl >$what.$kind.all
			sed -n '/^0\.2 /p' $what.$kind.all | sed '1,/ join /d' >$what.$kind.txt
		done
		grep -q "\"cut_locations\":$number," record.out || fail "$cc: not $number locations cut: $(cat record.out)"
		[ -s $what.loops.txt ] || fail "$cc: nothing told of what is in part cut"
		same "$cc, $what: other events of memory that is in part cut" $what.hooks.txt $what.loops.txt
	done

	# Text and back.
	snarl dump --raw --no-symbols loops.snarl >text
	plain text >again.txt
	same "$cc: the text" loops.txt again.txt

	# Killed: the loop is in the ring.
	$fixed snarl record --out killed.snarl -- ./shapes loops killed >out 2>err || :
	[ "$(plain killed.snarl | grep -c '^0 .*:8 ')" -ge 400 ] || fail "$cc: the ring's loop is lost"
	plain killed.snarl | grep '^0 .*:8 ' | tail -n 400 >killed.txt
	[ "$(awk '{ print $2 }' killed.txt | uniq | head -n 4 | xargs)" = "read write read write" ] ||
		fail "$cc: not the loop's events"

	# Registers, whichever way it takes.
	./shapes loops registers >out || fail "$cc, off: $(cat out)"
	record registers.snarl ./shapes loops registers || fail "$cc: $(cat record.out)"
done

# says WANTED COMMAND…: what the loops were at the end
says() {
	says_wanted=$1
	shift
	"$@" >out 2>err || { cat out err; fail "$*"; }
	grep -qx "$says_wanted" out || fail "$*: not $says_wanted"
}

says loops ./shapes
says loops snarl record --out t.snarl -- ./shapes
says hooks snarl record --no-filter --out t.snarl -- ./shapes
says hooks env SNARL_OPTIONS=mode=record:times=all:trace=t2.snarl ./shapes
says hooks env SNARL_OPTIONS=noise=1 ./shapes
snarl test --runs 3 -- ./shapes - wanted >out 2>err || { cat out err; fail "under control: loops without hooks"; }
