# Loops whose end is written out: the same events and results as when __snarl_loop is asked and as with
# hooks, whatever memory neighbouring loops are over, in many threads, and with signals at any instruction.
. "$SNARL_ROOT/tests/lib.sh"

# accesses TRACE: those of the thread that has joined another one, from then on; not to its stack, which is private
accesses() {
	snarl dump --raw --no-symbols "$1" | awk '
		!/^0\.2 / { next }
		joined && $2 ~ /read|write/ && $3 !~ /^0x7ff/ { sub(/ t=[0-9]*/, ""); print }
		/ join / { joined = 1 }'
}

# records TRACE: how many raw ones
records() {
	snarl dump --chunks "$1" | awk '$2 == "events" { n += $5 } END { print n }'
}

ways='hooks ask plain'

for cc in $(one_of $(compilers)); do
	SNARL_CC=$cc snarl-cc -O2 -w -fno-tree-vectorize -pthread "$SNARL_ROOT/tests/cli/loops/ends.c" -o ends
	objdump -d ends >code
	[ "$(grep -c 'call.*<__snarl_loop_close>' code)" -ge 8 ] || fail "$cc: ends are not written out"
	[ "$(grep -c 'call.*<__snarl_loop_look_apart>' code)" -ge 3 ] || fail "$cc: not if turns are apart"

	for way in $ways; do
		RECORD_OPTIONS='--window 64K' record $way.snarl ./ends $way mixed
		grep -q '[1-9][0-9]* locations became shared' record.err || fail "$cc, $way: nothing was cut"
		mv record.out $way.out
		accesses $way.snarl >$way.txt
	done
	[ "$(wc -l <plain.txt)" -gt 10000 ] || fail "$cc: hardly any events"
	for way in hooks ask; do
		same "$cc: another result" $way.out plain.out
		same "$cc: other events" $way.txt plain.txt
	done

	for way in $ways; do
		record $way.snarl ./ends $way threads
		"$tools/shared" $way.snarl >$way.txt
	done
	for way in hooks ask; do
		same "$cc: other events with threads" $way.txt plain.txt
	done
	# Rounds of the same loop are one nest, with what comes before it in each.
	echo "$cc: $(records ask.snarl) records, of nests $(records plain.snarl)"
	[ "$(records plain.snarl)" -lt $(($(records ask.snarl) * 9 / 10)) ] || fail "$cc: no nests"

	# The handler's own memory is the only block; what it does is told whole: 3 times 20 turns, 4 accesses each.
	for way in $ways; do
		record $way.snarl ./ends $way signals
		mv record.out $way.out
		handled=$(sed -n 's/ handled$//p' record.err)
		"$tools/shared" $way.snarl >all.txt
		grep -v heap all.txt >$way.txt
		[ "$(grep -c heap all.txt)" -eq $((handled * 240 + 2)) ] || fail "$cc, $way: $handled handled, $(grep -c heap all.txt) accesses"
	done
	echo "$cc: $handled signals handled"
	[ "$handled" -gt 0 ] || fail "$cc: no signal came"
	for way in hooks ask; do
		same "$cc: another result with signals" $way.out plain.out
		same "$cc: other events with signals" $way.txt plain.txt
	done
done
