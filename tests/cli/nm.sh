# The visible symbols that the runtime adds to a linked program are exactly those of
# docs/symbols.txt.
. "$SNARL_ROOT/tests/lib.sh"

# Leaves out copied variables of libc (they have a version) and symbols that the linker and libc's
# static part add.
globals() {
	nm -g --defined-only "$1" | awk '{ print $3 }' |
		grep -v -x -E '.*@.*|etext|__executable_start|__pthread_atfork|pthread_atfork' |
		LC_ALL=C sort -u
}

LC_ALL=C sort -c "$SNARL_ROOT/docs/symbols.txt" ||
	fail "docs/symbols.txt is not sorted: make symbols"
echo 'int main(void) { return 0; }' >empty.c
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc empty.c -o with
	"$cc" -g empty.c -o without
	globals with >with.txt
	globals without >without.txt
	LC_ALL=C comm -23 with.txt without.txt >got
	same "$cc: other symbols than docs/symbols.txt says; make symbols if that is meant" \
		"$SNARL_ROOT/docs/symbols.txt" got
done

# Symbols that come with compiled code are hidden, and documented in cc.md.
cat >code.c <<'X'
struct pair { long a, b, c, d; } pair;
int main(void) { pair.a++; pair.b++; pair.c++; pair.d++; return 0; }
X
: >plain.want
cat >production.want <<'X'
__snarl_dual_fini
__snarl_dual_init
__start_snarl_dual
__stop_snarl_dual
X
for cc in $(compilers); do
	"$cc" -g -O1 code.c -o without
	globals without | LC_ALL=C sort -u - "$SNARL_ROOT/docs/symbols.txt" >known
	for what in plain production; do
		option=
		[ $what = plain ] || option=--production
		SNARL_CC=$cc snarl-cc -O1 $option code.c -o with
		globals with | LC_ALL=C comm -23 - known >got
		same "$cc: $what: other symbols than cc.md says" $what.want got
		readelf -sW with |
			awk 'NR == FNR { want[$1]; next }
				$8 in want && $6 != "HIDDEN" { print $8 }' \
			$what.want - >seen
		[ ! -s seen ] || fail "$cc: $what: not hidden: $(tr '\n' ' ' <seen)"
	done
done

# All other global symbols must be names of functions that the runtime interposes: those of OpenMP's
# libraries, and of the C library.
grep -v -E '^(__tsan_|__snarl_|GOMP_|__kmpc_|omp_|ompt_|(WTF)?Annotate)' \
	"$SNARL_ROOT/docs/symbols.txt" |
	grep -v -x -E 'RunningOnValgrind|ValgrindSlowdown' >rest || true
: >unknown
cat >list.c <<'X'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	char name[256];
	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = 0;
		if (!dlsym(RTLD_DEFAULT, name))
			puts(name);
	}
	return 0;
}
X
cc list.c -o list -Wl,--no-as-needed -pthread -ldl -lstdc++ 2>/dev/null || cc list.c -o list -ldl
./list <rest >unknown
[ ! -s unknown ] ||
	fail "global, but neither an entry point nor a C library function: $(tr '\n' ' ' <unknown)"
