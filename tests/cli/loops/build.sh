# build CC FORM LEVEL OPTIONS…: builds ./prog from loops.c
build() {
	SNARL_CC=$1 form=$2 level=$3
	export SNARL_CC
	shift 3
	rm -f prog
	if [ "$form" = library ]; then
		echo 'int library_main(void); int main(void) { return library_main(); }' >main.c
		snarl-cc "$@" "$level" -w -fPIC -Dmain=library_main -shared loops.c -o libloops.so
		snarl-cc "$@" main.c -L. -lloops -Wl,-rpath,. -pthread -o prog
	else
		snarl-cc "$@" "$level" -w "-f$form" "-$form" loops.c -pthread -o prog
	fi
}
