# One program gives the same events with gcc and clang, as C and C++, at -O0 to -O3, pie and not,
# with its library linked statically, dynamically or by dlopen. A slice of these combinations.
. "$SNARL_ROOT/tests/lib.sh"
dir=$SNARL_ROOT/tests/cli/matrix

# For C++, only events on the program's own variables: std::thread keeps its state on the heap and
# accesses it differently at each level. Constructors before main are optimised away from -O1 on.
# Names without scope and arguments.
own_variables() {
	grep -E '^[^ ]+ [^ ]+ (counter|slots|lib_total|flag|lock_|square|shape)' |
		sed -E ':again; s/<[^<>]*>//g; tagain; s/\(.*//; s/ [^ ]*::([^ :]*)$/ \1/' |
		grep -v -E '^0 write square'
}

# one CC LANGUAGE LEVEL PIE: builds and checks the three programs in a folder of their own
one() {
	mkdir "$1$2$3$4"
	cd "$1$2$3$4"
	SNARL_CC=$1 SNARL_CXX=$(cxx_of "$1")
	export SNARL_CC SNARL_CXX
	case $4 in pie) compile=-fpie link=-pie ;; *) compile=-fno-pie link=-no-pie ;; esac
	case $2 in
	c) wrap=snarl-cc main=main.c as= ;;
	*) wrap=snarl-c++ main=main.cc as='-x c++' ;;
	esac
	$wrap "$3" $compile -c $as "$dir/lib.c" -o lib.o
	$wrap "$3" -fPIC -c $as "$dir/lib.c" -o lib.pic.o
	$wrap "$3" $compile -c "$dir/$main" -o main.o
	$wrap "$3" $compile -DDLOPEN -c "$dir/$main" -o main.dl.o
	ar rc libmatrixs.a lib.o
	$wrap -shared lib.pic.o -o libmatrix.so
	$wrap $link main.o libmatrixs.a -pthread -o static
	$wrap $link main.o -L. -lmatrix -Wl,-rpath,. -pthread -o shared
	$wrap $link main.dl.o -pthread -ldl -o dlopen
	for how in static shared dlopen; do
		RECORD_OPTIONS= record $how.snarl ./$how
		if [ "$2" = c ]; then
			# Leave out the pointers that dlsym() fills, and the stack: it is private,
			# but the filter may keep parts.
			events $how.snarl access,atomic,mutex,barrier,thread |
				grep -v -E ' (add|get|account|stack|[?]) ' >$how.got
			cp "$dir/c.expect" want
		else
			events $how.snarl access,atomic,mutex | own_variables >$how.got
			cp "$dir/cc.expect" want
		fi
		# Which thread leaves the barrier last, and gets -1, is chance.
		sed -i 's/^\(.*barrier-leave.* =\)-1 /\10 /' $how.got
		same "$1 $2 $3 $4 $how" want $how.got
	done
	cd ..
	rm -rf "$1$2$3$4"
}

if [ "${1:-}" = --one ]; then
	shift
	log=$PWD/$1$2$3$4.log
	exec 3>&1 >"$log" 2>&1
	trap '[ $? = 0 ] || { echo "--- $*"; tail -n 50 "$log"; } >&3' EXIT
	one "$@"
	exit 0
fi

for cc in $(compilers gcc clang); do
	for language in c cc; do
		for level in -O0 -O1 -O2 -O3; do
			for pie in pie nopie; do
				echo "$cc $language $level $pie"
			done
		done
	done
done | slice 3 >configurations
for cc in $(compilers clang-19); do
	printf '%s c -O2 pie\n%s cc -O0 nopie\n' "$cc" "$cc"
done >>configurations
xargs -P 2 -L 1 sh "$0" --one <configurations
echo "$(($(wc -l <configurations) * 3)) programs"
