# Every example compiles without warnings and has a repaired twin; the twin runs and records the
# expected thread events. One compiler per example by turns.
. "$SNARL_ROOT/tests/lib.sh"

for repaired in "$SNARL_ROOT"/examples/*_fixed.c; do
	[ -e "${repaired%_fixed.c}.c" ] || fail "$repaired has no broken twin"
done
for cc in $(compilers); do
	for source in "$SNARL_ROOT"/examples/*.c; do
		echo "$cc $source"
	done
done | by_turns >list
while read -r cc source; do
	name=$(basename "$source" .c)
	SNARL_CC=$cc snarl-cc -O1 -Wall -Wextra -Werror -pthread "$source" -o "$name.$cc"
	case $name in
	*_fixed)
		record "$name.$cc.snarl" "./$name.$cc"
		events "$name.$cc.snarl" thread >got
		cat >want <<'X'
0 start - -
0 create 0.1 =0 main
0 create 0.2 =0 main
0 join 0.1 =0 main
0 join 0.2 =0 main
X
		grep '^0 ' got >main_thread || true
		same "$name, $cc" want main_thread
		;;
	*)
		[ -e "${source%.c}_fixed.c" ] || fail "$name has no repaired twin"
		;;
	esac
done <list
