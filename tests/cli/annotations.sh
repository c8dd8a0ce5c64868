# Annotations (SNARL_*, Annotate*, __tsan_*, no_sanitize) remove candidates from hunt and analyze.
# Each program has candidates when compiled without the annotation and none with it.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# candidates PROGRAM NAME: prints how many candidates a hunt without bugs tried
candidates() {
	status=0
	rm -rf out
	snarl hunt --runs 100 --out out -- "./$1" >hunt.out 2>hunt.err </dev/null || status=$?
	[ $status = 0 ] || { cat hunt.err; fail "$2: hunt: exit $status"; }
	python3 -c 'import json; print(json.load(open("out/results.json"))["candidates"]["tried"])'
}

# check NAME SOURCE WANTED OPTIONS…: whether the program has candidates; WANTED is none or some
check() {
	check_name=$1 check_source=$2 check_want=$3
	shift 3
	for cc in $(one_of $(compilers)); do
		wrap "$cc" "$SNARL_ROOT/tests/cli/annotations/$check_source.c" prog -g -O1 \
			-pthread \
			-I"$SNARL_ROOT/include" "$@"
		tried=$(candidates prog "$check_name, $cc")
		record t.snarl ./prog
		snarl analyze t.snarl >analyzed
		case $check_want in
		none)
			[ "$tried" = 0 ] ||
				{ snarl analyze t.snarl; fail \
				"$check_name, $cc: $tried candidates"; }
			grep -q '^0 candidates' analyzed ||
				{ cat analyzed; fail "$check_name, $cc: analyze"; }
			;;
		some)
			[ "$tried" -gt 0 ] || fail "$check_name, $cc: no candidates"
			;;
		esac
	done
}

check 'no order' ordered some
check 'SNARL_HAPPENS_BEFORE' ordered none \
	'-DANNOTATE_BEFORE(p)=SNARL_HAPPENS_BEFORE(p)' '-DANNOTATE_AFTER(p)=SNARL_HAPPENS_AFTER(p)'
check 'AnnotateHappensBefore' ordered none \
	'-DANNOTATE_BEFORE(p)=AnnotateHappensBefore(__FILE__,__LINE__,p)' \
	'-DANNOTATE_AFTER(p)=AnnotateHappensAfter(__FILE__,__LINE__,p)'
check '__tsan_release' ordered none \
	'-DANNOTATE_BEFORE(p)=__tsan_release(p)' '-DANNOTATE_AFTER(p)=__tsan_acquire(p)'
check 'release without acquire' ordered some \
	'-DANNOTATE_BEFORE(p)=__tsan_release(p)' '-DANNOTATE_AFTER(p)='

check 'no excuse' racy some
check 'SNARL_BENIGN_RACE' racy none '-DANNOTATE_OBJECT(p)=SNARL_BENIGN_RACE(p)'
check 'AnnotateBenignRaceSized' racy none \
	'-DANNOTATE_OBJECT(p)=AnnotateBenignRaceSized(__FILE__,__LINE__,p,sizeof(*(p)),"meant")'
check 'AnnotateBenignRace' racy none \
	'-DANNOTATE_OBJECT(p)=AnnotateBenignRace(__FILE__,__LINE__,p,"meant")'
check 'SNARL_IGNORE' racy none -DANNOTATE_BEGIN='SNARL_IGNORE_BEGIN()' \
	-DANNOTATE_END='SNARL_IGNORE_END()'
check '__tsan_ignore_thread' racy none -DANNOTATE_BEGIN='__tsan_ignore_thread_begin()' \
	-DANNOTATE_END='__tsan_ignore_thread_end()'
check 'AnnotateIgnoreReads and Writes' racy none \
	-DAT='(__FILE__,__LINE__)' \
	-DANNOTATE_BEGIN='AnnotateIgnoreReadsBegin AT;AnnotateIgnoreWritesBegin AT' \
	-DANNOTATE_END='AnnotateIgnoreWritesEnd AT;AnnotateIgnoreReadsEnd AT'
check 'AnnotateIgnoreWrites' racy none \
	-DANNOTATE_BEGIN='AnnotateIgnoreWritesBegin(__FILE__,__LINE__)' \
	-DANNOTATE_END='AnnotateIgnoreWritesEnd(__FILE__,__LINE__)'
check 'AnnotateIgnoreReads' racy some \
	-DANNOTATE_BEGIN='AnnotateIgnoreReadsBegin(__FILE__,__LINE__)' \
	-DANNOTATE_END='AnnotateIgnoreReadsEnd(__FILE__,__LINE__)'
check 'no_sanitize' racy none '-DCOUNTER_ATTRIBUTE=__attribute__((no_sanitize("thread")))'
check 'no_sanitize_thread' racy none '-DCOUNTER_ATTRIBUTE=__attribute__((no_sanitize_thread))'

check 'a lock without annotation' locked some
check '__tsan_mutex' locked none '-DBEFORE_LOCK(p)=__tsan_mutex_pre_lock(p,0)' \
	'-DAFTER_LOCK(p)=__tsan_mutex_post_lock(p,0,1)' \
	'-DBEFORE_UNLOCK(p)=__tsan_mutex_pre_unlock(p,0)' \
	'-DAFTER_UNLOCK(p)=__tsan_mutex_post_unlock(p,0)'
check 'AnnotateRWLockAcquired' locked none '-DBEFORE_LOCK(p)=' \
	'-DAFTER_LOCK(p)=AnnotateRWLockAcquired(__FILE__,__LINE__,p,1)' \
	'-DBEFORE_UNLOCK(p)=AnnotateRWLockReleased(__FILE__,__LINE__,p,1)' '-DAFTER_UNLOCK(p)='

check 'no blocks' blocks some
check 'SNARL_BLOCK' blocks none -DBLOCKS

# A benign race annotation does not hide a run that fails.
wrap gcc "$SNARL_ROOT/tests/cli/annotations/racy.c" wanted -g -O1 -pthread -I"$SNARL_ROOT/include" \
	-DWANTED '-DANNOTATE_OBJECT(p)=SNARL_BENIGN_RACE(p)'
status=0
snarl hunt --out out-wanted -- ./wanted >hunt.out 2>hunt.err </dev/null || status=$?
[ $status = 1 ] || { cat hunt.err; fail "a bug that is annotated: exit $status"; }
