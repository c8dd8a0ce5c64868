# Sourced by the scripts of tests/cli:  . "$SNARL_ROOT/tests/lib.sh"
#
# Each script runs in an empty folder of its own, with these variables:
#   SNARL_ROOT   the sources
#   SNARL_BUILD  the build to be tested (bin, lib, libexec …); its bin is first in PATH
#   SNARL_ASAN   not empty if that build uses ASan
#   SNARL_CACHE  where compile keeps programs; empty: nowhere
#   LONG         not empty: test everything; otherwise ROTATE is the number of the slice
# Exit status 0: passed; 77: skipped, and the last line of output says why; any other: failed.
set -eu

tools=$SNARL_ROOT/build/tests/tools

# Whether the filter keeps a private access may depend on its address (runtime/record/shadow.c).
# Without address randomisation, every run of a program gives equal addresses and so equal events.
fixed=
! setarch -R true 2>/dev/null || fixed='setarch -R'

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# need CMD…: skips the test if a command is not installed.
need() {
	for need_cmd in "$@"; do
		command -v "$need_cmd" >/dev/null 2>&1 || skip "no $need_cmd"
	done
}

# same WHAT WANTED GOT: fails with WHAT and a diff unless the two files are equal.
same() {
	cmp -s "$2" "$3" && return 0
	diff -u "$2" "$3" | head -n 40
	fail "$1"
}

# compilers [NAME…]: prints those of NAME… that are installed; default gcc and clang.
compilers() {
	for compilers_cc in ${*:-gcc clang}; do
		command -v "$compilers_cc" >/dev/null 2>&1 && echo "$compilers_cc"
	done
	return 0
}

# cxx_of CC: the C++ compiler of the same family and version.
cxx_of() {
	case $1 in
	gcc*) echo "g++${1#gcc}" ;;
	*) echo "clang++${1#clang}" ;;
	esac
}

# record TRACE PROG ARGS…: records silently, with RECORD_OPTIONS; fails unless the program exits
# with 0.
record() {
	record_trace=$1
	shift
	record_status=0
	$fixed snarl record --exit-code --out "$record_trace" ${RECORD_OPTIONS:-} -- "$@" \
		>record.out 2>record.err </dev/null || record_status=$?
	[ $record_status = 0 ] && return 0
	cat record.out record.err
	fail "snarl record $*: exit $record_status"
}

# events TRACE [CLASSES]: prints the normalised events, as in tests/programs/README.md.
events() {
	snarl dump --json "$1" | "$tools/normalize" "${2:-default}"
}

# small KERNEL: prints arguments that make a kernel of tests/bench run briefly.
small() {
	case $1 in
	fft) echo 2 32 ;;
	lu) echo 4 ;;
	radix) echo 1 4096 ;;
	ocean) echo 3 32 ;;
	barnes) echo 2 100 ;;
	pipeline) echo 6 ;;
	*) echo 2000 ;;
	esac
}

# head_of FILE KEY: prints the value after "# KEY:" at the top of a .expect file.
head_of() {
	[ ! -e "$1" ] || sed -n "/^#/!q; s/^# *$2: *//p" "$1"
}

# flags_of SOURCE: prints the compiler flags that the first line of SOURCE asks for.
flags_of() {
	flags_asked=$(sed -n '1s/^\/\* *flags: *\(.*\) *\*\/.*/\1/p' "$1")
	echo "${flags_asked:--O1 -pthread}"
}

# wrap CC SOURCE OUTPUT OPTIONS…: compiles with snarl-cc, or with snarl-c++ if SOURCE ends with .cc.
wrap() {
	wrap_cc=$1 wrap_source=$2 wrap_output=$3
	shift 3
	case $wrap_source in
	*.cc) SNARL_CXX=$(cxx_of "$wrap_cc") snarl-c++ "$wrap_source" -o "$wrap_output" "$@" ;;
	*) SNARL_CC=$wrap_cc snarl-cc "$wrap_source" -o "$wrap_output" "$@" ;;
	esac
}

# compile CC SOURCE OUTPUT OPTIONS…: like wrap, but reuses a program that another test compiled in
# the same way. SOURCE is an absolute path, and OPTIONS name no files. tests/run keeps the programs
# as long as snarl-cc, the runtime and the compilers stay the same. Tests of snarl-cc itself call
# wrap.
compile() {
	[ -n "${SNARL_CACHE:-}" ] || { wrap "$@"; return; }
	compile_cc=$1 compile_source=$2 compile_output=$3
	shift 3
	compile_key=$({
		echo "$compile_cc $compile_source $*"
		cat "$compile_source"
		cd "$(dirname "$compile_source")"
		cat $(sed -n 's/^#include "\(.*\)"/\1/p' "$compile_source") ./*.h 2>/dev/null || :
	} | sha256sum)
	compile_cached=$SNARL_CACHE/${compile_key%% *}
	# Compile in a folder that stays, because the debug information names it. Rename at the end,
	# because tests run in parallel.
	[ -e "$compile_cached" ] || {
		(cd "$SNARL_CACHE" &&
			wrap "$compile_cc" "$compile_source" "$compile_cached.$$" "$@") &&
			mv "$compile_cached.$$" "$compile_cached"
	} || return
	cp "$compile_cached" "$compile_output"
}

# example NAME…: compiles examples/NAME.c to ./NAME, two at a time.
example() {
	printf '%s\n' "$@" | xargs -P 2 -I '{}' sh -c '
		. "$SNARL_ROOT/tests/lib.sh"
		compile gcc "$SNARL_ROOT/examples/{}.c" "{}" -g -O1 -pthread ||
			exit 255' || fail "an example does not compile"
}

# slice N: prints every Nth line of stdin, the first one chosen by ROTATE; all lines with LONG.
# stdin needs at least N lines, otherwise the slice may be empty.
slice() {
	awk -v n="$1" -v at="${ROTATE:-0}" -v long="${LONG:-}" 'long || (NR + at) % n == 0'
}

# by_turns: of the lines "COMPILER NAME …" of stdin, prints one for each NAME. ROTATE decides which,
# so over many commits each compiler builds each program. With LONG, prints all lines.
by_turns() {
	awk -v at="${ROTATE:-0}" -v long="${LONG:-}" '
		long { print; next }
		!($2 in lines) { name[++names] = $2 }
		{ line[$2, lines[$2]++] = $0 }
		END {
			for (i = 1; i <= names; i++)
				print line[name[i], (i + at) % lines[name[i]]]
		}'
}

# one_of WORD…: prints one of the words, chosen by ROTATE; all with LONG.
one_of() {
	[ $# = 0 ] || printf '%s\n' "$@" | slice $#
}

# programs: prints "COMPILER NAME SOURCE ARGS…" for the test programs and kernels that do the same
# in every run and exit with 0. A program opts out by a line "# unstable: why" in its .expect file.
programs() {
	for programs_cc in $(compilers); do
		programs_of "$programs_cc"
	done | by_turns
}

# programs_of COMPILER: prints the lines of one compiler.
programs_of() {
	for programs_source in "$SNARL_ROOT"/tests/programs/*.c \
		"$SNARL_ROOT"/tests/programs/*.cc; do
		programs_expect=${programs_source%.*}.expect
		[ -e "$programs_expect" ] || continue
		[ -z "$(head_of "$programs_expect" unstable)$(head_of "$programs_expect" exit)" ] ||
			continue
		programs_only=$(head_of "$programs_expect" compilers)
		case " ${programs_only:-$1} " in *" $1 "*) ;; *) continue ;; esac
		programs_name=$(basename "$programs_source")
		echo "$1 ${programs_name%.*} $programs_source $(head_of "$programs_expect" args)"
	done
	# Not queue: how often its waiting loop iterates is chance.
	for programs_name in fft lu radix ocean barnes counter pipeline; do
		echo "$1 $programs_name" \
			"$SNARL_ROOT/tests/bench/kernels/$programs_name.c $(small $programs_name)"
	done
}

# agree A B: runs the commands `A N` and `B N` in rounds; each writes its output to N.txt. Returns 0
# as soon as an output of A equals one of B. After five rounds without that: 1 if each command
# always gave the same output, else 2, because the program does not do the same in every run.
agree() {
	agree_round=1
	while [ $agree_round -le 5 ]; do
		"$1" a$agree_round
		"$2" b$agree_round
		for agree_a in a?.txt; do
			for agree_b in b?.txt; do
				! cmp -s $agree_a $agree_b || return 0
			done
		done
		agree_round=$((agree_round + 1))
	done
	for agree_round in 2 3 4 5; do
		cmp -s a1.txt a$agree_round.txt && cmp -s b1.txt b$agree_round.txt || return 2
	done
	return 1
}
