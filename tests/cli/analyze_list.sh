# What snarl analyze lists is worth reading: of correct programs (tests/cli/analyze_list) nothing,
# or as little as their first line says; of each with -DBROKEN the bug is among the ten best.
#
# First line of a program: /* floor N; bug: CLASS|CLASS OBJECT|OBJECT */, the most candidates that
# may be listed of the correct one, and what the bug is about. It has a site at a line with "bug".
. "$SNARL_ROOT/tests/lib.sh"
need jq

# listed TRACE: prints the number of candidates that are not doubtful
listed() {
	snarl analyze --json "$1" 2>/dev/null |
		jq '[.candidates[] | select(.doubtful | not)] | length'
}

# has_bug: records ./broken; whether its bug is among the ten best candidates
has_bug() {
	$fixed snarl record --quiet --out broken.snarl ./broken </dev/null >record.out 2>&1
	snarl analyze --json --limit 10 broken.snarl 2>/dev/null |
		jq -e --argjson lines "[$lines]" --arg classes "$classes" --arg objects "$objects" '
		[.candidates[] | select(.doubtful | not) |
			select(.class as $c | $classes | split("|") | index($c)) |
			select(any(.sites[]; .line as $l | $lines | index($l))) |
			select(any(.sites[]; .object as $o | $objects | split("|") |
				any(. as $name | $o | startswith($name))))] | length > 0' >/dev/null
}

for cc in $(compilers); do
	for source in "$SNARL_ROOT"/tests/cli/analyze_list/*.c; do
		echo "$cc $source"
	done
done | by_turns >list
while read -r cc source; do
	name=$(basename "$source" .c)
	floor=$(sed -n '1s/.*floor \([0-9]*\);.*/\1/p' "$source")
	classes=$(sed -n '1s/.*bug: \([^ ]*\) .*/\1/p' "$source")
	objects=$(sed -n '1s/.*bug: [^ ]* \([^ ]*\) .*/\1/p' "$source")
	lines=$(grep -n '/\* bug \*/' "$source" | cut -d: -f1 | paste -sd, -)

	compile "$cc" "$source" "$name" -g -O1 -Wall -Wextra -Werror -pthread
	# A recording may lack what gives a reason, such as a thread that had to wait.
	for try in 1 2 3 4 5; do
		record correct.snarl "./$name"
		count=$(listed correct.snarl)
		[ "$count" -gt "$floor" ] || break
	done
	[ "$count" -le "$floor" ] || {
		snarl analyze correct.snarl
		fail "$name, $cc: $count candidates, more than $floor"
	}
	snarl analyze --json correct.snarl 2>/dev/null |
		jq -e '(.dropped_by.atomicity2 // 0) == 0' >/dev/null ||
		fail "$name, $cc: pairs were forgotten"

	compile "$cc" "$source" broken -g -O1 -Wall -Wextra -Werror -pthread -DBROKEN
	# Not each recording shows enough of a bug; one of ten has to.
	found=
	for try in 1 2 3 4 5 6 7 8 9 10; do
		has_bug && found=yes && break
	done
	[ -n "$found" ] || { snarl analyze broken.snarl; fail "$name, $cc: the bug is not listed"; }
done <list
 
# Text shows ten, and says how to see the others; doubtful ones come last, with a reason.
compile gcc "$SNARL_ROOT/tests/cli/analyze_list/pool.c" pool -g -O1 -pthread
$fixed snarl record --quiet --out pool.snarl ./pool </dev/null
snarl analyze pool.snarl >out
grep -q '^[0-9]* doubtful: --doubtful shows them$' out || { cat out; fail "doubtful ones"; }
grep -c '^[0-9]*\. ' out >count || :
[ "$(cat count)" = 0 ] || { cat out; fail "doubtful ones are listed"; }
snarl analyze --doubtful pool.snarl >out
[ "$(grep -c '^     doubtful: ' out)" = 10 ] || { cat out; fail "--doubtful: not ten"; }
snarl analyze --doubtful --limit all pool.snarl >out
snarl analyze --json pool.snarl >out.json
[ "$(grep -c '^[0-9]*\. ' out)" = "$(jq '.candidates | length' out.json)" ] ||
	fail "--limit all: not all"
snarl analyze --doubtful --limit 0 pool.snarl >zero
same "--limit 0 and all" out zero
jq -e '.candidates | all(.doubtful and .doubt != null and .evidence == "pattern"
	or .class == "race")' out.json >/dev/null || fail "JSON: doubt"
