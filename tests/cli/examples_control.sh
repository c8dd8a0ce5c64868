# snarl test finds and replays the bug of every example, with the strategy that needs the fewest
# runs according to docs/measurements/strategies.md. A slice of the repaired twins passes 300 runs.
. "$SNARL_ROOT/tests/lib.sh"

table=$SNARL_ROOT/docs/measurements/strategies.md

# quickest EXAMPLE: prints the strategy with the smallest number in the table. Not roundrobin: it
# tries so few schedules that one step more in the program may hide the bug.
quickest() {
	awk -F'|' -v name="$1" '
		{ gsub(/ /, "") }
		$2 == "example" { for (i = 3; i < NF; i++) head[i] = $i }
		$2 == name {
			for (i = 3; i < NF; i++)
				if (head[i] != "roundrobin" && $i ~ /^[0-9]+$/ &&
					(!best || $i + 0 < $best + 0))
					best = i
			print head[best]
		}' "$table"
}

(cd "$SNARL_ROOT/examples" && ls *.c) | sed 's/\.c$//' >names
{ grep -v _fixed names; grep _fixed names | slice 2; } >tried
example $(cat tried)

for name in $(cat tried); do
	status=0
	case $name in
	*_fixed)
		snarl test --quiet --runs 300 --out out -- "./$name" 2>err || status=$?
		[ $status = 0 ] || { cat err; fail "$name: exit $status"; }
		;;
	*)
		strategy=$(quickest "$name")
		[ -n "$strategy" ] || fail "$name is not in $table: make bench-strategies WRITE=1"
		snarl test --quiet --strategy "$strategy" --out "$name.out" -- "./$name" 2>err ||
			status=$?
		[ $status = 1 ] ||
			{ cat err; fail "$name: $strategy: exit $status, no bug was proved"; }
		status=0
		snarl replay --quiet --times 3 "$name.out/bugs/B001" >/dev/null 2>err || status=$?
		[ $status = 1 ] || { cat err; fail "$name: exit $status of the replay"; }
		;;
	esac
done
