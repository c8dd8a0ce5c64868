# Small copies and fills become plain accesses; the events are the same as with calls of memcpy, and
# in loops without hooks. Random programs (tests/tools/copygen.c) in pie and no-pie executables, C++
# and a library.
. "$SNARL_ROOT/tests/lib.sh"

# build CC FORM LEVEL OPTIONS…: builds ./prog of copies.c
build() {
	SNARL_CC=$1 SNARL_CXX=$(cxx_of $1) form=$2 level=$3
	export SNARL_CC SNARL_CXX
	shift 3
	rm -f prog
	case $form in
	c++)
		snarl-c++ "$@" "$level" -w -x c++ copies.c -pthread -o prog
		;;
	library)
		snarl-cc "$@" "$level" -w -fPIC -Dmain=library_main -shared copies.c -o libcopies.so
		snarl-cc "$@" main.c -L. -lcopies -Wl,-rpath,. -pthread -o prog
		;;
	*)
		snarl-cc "$@" "$level" -w "-f$form" "-$form" copies.c -pthread -o prog
		;;
	esac
}

# run NAME: records ./prog: output to NAME.out, events on shared variables to NAME.txt. Only those
# are compared, because the filter may keep more or fewer events of private memory.
run() {
	record "$1.snarl" ./prog
	mv record.out "$1.out"
	events "$1.snarl" all+lines | grep -E ' (array|other)[0-9]|bytes' >"$1.txt"
}

# calls_in: counts calls of memcpy, memmove and memset in the functions of ./prog
calls_in() {
	objdump -d --no-show-raw-insn prog | awk '
	/^[0-9a-f]+ </ { ours = $2 ~ /^<f[0-9]+>/ }
	ours && /call.*<(__tsan_)?mem(cpy|move|set)/ { count++ }
	END { print count + 0 }'
}

echo 'int library_main(void); int main(void) { return library_main(); }' >main.c
for cc in $(compilers gcc clang clang-19); do
	variants='no-pie:-O0 pie:-O2 c++:-O1'
	[ $cc != clang ] ||
		variants='no-pie:-O0 no-pie:-O1 pie:-O2 no-pie:-O3 c++:-O0 c++:-O2 library:-O2'
	for variant in $variants; do
		echo "$cc $variant"
	done
done | awk '{ print NR, $0 }' | slice 2 >list
compared=0 gone=0
while read -r seed cc variant; do
	"$tools/copygen" $seed >copies.c
	build $cc ${variant%:*} ${variant#*:} --no-inline
	run calls
	before=$(calls_in)
	build $cc ${variant%:*} ${variant#*:} --no-loops
	run hooks
	same "$cc, seed $seed, $variant: another result" calls.out hooks.out
	same "$cc, seed $seed, $variant: other events" calls.txt hooks.txt
	build $cc ${variant%:*} ${variant#*:}
	run loops
	same "$cc, seed $seed, $variant: another result of loops" calls.out loops.out
	# Compare without lines: code without a line of its own may get that of the code before it.
	sed 's/ [^ ]*$//' calls.txt >calls.events
	sed 's/ [^ ]*$//' loops.txt >loops.events
	same "$cc, seed $seed, $variant: other events of loops" calls.events loops.events
	gone=$((gone + before - $(calls_in)))
	case $variant in
	c++*) $(cxx_of $cc) -w -x c++ copies.c -pthread -o plain ;;
	*) $cc -w copies.c -pthread -o plain ;;
	esac
	./plain >plain.out
	same "$cc, seed $seed, $variant: not what the program does" plain.out calls.out
	compared=$((compared + 1))
done <list
echo "$compared programs, $gone calls gone"
[ $gone -gt $((compared * 5)) ] || fail "copies are still calls"
