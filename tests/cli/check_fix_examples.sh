# For a slice of the examples: check-fix says that the hunted bug is gone in the repaired twin, and
# still there in the example built with shifted lines and another optimisation level.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# check STATUS VERDICTS PROGRAM: checks the bug in found-$name; VERDICTS are separated by |
check() {
	rm -rf out
	status=0
	snarl check-fix --quiet --runs 600 --out out --json "found-$name" -- "./$3" >json 2>err \
		</dev/null || status=$?
	[ $status = "$1" ] || { cat err json; fail "$3: exit $status, not $1"; }
	python3 - "$2" <<-'EOT' || { cat json; fail "$3: the verdict is not $2"; }
		import json, sys
		sys.exit(json.load(open("json"))["verdict"] not in sys.argv[1].split("|"))
	EOT
}

for source in "$SNARL_ROOT"/examples/*_fixed.c; do
	basename "$source" _fixed.c
done | slice 6 >names
for name in $(cat names); do
	example $name ${name}_fixed
	{ printf '/*\n\n\n\n*/\n'; cat "$SNARL_ROOT/examples/$name.c"; } >$name.c
	snarl-cc -O0 -g -pthread $name.c -o $name.anew
	status=0
	snarl hunt --quiet --out "found-$name" -- "./$name" 2>err </dev/null || status=$?
	[ $status = 1 ] || { cat err; fail "hunt $name: exit $status"; }
	check 0 'fixed|undecided' "${name}_fixed"
	# If the cause is only likely, the failure may be due to another interleaving.
	check 1 'not-fixed|incomplete' "$name.anew"
done
