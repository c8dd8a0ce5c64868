# -static and -static-pie programs, in C and C++, record the events of the dynamic program.
. "$SNARL_ROOT/tests/lib.sh"
programs=$SNARL_ROOT/tests/programs

for name in mutex_calls.c cond_calls.c c11_threads.c signal_thread.c cxx_sync.cc \
	cxx_exceptions.cc; do
	source=$programs/$name
	expect=${source%.*}.expect
	classes=$(head_of "$expect" classes)
	grep -v -e '^#' -e '^ *$' "$expect" >want
	for how in -static -static-pie; do
		wrap gcc "$source" prog $(flags_of "$source") $how
		RECORD_OPTIONS=$(head_of "$expect" options) record t.snarl ./prog \
			$(head_of "$expect" args)
		# Functions of libc and libgcc are in the executable, so here they have names.
		events t.snarl ${classes:-default} |
			sed '/ object_mutex /d; / once_regsizes/d; / __run_exit_handlers$/d
			     s/ __libc_start_call_main$/ -/' >got
		same "$name $how" want got
	done
done
