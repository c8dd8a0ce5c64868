# What a glance at the sources can check: headers that compile alone, files of
# bearable length, folders that include only what is to their left.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
cd "$SNARL_ROOT"

for header in src/*/*.h include/*.h; do
	gcc -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -Wall -Wextra -Werror -Wno-unused-function \
		-Wno-unused-variable -fsyntax-only -include "$header" -x c /dev/null ||
		fail "$header does not compile alone"
done

wc -l src/*.c src/*/*.c src/*/*.h src/*/*.S include/*.h tests/*/*.c 2>/dev/null |
	awk '$2 != "total" && $1 > 500 { print $2 " has " $1 " lines"; bad = 1 } END { exit bad }' ||
	fail "files over 500 lines"

# allowed FOLDER OTHERS…: what the files of a folder may include, beside their own.
allowed() {
	folder=$1
	shift
	pattern=$(echo "$folder $*" | sed 's/ /|/g')
	found=$(grep -n -E '^#include "[a-z]+/' src/$folder/*.[chS] | grep -v -E "#include \"($pattern)/" || true)
	[ -z "$found" ] || { echo "$found"; fail "src/$folder includes what it must not"; }
}
allowed base
allowed trace base runtime sched
allowed symbol base trace
allowed analyze base trace symbol sched
allowed wrap base trace runtime
allowed sched
allowed runtime trace sched
allowed learn base trace symbol analyze sched
allowed explore base trace symbol analyze sched runtime
allowed report base trace symbol analyze explore sched
# Of the runtime only interface.h is for the tool, but the inlining needs the offsets.
found=$(grep -n '"runtime/' src/base/* src/trace/* src/symbol/* src/explore/* src/report/* src/cmd/* src/main.c |
	grep -v '"runtime/interface.h"' || true)
[ -z "$found" ] || { echo "$found"; fail "the tool may include runtime/interface.h only"; }
# Of the trace, the runtime takes format, codec and list of sites: nothing that allocates or prints.
found=$(grep -n '"trace/' src/runtime/* | grep -v -E '"trace/(format.h|codec.h|loop.h|bunch.h|sitelist.h|kinds.def|kinds.h|step.h|dual.h|rules.h|watchlog.h|queue.h)"' || true)
[ -z "$found" ] || { echo "$found"; fail "the runtime may include trace/format.h, codec.h, loop.h, bunch.h, sitelist.h, step.h, dual.h, rules.h, watchlog.h and queue.h only"; }
