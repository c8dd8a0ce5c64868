#!/bin/sh
# What snarl-cc and its assembler refuse, with one line and an exit code; --snarl-print; the bytes
# of inlined hooks.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"

echo 'int main(void) { return 0; }' >a.c

# refused CODE TEXT CMD…: exit code CODE and one line that contains TEXT
refused() {
	refused_code=$1 refused_text=$2
	shift 2
	status=0
	"$@" >out 2>err || status=$?
	[ $status = "$refused_code" ] || fail "$*: exit $status instead of $refused_code"
	[ "$(wc -l <err)" = 1 ] || fail "$*: not one line: $(cat err)"
	grep -qF -e "$refused_text" err || fail "$*: says '$(cat err)'"
	[ ! -s out ] || fail "$*: writes to stdout"
}

refused 2 '-fsanitize=address cannot be combined' snarl-cc -fsanitize=address -c a.c
refused 2 '-fsanitize=memory cannot be combined' snarl-c++ -fsanitize=undefined,memory -c a.c
refused 2 'snarl instruments x86-64 code only' snarl-cc -m32 -c a.c
refused 2 'leads back to snarl-cc' env SNARL_CC=snarl-cc snarl-cc -c a.c
refused 2 'leads back to snarl-cc' env SNARL_CC="ccache $SNARL_BUILD/bin/snarl-cc" snarl-cc a.c
refused 3 "cannot run 'no-such-compiler --version'" env SNARL_CC=no-such-compiler snarl-cc -c a.c
refused 3 "cannot run the compiler 'no-such-gcc'" env SNARL_CC=no-such-gcc snarl-cc -c a.c
refused 3 'is neither gcc nor clang' env SNARL_CC=echo snarl-cc -c a.c
refused 3 'SNARL_HOME=/nonexistent' env SNARL_HOME=/nonexistent snarl-cc -c a.c
refused 3 'no libsnarlrt.a under' env SNARL_HOME=/proc snarl-cc -c a.c
echo '@self' >self
refused 2 'too many response files' snarl-cc @self -c a.c

# A compiler with an unknown name is asked for its version.
printf '#!/bin/sh\nexec gcc "$@"\n' >odd && chmod +x odd
SNARL_CC=./odd snarl-cc a.c -o a && ./a || fail "a gcc of another name"

# The assembler does not start itself, even if it is first in PATH.
as=$SNARL_BUILD/libexec/as
printf '\tnop\n' >a.s
PATH=$SNARL_BUILD/libexec:$PATH "$as" a.s -o a.o || fail "as, first in PATH"
"$as" --version | grep -q '^GNU assembler' || fail "as --version"
printf '\tnop\n' | "$as" -o a.o || fail "as, standard input"
printf '\tcall __tsan_read4' >b.s
"$as" b.s a.s -o a.o && nm a.o | grep -q ' U __snarl_tls$' || fail "as, two files"
refused 3 'leads back' env SNARL_REAL_AS="$as" "$as" b.s -o a.o
refused 3 "cannot run the assembler '/nonexistent'" env SNARL_REAL_AS=/nonexistent "$as" a.s -o a.o
status=0
printf '\tbad\n\tcall __tsan_read4\n' | "$as" -o a.o 2>err || status=$?
[ $status = 1 ] && grep -q ':1: Error' err || fail "as, bad text: exit $status, $(cat err)"
printf '#!/bin/sh\nkill -TERM $$\n' >dying && chmod +x dying
status=0
SNARL_REAL_AS=./dying "$as" b.s -o a.o || status=$?
[ $status = 143 ] || fail "as, killed: $status"
# The first bytes of inlined hooks, by which the runtime finds them.
bytes_of() {
	objcopy -O binary -j .text "$1" bytes && od -An -v -tx1 bytes | tr -d ' \n'
}
printf '\tcall __tsan_write16\n' >c.s
begins() {
	got=$(bytes_of a.o)
	case $got in "$1"*) ;; *) fail "as, other bytes: $got" ;; esac
}
"$as" b.s -o a.o
begins 4889f848c1e8030fb704450080ff7f488b0d00000000646639410874
SNARL_AS_PIC=0 "$as" b.s -o a.o
begins 4889f848c1e8030fb704450080ff7f64663904250000000074
"$as" c.s -o a.o
begins 4889f848c1e8038b04450080ff7f488b0d000000006439410c74
SNARL_AS_PIC=0 "$as" c.s -o a.o
begins 4889f848c1e8038b04450080ff7f643904250000000074

snarl-cc --snarl-print -c 'a b.c' >out
grep -q "^SNARL_AS_PIC=0 SNARL_AS_LOOPS=1 gcc .* -c 'a b.c' -specs=" out ||
	fail "--snarl-print: $(cat out)"
