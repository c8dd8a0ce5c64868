# The strategy feedback gives the same results with one job and with three, though each run builds
# on earlier ones; another seed gives other results.
. "$SNARL_ROOT/tests/lib.sh"

for program in mysql_2011 pfscan_fixed; do
	example $program
	for options in '-j 1' '-j 3' '-j 1 --seed 2'; do
		snarl test --quiet --json --strategy feedback --runs 400 --keep-going --replays 1 \
			--no-minimise \
			$options --out "out" -- ./$program >out.json </dev/null || [ $? = 1 ] ||
			fail "$program $options"
		python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["runs"], r["steps"], r["failed_runs"], r["coverage"],
	[b["runs_to_first"] for b in r["bugs"]])' out.json >"$program$options"
		rm -rf out
	done
	same "$program with -j 1 and 3" "$program-j 1" "$program-j 3"
	! cmp -s "$program-j 1" "$program-j 1 --seed 2" || fail "$program: the seed does not matter"
done
