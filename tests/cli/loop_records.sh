# A loop without hooks, recorded as one record, expands to the same events as with hooks, in the
# modes that allow it; all other modes use the hooks. Covers undecided, cut and shared memory, the
# text form, and kill -9.
. "$SNARL_ROOT/tests/lib.sh"

dir=$SNARL_ROOT/tests/cli/loops

# plain TRACE: prints its events without times
plain() {
	snarl dump --raw --no-symbols "$1" | sed -n 's/ t=[0-9]*//; /^[0-9~?]/p'
}

# records TRACE: prints the number of raw records in its chunks
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
	# The long run has thousands of records; the few private ones among them are kept.
	same "$cc: other accesses to shared memory" long.hooks.txt long.loops.txt
	[ "$(records long.loops.snarl)" -lt $(($(records long.hooks.snarl) / 2)) ] ||
		fail "$cc: no loops in the trace"
	RECORD_OPTIONS=--no-filter record all.snarl ./shapes loops long
	"$tools/shared" all.snarl >all.txt
	same "$cc: other accesses without the filter" all.txt long.loops.txt

	# Loops over undecided memory: kept if another thread came to it, also after the block was
	# freed and reused.
	for what in later lives; do
		for kind in loops hooks; do
			record $what.$kind.snarl ./shapes $kind $what
			plain $what.$kind.snarl >$what.$kind.txt
			"$tools/shared" $what.$kind.snarl >shared.$what.$kind.txt
		done
		RECORD_OPTIONS=--no-filter record $what.all.snarl ./shapes hooks $what
		"$tools/shared" $what.all.snarl >shared.$what.all.txt
		same "$cc, $what: other events" $what.hooks.txt $what.loops.txt
		same "$cc, $what: other accesses than without the filter" shared.$what.all.txt \
			shared.$what.loops.txt
	done

	# Loops over memory whose history is cut when the window is full. Of the cut granules these
	# become shared later. cut: in runs of 163, 100 and 1 granules the first 12 of every 32,
	# that is 63 + 40 + 1. teeth: every fourth of 800 and of 800, and 400 more.
	for what in cut:104 teeth:800; do
		number=${what#*:} what=${what%:*}
		for kind in hooks loops; do
			RECORD_OPTIONS='--window 64K --json' record $what.$kind.snarl ./shapes \
				$kind $what
			plain $what.$kind.snarl >$what.$kind.all
			sed -n '/^0\.2 /p' $what.$kind.all | sed '1,/ join /d' >$what.$kind.txt
		done
		grep -q "\"cut_locations\":$number," record.out ||
			fail "$cc: not $number locations cut: $(cat record.out)"
		[ -s $what.loops.txt ] || fail "$cc: no events of memory that is partly cut"
		same "$cc, $what: other events of memory that is partly cut" $what.hooks.txt \
			$what.loops.txt
	done

	# The text form is read back as the same events.
	snarl dump --raw --no-symbols loops.snarl >text
	plain text >again.txt
	same "$cc: the text" loops.txt again.txt

	# After kill -9 the loop's record is found in the ring.
	$fixed snarl record --out killed.snarl -- ./shapes loops killed >out 2>err || :
	[ "$(plain killed.snarl | grep -c '^0 .*:8 ')" -ge 400 ] ||
		fail "$cc: the ring's loop is lost"
	plain killed.snarl | grep '^0 .*:8 ' | tail -n 400 >killed.txt
	[ "$(awk '{ print $2 }' killed.txt | uniq | head -n 4 |
		xargs)" = "read write read write" ] ||
		fail "$cc: not the loop's events"

	# The loop's end keeps all registers, whether recording is off or on.
	./shapes loops registers >out || fail "$cc, off: $(cat out)"
	record registers.snarl ./shapes loops registers || fail "$cc: $(cat record.out)"
done

# says WANTED COMMAND…: ./shapes prints whether its loops ran as loop records or with hooks
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
snarl test --runs 3 -- ./shapes - wanted >out 2>err ||
	{ cat out err; fail "under control: loops without hooks"; }
