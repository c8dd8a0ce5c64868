# Only the documented symbols of the runtime are visible in a linked program.
. "$SNARL_ROOT/tests/lib.sh"

# Not counted: variables of libc that the linker copied here because the runtime uses
# them (they have a version), and what the linker itself and libc's static half add.
globals() {
	nm -g --defined-only "$1" | awk '{ print $3 }' |
		grep -v -x -E '.*@.*|etext|__executable_start|__pthread_atfork|pthread_atfork' | LC_ALL=C sort -u
}

LC_ALL=C sort -c "$SNARL_ROOT/docs/symbols.txt" || fail "docs/symbols.txt is not sorted: make symbols"
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

# Nothing but the entry points of the compilers and the names of libc functions:
# our own names are local, but for the few that other parts need.
grep -v -E '^(__tsan_|__snarl_|(WTF)?Annotate|RunningOnValgrind$|ValgrindSlowdown$)' "$SNARL_ROOT/docs/symbols.txt" >rest || true
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
[ ! -s unknown ] || fail "global, but neither an entry point nor a C library function: $(tr '\n' ' ' <unknown)"
