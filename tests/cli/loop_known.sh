# Memory that a thread knows to be its own, and that comes to be another's: what the thread does to it from then on is kept.
. "$SNARL_ROOT/tests/lib.sh"

# writes WAY: those of the first thread to the probe, once they have met for the third time
writes() {
	RECORD_OPTIONS='--window 64K' record $1.snarl ./known $1
	snarl dump --raw --no-symbols $1.snarl | awk -v probe="$(cat record.out):8" '
		$1 == "0.1" && $2 == "barrier-leave" { met++ }
		$1 == "0.1" && $2 == "write" && $3 == probe && met > 2 { n++ }
		END { print n + 0 }'
}

for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -O2 -fno-tree-vectorize -pthread "$SNARL_ROOT/tests/cli/loops/known.c" -o known
	objdump -d known | grep -q 'call.*<__snarl_loop_close>' || fail "$cc: ends are not written out"
	[ "$(writes alone)" = 0 ] || fail "$cc: memory of one thread was kept"
	for way in read:1 add:1 range:1 free:4000 free-by-other:4000; do
		kept=$(writes ${way%:*})
		[ $kept = ${way#*:} ] || fail "$cc: ${way%:*}: $kept writes were kept, not ${way#*:}"
	done
done
