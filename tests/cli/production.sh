#!/bin/sh
# Production builds give the results of native code, with instrumentation asleep, on, or switched
# while running. The symbols in objects and the messages for what --production refuses.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"
here=$SNARL_ROOT/tests/cli/production

# results WHAT PROG WANTED: runs PROG asleep and with everything on
results() {
	"$2" >got 2>&1 || fail "$1: exit $?"
	same "$1, asleep" "$3" got
	SNARL_OPTIONS=active=all "$2" >got 2>&1 || fail "$1, all on: exit $?"
	same "$1, all on" "$3" got
}

echo '0 wrong' >none_wrong
for cc in $(compilers); do
	cxx=$(cxx_of "$cc")
	SNARL_CC=$cc SNARL_CXX=$cxx
	export SNARL_CC SNARL_CXX
	while read -r flags; do
		$cc $flags "$here/mix.c" "$here/mix2.c" -o native
		./native >want
		snarl-cc --production $flags "$here/mix.c" "$here/mix2.c" -o mix 2>err
		[ ! -s err ] || { cat err; fail "$cc $flags: mix.c"; }
		results "$cc $flags, mix.c" ./mix want
	done <<-EOF
	-O0
	-O2
	-O3 -ffunction-sections -Wl,--gc-sections -fcf-protection
	EOF
	for flags in -O0 -O2; do
		$cxx $flags "$here/objects.cc" "$here/objects2.cc" -o native
		./native >want
		snarl-c++ --production $flags "$here/objects.cc" "$here/objects2.cc" -o objects \
			2>err
		[ ! -s err ] || { cat err; fail "$cc $flags: objects.cc"; }
		results "$cc $flags, objects.cc" ./objects want
	done
	snarl-cc --production -O2 -pthread "$here/toggle.c" -o toggle
	results "$cc, toggle.c" ./toggle none_wrong

	# A production library works in programs with and without the runtime.
	$cc -O2 -fPIC -shared "$here/plugin.c" -o plain.so
	snarl-cc --production -O2 -fPIC -shared "$here/plugin.c" -o plugin.so
	$cc "$here/host.c" -o host -ldl
	snarl-cc --production "$here/host.c" -o host_there
	./host ./plain.so >want
	./host ./plugin.so >got || { cat got; fail "$cc: a library in a program without snarl"; }
	same "$cc: a library in a program without snarl" want got
	./host_there ./plugin.so | grep -v of >got
	same "$cc: a library" want got
	! ./host_there ./plugin.so | grep of | grep -v '^none of [23]$' || fail "$cc: asleep"
	! SNARL_OPTIONS=active=all ./host_there ./plugin.so | grep of | grep -v '^all of [23]$' ||
		fail "$cc: a library that is opened is not switched on"

	# An object has instrumented copies of its functions but only one copy of its data.
	snarl-cc --production -O1 -c "$here/mix2.c" -o mix2.o
	nm mix2.o | awk '/[.]inst$/ { print $2, $3 }' >got
	printf 't %s.inst\n' mix2_same mix2_twin twin >want
	same "$cc: nm" want got
	nm mix2.o | grep -c ' [dD] n$' >got
	echo 1 >want
	same "$cc: data has two copies" want got
done

# active=FILE switches on functions with a listed site, and callers of functions without an entry of
# their own.
cat >listed.c <<'EOF'
#include <stdio.h>
extern char f_there, g_there;
unsigned __snarl_dual_switch(const void *f, int on), __snarl_dual_count(unsigned *of);
int x;
__attribute__((noinline)) void f(void) { x++; }
__attribute__((noinline)) void g(void) { x += 2; }
int main(void)
{
	unsigned of, on = __snarl_dual_count(&of);

	/* switching on what is on changes nothing */
	printf("%u of %u: %u %u\n", on, of, __snarl_dual_switch(f, 1), __snarl_dual_switch(g, 1));
	f();
	g();
	return x != 3;
}
EOF
SNARL_CC=gcc SNARL_CXX=g++ snarl-cc --production -O1 -Wl,--build-id listed.c -o listed
id=$(readelf -n listed | sed -n 's/.*Build ID: //p')
place=$(nm listed | awk '$3 == "f.inst" { sub(/^0*/, "", $1); print $1 }')
printf 'snarl-sites 1\n%s\n%s %x\nend\n' "$id" "$id" $((0x$place + 9)) >list
for active in all none "$PWD/list" "$PWD/nothing"; do
	SNARL_OPTIONS=active=$active ./listed
done >got 2>err
cat >want <<'EOF'
3 of 3: 0 0
0 of 3: 1 1
1 of 3: 0 1
0 of 3: 1 1
EOF
same "active=" want got
echo "snarl: no function is instrumented, the list was not used:" \
	"it cannot be opened: $PWD/nothing" >want
same "a list that is not there" want err
snarl doctor --file listed >got
echo 'listed: a production build: 3 functions can be switched,' \
	'0 more are instrumented for their callers, 0 stay plain' >want
same "doctor" want got
snarl doctor --json --file native >got
echo '{"file":"native","production":false,"switchable":0,"inner":0,"plain":0}' >want
same "doctor, another build" want got

# While asleep no shadow memory is reserved.
cat >maps.c <<'EOF'
#include <stdio.h>
#include <string.h>
int main(void)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	int found = 0;

	while (f && fgets(line, sizeof(line), f))
		found |= strncmp(line, "7fff8000-", 9) == 0;
	return found;
}
EOF
snarl-cc --production maps.c -o maps
./maps || fail "shadow memory is mapped"
! SNARL_OPTIONS=active=all ./maps || fail "no shadow memory"

# Options that forbid a second compilation are refused; several sources of one name stay plain, with
# a warning.
refused() {
	status=0
	snarl-cc --production "$@" -c maps.c -o none.o 2>err || status=$?
	[ $status = 2 ] || fail "$*: exit $status"
	grep -q "^snarl-cc: $1 cannot be combined with --production" err || { cat err; fail "$*"; }
}
refused -flto
refused -flto=2 -O2
refused --coverage
refused -masm=intel
snarl-cc --production -flto -fno-lto -c maps.c -o maps.o || fail "-fno-lto"
echo 'int alone(void) { return 1; }' | snarl-cc --production -x c -c - -o stdin.o ||
	fail "standard input"
! nm stdin.o | grep inst || fail "standard input is compiled twice"
mkdir -p a b
echo 'int a(void) { return 1; }' >a/same.c
echo 'int b(void) { return 1; }' >b/same.c
echo 'int a(void), b(void); int main(void) { return a() - b(); }' >main.c
snarl-cc --production a/same.c b/same.c main.c -o several 2>err || fail "two sources of one name"
[ "$(nm several | grep -c '[.]inst$')" = 1 ] ||
	fail "two sources of one name: $(nm several | grep inst)"
grep -q 'not instrumented: several of the sources' err ||
	{ cat err; fail "two sources of one name"; }
./several || fail "two sources of one name: wrong"
