# Loops whose end code is inlined give the same results and events as loops that call __snarl_loop,
# and as loops with hooks: for every kind of memory, with several threads, and with a signal at any
# instruction.
. "$SNARL_ROOT/tests/lib.sh"

# accesses TRACE: prints those of thread 0.2 after its join, without accesses to its (private) stack
accesses() {
	snarl dump --raw --no-symbols "$1" | awk '
		!/^0\.2 / { next }
		joined && $2 ~ /read|write/ && $3 !~ /^0x7ff/ { sub(/ t=[0-9]*/, ""); print }
		/ join / { joined = 1 }'
}

# records TRACE: prints the number of raw records in its chunks
records() {
	snarl dump --chunks "$1" | awk '$2 == "events" { n += $5 } END { print n }'
}

ways='hooks ask plain'

for cc in $(one_of $(compilers)); do
	SNARL_CC=$cc snarl-cc -O2 -w -fno-tree-vectorize \
		-pthread "$SNARL_ROOT/tests/cli/loops/ends.c" -o ends
	objdump -d ends >code
	[ "$(grep -c 'call.*<__snarl_loop_close>' code)" -ge 8 ] ||
		fail "$cc: loop ends are not inlined"
	[ "$(grep -c 'call.*<__snarl_loop_look_apart>' code)" -ge 3 ] ||
		fail "$cc: loop ends are not inlined if iterations are apart"

	for way in $ways; do
		RECORD_OPTIONS='--window 64K' record $way.snarl ./ends $way mixed
		grep -q '[1-9][0-9]* locations became shared' record.err ||
			fail "$cc, $way: nothing was cut"
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
	# Repeated rounds of one loop become one nest record, with what precedes the loop in each
	# round.
	echo "$cc: $(records ask.snarl) records, of nests $(records plain.snarl)"
	[ "$(records plain.snarl)" -lt $(($(records ask.snarl) * 9 / 10)) ] || fail "$cc: no nests"

	# The only heap block is the handler's, and is recorded in full: 3 loops of 20 iterations
	# with 4 accesses each.
	for way in $ways; do
		record $way.snarl ./ends $way signals
		mv record.out $way.out
		handled=$(sed -n 's/ handled$//p' record.err)
		"$tools/shared" $way.snarl >all.txt
		grep -v heap all.txt >$way.txt
		[ "$(grep -c heap all.txt)" -eq $((handled * 240 + 2)) ] ||
			fail "$cc, $way: $handled handled, $(grep -c heap all.txt) accesses"
	done
	echo "$cc: $handled signals"
	[ "$handled" -gt 0 ] || fail "$cc: no signal came"
	for way in hooks ask; do
		same "$cc: another result with signals" $way.out plain.out
		same "$cc: other events with signals" $way.txt plain.txt
	done
done
