# Sourced by the scripts of tests/cli:  . "$SNARL_ROOT/tests/lib.sh"
#
# They run in an empty folder of their own with
#   SNARL_ROOT   the sources
#   SNARL_BUILD  bin, lib, libexec … to be tested; its bin is first in PATH
#   SNARL_ASAN   not empty if those are built with ASan
#   SNARL_CACHE  where compile keeps programs; without it nothing is kept
#   LONG         not empty if all is to be tested, ROTATE  else the number of the slice
# Exit 0: passed; 77: skipped, the last line of output says why; else failed.
set -eu

tools=$SNARL_ROOT/build/tests/tools

# The runtime may keep a private access by chance of its address (runtime/record/shadow.c);
# where addresses are the same in every run, so are the events.
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

# need CMD…: skips the test if one is not installed.
need() {
	for need_cmd in "$@"; do
		command -v "$need_cmd" >/dev/null 2>&1 || skip "no $need_cmd"
	done
}

# same WHAT WANTED GOT: two files, or a failure that shows the difference.
same() {
	cmp -s "$2" "$3" && return 0
	diff -u "$2" "$3" | head -n 40
	fail "$1"
}

# compilers: the installed ones among gcc and clang; default, or those given.
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

# record TRACE PROG ARGS…: quietly, with RECORD_OPTIONS; the program must succeed.
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

# events TRACE [CLASSES]: normalised, as in tests/programs.
events() {
	snarl dump --json "$1" | "$tools/normalize" "${2:-default}"
}

# small KERNEL: arguments that make a kernel of tests/bench short.
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

# head_of FILE KEY: the value after "# KEY:" at the top of a .expect file.
head_of() {
	[ ! -e "$1" ] || sed -n "/^#/!q; s/^# *$2: *//p" "$1"
}

# flags_of SOURCE: the compiler flags that its first line asks for.
flags_of() {
	flags_asked=$(sed -n '1s/^\/\* *flags: *\(.*\) *\*\/.*/\1/p' "$1")
	echo "${flags_asked:--O1 -pthread}"
}

# wrap CC SOURCE OUTPUT OPTIONS…: snarl-cc or snarl-c++ by the name of the source.
wrap() {
	wrap_cc=$1 wrap_source=$2 wrap_output=$3
	shift 3
	case $wrap_source in
	*.cc) SNARL_CXX=$(cxx_of "$wrap_cc") snarl-c++ "$wrap_source" -o "$wrap_output" "$@" ;;
	*) SNARL_CC=$wrap_cc snarl-cc "$wrap_source" -o "$wrap_output" "$@" ;;
	esac
}

# compile CC SOURCE OUTPUT OPTIONS…: as wrap, for programs that several tests compile alike. SOURCE
# is an absolute path, and OPTIONS name no files. tests/run keeps what was compiled for as long as
# snarl-cc, the runtime and the compilers stay the same; a test of snarl-cc itself calls wrap.
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
	# In a folder that stays: debug information names it. By rename, because tests run in parallel.
	[ -e "$compile_cached" ] || {
		(cd "$SNARL_CACHE" && wrap "$compile_cc" "$compile_source" "$compile_cached.$$" "$@") &&
			mv "$compile_cached.$$" "$compile_cached"
	} || return
	cp "$compile_cached" "$compile_output"
}

# example NAME…: compiles ./NAME of examples/NAME.c, two at a time.
example() {
	printf '%s\n' "$@" | xargs -P 2 -I '{}' sh -c '
		. "$SNARL_ROOT/tests/lib.sh"
		compile gcc "$SNARL_ROOT/examples/{}.c" "{}" -g -O1 -pthread || exit 255' || fail "an example does not compile"
}

# slice N: every Nth of the lines of stdin, of which there are N at least; ROTATE says from which
# one on. All lines with LONG.
slice() {
	awk -v n="$1" -v at="${ROTATE:-0}" -v long="${LONG:-}" 'long || (NR + at) % n == 0'
}

# by_turns: of the lines "COMPILER NAME …" of stdin one for each NAME, so that the compilers
# share the programs, by ROTATE; all lines with LONG.
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

# one_of WORD…: one of them, by ROTATE; all with LONG.
one_of() {
	[ $# = 0 ] || printf '%s\n' "$@" | slice $#
}

# programs: "COMPILER NAME SOURCE ARGS…" of all test programs and kernels that do the same
# in every run and end well. A program opts out by "# unstable: why".
programs() {
	for programs_cc in $(compilers); do
		programs_of "$programs_cc"
	done | by_turns
}

# programs_of COMPILER: its lines of programs.
programs_of() {
	for programs_source in "$SNARL_ROOT"/tests/programs/*.c "$SNARL_ROOT"/tests/programs/*.cc; do
		programs_expect=${programs_source%.*}.expect
		[ -e "$programs_expect" ] || continue
		[ -z "$(head_of "$programs_expect" unstable)$(head_of "$programs_expect" exit)" ] || continue
		programs_only=$(head_of "$programs_expect" compilers)
		case " ${programs_only:-$1} " in *" $1 "*) ;; *) continue ;; esac
		programs_name=$(basename "$programs_source")
		echo "$1 ${programs_name%.*} $programs_source $(head_of "$programs_expect" args)"
	done
	# Not queue: how often its waits go round is chance.
	for programs_name in fft lu radix ocean barnes counter pipeline; do
		echo "$1 $programs_name $SNARL_ROOT/tests/bench/kernels/$programs_name.c $(small $programs_name)"
	done
}

# agree A B: runs the commands `A N` and `B N`, which write N.txt of their own, until
# both once gave the same: 0. If they never do in five rounds: 1 if each always gave
# the same, else 2, because the program does not do the same in every run.
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
