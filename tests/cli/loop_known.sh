# Memory that a thread knows to be its own, and that comes to be another's: what the thread does to it from then on is kept.
# Memory that it knows to be shared, and that is given back: most of what it does to it then is not, and what another does is.
. "$SNARL_ROOT/tests/lib.sh"

# kept WAY: the first thread's writes to the probe, once they have met for the third time, and the other's reads
kept() {
	RECORD_OPTIONS='--window 64K' record $1.snarl ./known $1
	snarl dump --raw --no-symbols $1.snarl | awk -v probe="$(cat record.out):8" '
		$1 == "0.1" && $2 == "barrier-leave" { met++ }
		$1 == "0.1" && $2 == "write" && $3 == probe && met > 2 { n++ }
		$1 == "0.2" && $2 == "read" && $3 == probe { reads++ }
		END { print n + 0, reads + 0 }'
	rm $1.snarl
}

# Rows of 1024 are known by where they are, of 32 by the loop that goes over them.
for cc in $(one_of $(compilers)); do
	for row in 1024 32; do
		SNARL_CC=$cc snarl-cc -O2 -fno-tree-vectorize -pthread -DROW=$row "$SNARL_ROOT/tests/cli/loops/known.c" -o known
		objdump -d known | grep -q 'call.*<__snarl_loop_close>' || fail "$cc: ends are not written out"
		for way in alone:0:0 read:1:1 add:1:0 range:1:0 free:4000:0 free-by-other:4000:0; do
			name=${way%%:*} want=$(echo ${way#*:} | tr : ' ')
			got=$(kept $name)
			[ "$got" = "$want" ] || fail "$cc, rows of $row: $name: writes and reads kept: $got, not $want"
		done
		# Those that are kept are of before it was cut.
		for way in shared-free shared-free-by-other shared-unmap; do
			got=$(kept $way)
			[ ${got% *} -lt 2000 ] && [ ${got#* } = 1 ] || fail "$cc, rows of $row: $way: writes and reads kept: $got"
		done
	done
done
