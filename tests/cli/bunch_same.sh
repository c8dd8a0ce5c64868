# Accesses that are told as one, each by itself, and with plain calls: the same events. A slice of random programs
# that touch what is close together, in executables of both kinds, in C++, in a library and in one that is opened.
. "$SNARL_ROOT/tests/lib.sh"

# build CC FORM LEVEL OPTIONS…: ./prog of bunch.c
build() {
	SNARL_CC=$1 SNARL_CXX=$(cxx_of $1) form=$2 level="$3 -w -fwrapv"
	export SNARL_CC SNARL_CXX
	shift 3
	rm -f prog libbunch.so
	case $form in
	c++)
		snarl-c++ "$@" $level -x c++ bunch.c -pthread -o prog
		;;
	library | dlopen)
		snarl-cc "$@" $level -fPIC -Dmain=library_main -shared bunch.c -o libbunch.so
		if [ $form = library ]; then
			snarl-cc "$@" main.c -L. -lbunch -Wl,-rpath,. -pthread -o prog
		else
			snarl-cc "$@" open.c -ldl -pthread -o prog
		fi
		;;
	*)
		snarl-cc "$@" $level "-f$form" "-$form" bunch.c -pthread -o prog
		;;
	esac
}

# run NAME: its result, events and the number of records.
run() {
	record "$1.snarl" ./prog
	mv record.out "$1.out"
	events "$1.snarl" all+lines >"$1.txt"
	sed -n 's/.*: \([0-9]*\) records of .*/\1/p' record.err >"$1.records"
}

echo 'int library_main(void); int main(void) { return library_main(); }' >main.c
cat >open.c <<'end'
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./libbunch.so", RTLD_NOW);
	int (*enter)(void) = library ? (int (*)(void))dlsym(library, "library_main") : 0;

	return enter ? enter() : 1;
}
end
for cc in $(compilers); do
	for variant in no-pie:-O0 no-pie:-O1 pie:-O2 no-pie:-O3 c++:-O2 library:-O2 dlopen:-O3; do
		echo "$cc $variant"
	done
done | awk '{ print NR, $0 }' | slice 2 >list
compared=0 fewer=0 expected=0
while read -r seed cc variant; do
	"$tools/bunchgen" $seed >bunch.c
	build $cc ${variant%:*} ${variant#*:}
	run bunches
	build $cc ${variant%:*} ${variant#*:} --no-bunches
	run hooks
	build $cc ${variant%:*} ${variant#*:} --no-inline
	run calls
	same "$cc, seed $seed, $variant: another result" hooks.out bunches.out
	same "$cc, seed $seed, $variant: other events" hooks.txt bunches.txt
	same "$cc, seed $seed, $variant: other events with --no-inline" calls.txt bunches.txt
	compared=$((compared + 1))
	[ ${variant#*:} = -O0 ] || expected=$((expected + 1))
	[ "$(cat bunches.records)" -ge "$(cat hooks.records)" ] || fewer=$((fewer + 1))
done <list
echo "$compared programs, in $fewer of them accesses were told by fewer records"
[ $fewer -ge $expected ] || fail "bunches were not told by one record"
