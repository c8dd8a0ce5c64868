# Checks of the sources: every header compiles alone, no file is too long, rooms include only what
# CONTRIBUTING.md allows, pages name only files that exist, and each room's README lists its files.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
work=$PWD
cd "$SNARL_ROOT"

find src -name '*.[chS]' -o -name '*.def' | LC_ALL=C sort >"$work/sources"
[ "$(wc -l <"$work/sources")" -ge 500 ] || fail "found only $(wc -l <"$work/sources") source files below src"

for header in $(grep '\.h$' "$work/sources") include/*.h; do
	gcc -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -Wall -Wextra -Werror -Wno-unused-function \
		-Wno-unused-variable -fsyntax-only -include "$header" -x c /dev/null ||
		fail "$header does not compile alone"
done

most=900	# one concept per file: longer files hold several
{ cat "$work/sources"; find include tests -name '*.[ch]'; } | xargs wc -l |
	awk -v most=$most '$2 != "total" && $1 > most { print $2 " has " $1 " lines"; bad = 1 } END { exit bad }' ||
	fail "files over $most lines"

# violations DIRECTIONS SOURCES: prints each include that the directions do not allow.
#
# DIRECTIONS has one room per line: its name, then the rooms it may include; +ROOM stands for
# ROOM and all that ROOM may include. A room is a folder of src or one header. A file belongs to
# the room with the longest name that fits its path.
cat >"$work/directions.awk" <<'AWK'
function room_of(path, cut) {
	for (cut = path; cut != ""; ) {
		if (cut in listed)
			return cut
		if (!sub("/[^/]*$", "", cut))
			return ""
	}
	return ""
}
# Adds what ROOM may include to allowed[FOR, …].
function allow(room, want, n, word, i) {
	n = split(listed[room], word, " ")
	for (i = 1; i <= n; i++) {
		if (sub(/^[+]/, "", word[i])) {
			if (!(word[i] in listed)) {
				print "the directions of " room " name " word[i] ", which is no room"
				bad = 1
			}
			if (!((want, word[i]) in expanded)) {
				expanded[want, word[i]] = 1
				allow(word[i], want)
			}
		}
		allowed[want, word[i]] = 1
	}
}
FNR == NR {
	room = $1
	$1 = ""
	listed[room] = $0
	next
}
!ready {
	for (room in listed)
		allow(room, room)
	ready = 1
}
{
	path = substr($0, 5)
	from = room_of(path)
	if (from == "" && path != "main.c") {
		print $0 " is in no room of the directions"
		bad = 1
	}
	for (number = 1; (getline line <$0) > 0; number++) {
		if (path == "main.c" || line !~ /^#include "[a-z0-9_]+\//)
			continue
		split(line, part, "\"")
		to = room_of(part[2])
		if (to != from && !((from, to) in allowed)) {
			print $0 ":" number ": " from " must not include " part[2]
			bad = 1
		}
	}
	close($0)
}
END { exit bad }
AWK
violations() {
	awk -f "$work/directions.awk" "$@"
}

sed -n '/^<!-- directions -->$/,/^<!-- end of directions -->$/s/^    //p' CONTRIBUTING.md >"$work/directions"
[ "$(wc -l <"$work/directions")" -ge 10 ] || fail "CONTRIBUTING.md lists no directions"
violations "$work/directions" "$work/sources" || fail "includes against the directions of CONTRIBUTING.md"

# The check itself: with no room allowed anything, it must complain.
sed 's/ .*//' "$work/directions" >"$work/nothing"
! violations "$work/nothing" "$work/sources" >/dev/null || fail "violations of the directions are not seen"

# named_files FILE…: prints each source file that these pages name and that is not there.
named_files() {
	grep -oE '`(src/)?(abi|analyze|base|cmd|coverage|explore|learn|report|runtime|sched|symbol|trace|wrap)/[a-z_0-9/]+\.(c|h|S|def)`' \
		/dev/null "$@" | tr -d '`' | while IFS=: read -r page path; do
		[ -e "src/${path#src/}" ] || echo "$page names $path"
	done
}
named_files docs/*.md docs/internals/*.md CONTRIBUTING.md README.md >"$work/named"
[ ! -s "$work/named" ] || { cat "$work/named"; fail "pages name files that are not there"; }

# unlisted SOURCE…: prints each source file that the README of its folder does not name in
# backquotes, with or without a suffix.
unlisted() {
	for path; do
		folder=${path%/*} file=${path##*/}
		[ "$folder" != src ] || continue	# CONTRIBUTING.md has a line for main.c
		grep -q "\`${file%.*}[.\`]" "$folder/README.md" || echo "$folder/README.md does not list $file"
	done
}
unlisted $(cat "$work/sources") >"$work/unlisted" 2>&1
[ ! -s "$work/unlisted" ] || { cat "$work/unlisted"; fail "files that the README of their room does not list"; }
[ -n "$(unlisted src/sched/no_such_file.c)" ] || fail "a file that no README lists is not seen"
