#!/bin/sh
# All ways to call a compiler (steps, libraries, LTO, response files, -MD …), with gcc and one
# clang: snarl-cc makes the same files, has the same exit codes, and the program works.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"

cat >main.c <<'EOF'
#include <stdio.h>
int add(int);
int global;
int main(void) { global++; printf("%d\n", add(41) + global - 1); return 0; }
EOF
cat >add.c <<'EOF'
int calls; __int128 wide; volatile int seen;
int add(int n) { calls++; wide += n; seen = n; return n + 1; }
EOF
cat >load.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[argc - 1], RTLD_NOW);
	int (*add)(int) = lib ? (int (*)(int))dlsym(lib, "add") : 0;
	if (!add) { puts(dlerror()); return 1; }
	printf("%d\n", add(41));
	return 0;
}
EOF

# ok CMD…: CMD succeeds
ok() {
	"$@" || fail "$cc, $what: $*"
}

# runs PROGRAM ARGS…: it prints 42
runs() {
	runs_got=$("$@") || fail "$cc, $what: $* exits with $?"
	[ "$runs_got" = 42 ] || fail "$cc, $what: $* prints '$runs_got'"
}

# has FILE SYMBOL-PATTERN: nm lists such a symbol
has() {
	nm "$1" | grep -q "$2" || fail "$cc, $what: $1 has no $2"
}

has_not() {
	! nm "$1" | grep -q "$2" || fail "$cc, $what: $1 has $2"
}

modes() {
	what='compile and link in one go'
	ok snarl-cc main.c add.c -o a
	runs ./a
	has a ' T __tsan_init$'
	! readelf -d a | grep -q tsan || fail "$cc: libtsan is linked"
	what='a fence with -Werror'
	cat >fence.cc <<-'EOF'
		#include <atomic>
		int read_flag(const std::atomic<int> *flag)
		{
			int value = flag->load(std::memory_order_relaxed);
			std::atomic_thread_fence(std::memory_order_acquire);
			return value;
		}
	EOF
	ok snarl-c++ -O2 -Wall -Wextra -Werror -c fence.cc
	ok snarl-c++ --production -O2 -Wall -Wextra -Werror -c fence.cc
	what='options of code generation'
	for options in -O0 -O3 -Os '-no-pie -fno-pie' '-fPIC' -fno-plt -masm=intel -pipe \
		-mcmodel=large\ -no-pie\ -fno-pie -gdwarf-4 -gz -fsanitize=thread \
		-fsanitize=undefined \
		-static -static-pie --no-inline -ffunction-sections\ -Wl,--gc-sections; do
		what=$options
		snarl-cc $options main.c add.c -o a || fail "$cc $options does not link"
		runs ./a
	done
	what='separate steps'
	ok snarl-cc -O1 -c main.c add.c
	ok snarl-cc add.o main.o -o a
	runs ./a
	has add.o ' U __snarl_tls$'
	ok snarl-cc --no-inline -c add.c
	has add.o ' U __tsan_write4$'
	has_not add.o __snarl_
	ok env SNARL_INLINE=0 snarl-cc -c add.c
	has_not add.o __snarl_
	ok snarl-cc --snarl-no-instrument -c add.c
	has_not add.o __tsan_
	ok snarl-cc -fno-sanitize=thread -c add.c
	has add.o __tsan_
	what='static library'
	ok snarl-cc -c add.c
	ok ar rc libadd.a add.o
	ok snarl-cc main.c libadd.a -o a
	runs ./a
	what='shared library'
	for defs in -Wl,-z,defs -Wl,--no-undefined '-Xlinker -z -Xlinker defs' '-z defs'; do
		snarl-cc -fPIC -shared $defs add.c -o libadd.so || fail "$cc -shared $defs"
	done
	ok snarl-cc main.c -L. -ladd -Wl,-rpath,. -o a
	runs ./a
	has_not libadd.so ' T __tsan_init$'
	what='dlopen'
	ok snarl-cc load.c -o b
	runs ./b ./libadd.so
	ok snarl-cc -no-pie load.c -o b
	runs ./b ./libadd.so
	what='relocatable object'
	ok snarl-cc -fPIC -r main.c add.c -o all.o
	has_not all.o ' T __tsan_init$'
	ok snarl-cc all.o -o a
	runs ./a
	what='standard input and output'
	ok snarl-cc -x c - -x none add.c -o a <main.c
	runs ./a
	snarl-cc -S -o - add.c | grep -q __tsan_write4 || fail "$cc -S -o -"
	[ "$(echo __SNARL__ | snarl-cc -E -P -x c - | tail -n 1)" = 1 ] || fail "$cc -E"
	what='dependencies'
	rm -f add.o
	ok snarl-cc -MD -MF dep -c add.c
	ok grep -q '^add.o: add.c' dep
	ok test -f add.o
	[ "$(snarl-cc -MM add.c)" = "add.o: add.c" ] || fail "$cc -MM"
	what='no output'
	rm -f add.o
	ok snarl-cc -fsyntax-only add.c
	ok test ! -f add.o
	what='-save-temps'
	mkdir -p temps
	(cd temps && snarl-cc -save-temps -O1 -c ../add.c && ls add.i add.s add.o >/dev/null) ||
		fail "$cc -save-temps"
	grep -q __tsan_write4 temps/add.s || fail "$cc -save-temps: no assembly of the compiler"
	what='assembly by hand'
	printf '%s\n' '	.globl add' 'add:	leal 1(%rdi),%eax' '	ret' \
		'	.section .note.GNU-stack,"",@progbits' >hand.s
	cp hand.s hand2.S
	ok snarl-cc main.c hand.s -o a
	runs ./a
	ok snarl-cc -c hand2.S
	ok snarl-cc main.c hand2.o -o a
	runs ./a
	what='inline assembly'
	cat >asm.c <<'EOF'
/* call __tsan_read4 */
const char text[] = "\n\tcall\t__tsan_read4\n";
int value = 41;
__asm__("# call __tsan_read4\n\t.macro unused\n\tcall __tsan_read4\n\t.endm");
int add(int n)
{
	int got;
	__asm__(".intel_syntax noprefix; mov %0, %1; .att_syntax prefix" : "=r"(got) : "r"(n));
	__asm__ volatile("" : : : "memory");
	return got + value - 40;
}
EOF
	# clang's integrated assembler does not accept mixed syntax.
	case $cc in clang*) gas=-fno-integrated-as ;; *) gas= ;; esac
	ok snarl-cc -O1 $gas main.c asm.c -o a
	runs ./a
	what='errors'
	status=0
	echo 'int f(void) { __asm__("no_such_instruction"); static int x; return x++; }' >bad.c
	rm -f bad.o
	snarl-cc -c bad.c >/dev/null 2>err || status=$?
	[ $status = 1 ] && [ ! -f bad.o ] || fail "$cc: bad assembly gives $status"
	grep -q no_such_instruction err || fail "$cc: no word about the bad assembly"
	status=0
	snarl-cc -c missing.c >/dev/null 2>&1 || status=$?
	[ $status = 1 ] || fail "$cc: a missing file gives $status"
	what='response files'
	printf '%s\n' '-O1 "-DQUOTED=a b"' >inner
	printf '%s\n' '@inner' '-fPIC -shared -o libadd.so' "'add.c'" >outer
	ok snarl-cc @outer
	has libadd.so ' U __snarl_tls$'
	awk 'BEGIN { for (i = 0; i < 10000; i++) printf "-Wl,-L/no/such/folder/number/%d\n", i }' \
		>many
	ok snarl-cc main.c @many add.c -o a	# 300 KB, too long for some execve
	runs ./a
	what='questions'
	[ "$(snarl-cc --version)" = "$($cc --version)" ] || fail "$cc --version"
	[ "$(snarl-cc -dumpmachine)" = "$($cc -dumpmachine)" ] || fail "$cc -dumpmachine"
	[ "$(snarl-cc -print-libgcc-file-name)" = "$($cc -print-libgcc-file-name)" ] ||
		fail "$cc -print"
	snarl-cc '-###' main.c >/dev/null 2>err && grep -q collect2\\\|bin/ld err || fail "$cc -###"
	what='a precompiled header'
	echo 'int add(int);' >pre.h
	ok snarl-cc -x c-header pre.h -o pre.h.gch
	ok test -s pre.h.gch
}

# Link-time optimisation: gcc compiles while linking, and must find our assembler then.
lto() {
	what=-flto
	snarl-cc -O2 -flto -c main.c add.c || fail "$cc -flto -c"
	if snarl-cc -O2 -flto main.o add.o -o a 2>err; then
		runs ./a
		objdump -d a | grep -q 'call.*<__tsan_write4' || fail "$cc -flto: not instrumented"
	else
		case $cc in
		gcc*) cat err && fail "$cc -flto" ;;
		esac	# clang needs a linker plugin of its own version
	fi
}

for cc in $(compilers gcc) $(one_of $(compilers clang clang-19)); do
	export SNARL_CC="$cc"
	modes
	lto
done
