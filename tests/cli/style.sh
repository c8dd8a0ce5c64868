# Checks of the sources: every header compiles alone, no file is too long, rooms include only what
# CONTRIBUTING.md allows, the README of each room names its files, and pages name only files that
# exist.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
work=$PWD
cd "$SNARL_ROOT"

find src -name '*.[chS]' -o -name '*.def' | LC_ALL=C sort >"$work/sources"
[ "$(wc -l <"$work/sources")" -ge 500 ] ||
	fail "found only $(wc -l <"$work/sources") source files below src"

for header in $(grep '\.h$' "$work/sources") include/*.h; do
	gcc -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -Wall -Wextra -Werror -Wno-unused-function \
		-Wno-unused-variable -fsyntax-only -include "$header" -x c /dev/null ||
		fail "$header does not compile alone"
done

most=900	# one concept per file: longer files hold several
{ cat "$work/sources"; find include tests -name '*.[ch]'; } | xargs wc -l |
	awk -v most=$most '$2 != "total" && $1 > most { print $2 " has " $1 " lines"; bad = 1 }
		END { exit bad }' ||
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
				print "the directions of " room " name " word[i] ", no room"
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

sed -n '/^<!-- directions -->$/,/^<!-- end of directions -->$/s/^    //p' CONTRIBUTING.md \
	>"$work/directions"
[ "$(wc -l <"$work/directions")" -ge 10 ] || fail "CONTRIBUTING.md lists no directions"
violations "$work/directions" "$work/sources" ||
	fail "includes against the directions of CONTRIBUTING.md"

# The check itself: with no room allowed anything, it must complain.
sed 's/ .*//' "$work/directions" >"$work/nothing"
! violations "$work/nothing" "$work/sources" >/dev/null ||
	fail "violations of the directions are not seen"

# unnamed_files ROOMS: prints each source file that the README of its folder does not name, and each
# file in the first column of a table there that does not exist. A README names `x.c` as `x.c`,
# `x.h`, `x.c/.h` or `x`.
unnamed_files() {
	find "$1" -mindepth 1 -type d | LC_ALL=C sort | while read -r room; do
		[ -e "$room/README.md" ] || { echo "$room has no README.md"; continue; }
		awk '{
			n = split($0, part, "`")
			for (i = 2; i <= n; i += 2) {
				sub(/[.\/].*/, "", part[i])
				print part[i]
			}
		}' "$room/README.md" >"$work/stems"
		for file in "$room"/*.[chS] "$room"/*.def; do
			stem=${file##*/}
			stem=${stem%.*}
			[ ! -e "$file" ] || grep -qxF "$stem" "$work/stems" ||
				echo "$room/README.md does not name ${file##*/}"
		done
		grep '^|' "$room/README.md" | cut -d'|' -f2 |
			grep -oE '`[a-z0-9_]+\.(c|h|S|def)[`/]' | tr -d '`/' |
			while read -r file; do
				[ -e "$room/$file" ] ||
					echo "$room/README.md names $file, which does not exist"
			done
	done
}
unnamed_files src >"$work/unnamed"
[ ! -s "$work/unnamed" ] || { cat "$work/unnamed"; fail "READMEs of rooms are not up to date"; }

# The check itself: it finds a file without a line and a line without a file.
mkdir -p "$work/rooms/room"
printf '| `old.c` | |\n| `both` | |\n' >"$work/rooms/room/README.md"
touch "$work/rooms/room/new.c" "$work/rooms/room/both.c" "$work/rooms/room/both.h"
[ "$(unnamed_files "$work/rooms" | wc -l)" = 2 ] || fail "the check of READMEs misses files"

# named_files FILE…: prints each source file that these pages name and that is not there.
named_files() {
	rooms='abi|analyze|base|cmd|coverage|explore|learn|report|runtime|sched|symbol|trace|wrap'
	grep -oE "\`(src/)?($rooms)/[a-z_0-9/]+\.(c|h|S|def)\`" \
		/dev/null "$@" | tr -d '`' | while IFS=: read -r page path; do
		[ -e "src/${path#src/}" ] || echo "$page names $path"
	done
}
named_files docs/*.md docs/internals/*.md CONTRIBUTING.md README.md >"$work/named"
[ ! -s "$work/named" ] || { cat "$work/named"; fail "pages name files that are not there"; }

# unknown_names FILE…: prints each name_with_underscore in backquotes that no source contains, and
# that is no file's name.
unknown_names() {
	grep -ohE '`[a-z0-9]+(_[a-z0-9]+)+(\(\))?`' "$@" | tr -d '`()' | sort -u >"$work/words"
	{
		grep -rhowFf "$work/words" --include='*.[chS]' --include='*.cc' --include='*.def' \
			--include='*.py' --include=Makefile src tests examples Makefile
		find src tests -type f | sed 's|.*/||; s|\..*||'
	} | sort -u | comm -23 "$work/words" -
}
unknown_names docs/internals/architecture.md src/README.md $(find src -name README.md) \
	>"$work/unknown"
[ ! -s "$work/unknown" ] || { cat "$work/unknown"; fail "pages name functions that are not there"; }
echo '`no_such_function()`' >"$work/page"
[ "$(unknown_names "$work/page")" = no_such_function ] ||
	fail "names without a function are not seen"

# long_lines FILE…: prints each line of more than 100 columns; a tab ends at a multiple of 8, and a
# character is one column.
long_lines() {
	LC_ALL=C awk -v most=100 '{
		gsub(/[\200-\277]/, "")
		n = split($0, part, "\t")
		width = 0
		for (i = 1; i < n; i++)
			width += 8 * int(length(part[i]) / 8) + 8
		if (width + length(part[n]) > most)
			print FILENAME ":" FNR ": " width + length(part[n]) " columns"
	}' "$@"
}
# Exceptions: generated pictures, data of tests (recorded bugs and events, inputs of fuzzers), and a
# file of the compiler, each line of which is one value.
find CONTRIBUTING.md README.md Makefile docs examples include scripts src tests -type f \
	! -name '*.svg' ! -name '*.png' ! -name '*.snarl' ! -name '*.expect' ! -name '*.pyc' \
	! -path 'tests/cli/report/*/bug.json' ! -path 'tests/fuzz/schedules/*' \
	! -path 'tests/fuzz/corpus/*' ! -path src/wrap/snarl-gcc.specs >"$work/texts"
[ "$(wc -l <"$work/texts")" -ge 1400 ] || fail "found only $(wc -l <"$work/texts") files of text"
long_lines $(cat "$work/texts") >"$work/long"
[ ! -s "$work/long" ] || { cat "$work/long"; fail "lines over 100 columns"; }

# The check itself: 101 columns, by a tab behind 93 characters, of which some have two bytes.
printf '%091d…é\t1234\n%091d…é\t12345\n' 0 0 >"$work/wide"
[ "$(long_lines "$work/wide")" = "$work/wide:2: 101 columns" ] ||
	fail "a line of 101 columns is not seen: $(long_lines "$work/wide")"
