# Sourced by the scripts of tests/cli:  . "$SNARL_ROOT/tests/lib.sh"
#
# They run in an empty folder of their own with
#   SNARL_ROOT   the sources
#   SNARL_BUILD  bin, lib, libexec … to be tested; its bin is first in PATH
#   SNARL_ASAN   not empty if those are built with ASan
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

# programs CC: "NAME SOURCE ARGS…" of all test programs and kernels that do the same
# in every run and end well. A program opts out by "# unstable: why".
programs() {
	for programs_source in "$SNARL_ROOT"/tests/programs/*.c "$SNARL_ROOT"/tests/programs/*.cc; do
		programs_expect=${programs_source%.*}.expect
		[ -e "$programs_expect" ] || continue
		[ -z "$(head_of "$programs_expect" unstable)$(head_of "$programs_expect" exit)" ] || continue
		programs_only=$(head_of "$programs_expect" compilers)
		case " ${programs_only:-$1} " in *" $1 "*) ;; *) continue ;; esac
		programs_name=$(basename "$programs_source")
		echo "${programs_name%.*} $programs_source $(head_of "$programs_expect" args)"
	done
	# Not queue: how often its waits go round is chance.
	for programs_name in fft lu radix ocean barnes counter pipeline; do
		echo "$programs_name $SNARL_ROOT/tests/bench/kernels/$programs_name.c $(small $programs_name)"
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
