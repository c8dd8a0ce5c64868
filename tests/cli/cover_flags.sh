# snarl cover learns synchronisation by plain flags: orders that a flag forbids are no longer
# counted as untested.
. "$SNARL_ROOT/tests/lib.sh"
need jq

here=$SNARL_ROOT/tests/cli/cover
untested() { snarl cover --json "$1" | jq '[.iroots[] | select(.state == "untested")] | length'; }

for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -g -O1 -pthread "$here/flag.c" -o flag
	for options in '-j 1' '-j 2' '-j 1 --chase'; do
		rm -f flag.db
		snarl cover $options --runs 200 --saturation 0 --db flag.db -- ./flag >out 2>err ||
			{ cat err; fail "$options"; }
		[ "$(untested flag.db)" = 0 ] ||
			{ cat out; fail "$cc $options: data is expected to be read too early"; }
		snarl cover --json flag.db |
			jq -e '[.iroots[] | select(.state == "exposed")] | length >= 8' \
			>/dev/null ||
			{ cat out; fail "$options: too few exposed iRoots"; }
	done
done

# The last point of the saturation curve counts all known iRoots, including those predicted by other
# processes.
snarl cover --json flag.db | jq -e '.saturation[-1].known == (.iroots | length)' >/dev/null ||
	fail "known"
