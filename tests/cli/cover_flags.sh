# snarl cover: synchronisation of the program's own is learnt, and what it forbids not expected any more.
. "$SNARL_ROOT/tests/lib.sh"
need jq

here=$SNARL_ROOT/tests/cli/cover
untested() { snarl cover --json "$1" | jq '[.iroots[] | select(.state == "untested")] | length'; }

for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -g -O1 -pthread "$here/flag.c" -o flag
	for how in '-j 1' '-j 2' '-j 1 --chase'; do
		rm -f flag.db
		snarl cover $how --runs 200 --saturation 0 --db flag.db -- ./flag >out 2>err || { cat err; fail "$how"; }
		[ "$(untested flag.db)" = 0 ] || { cat out; fail "$cc $how: data is expected to be read too early"; }
		snarl cover --json flag.db | jq -e '[.iroots[] | select(.state == "exposed")] | length >= 8' >/dev/null ||
			{ cat out; fail "$how: what happened is not there"; }
	done
done

# What another process expected before stays, if it was chased; what is known is found in the saturation curve.
snarl cover --json flag.db | jq -e '.saturation[-1].known == (.iroots | length)' >/dev/null || fail "known"
