# Nothing runs unasked: a bug of another user is shown, but neither its program nor its check
# command nor its variables are used without --trust, and a program without snarl's runtime never.
. "$SNARL_ROOT/tests/lib.sh"
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME

example bank
status=0
snarl hunt --time 60 -- ./bank >out 2>err </dev/null || status=$?
[ $status = 1 ] || { cat err; fail "hunt: exit $status"; }
bug=snarl-out/bugs/B001

# runs CODES COMMAND…: exits with one of CODES; a foreign part that ran has left the file `ran`
runs() {
	codes=$1 status=0
	shift
	rm -f ran
	timeout 100 snarl "$@" >out 2>err </dev/null || status=$?
	case " $codes " in
	*" $status "*) ;;
	*) cat err; fail "snarl $*: exit $status, not $codes" ;;
	esac
}
# refused TEXT COMMAND…: says that it would run TEXT, runs nothing, exits with 3
refused() {
	text=$1
	shift
	runs 3 "$@"
	[ ! -e ran ] || fail "snarl $*: it ran"
	grep -qe "$text" err && grep -q 'would run' err && grep -q -e '--trust' err ||
		{ cat err; fail "snarl $*: does not say '$text'"; }
}

# The bug that this user found replays without a question, also with other turns or from a copy.
runs 1 replay $bug
! grep -q 'written by your snarl' err || fail "asks about an own bug"
cp -r $bug copy
runs 1 replay copy
runs 1 check-fix --runs 20 $bug
[ "$(stat -c %a state/snarl/key)" = 600 ] || fail "others may read the key"

# A changed program, argument, variable or command breaks the seal.
foreign() {
	rm -rf foreign
	cp -r $bug foreign
	sed -i "$1" foreign/schedule.txt
}
cat >evil.c <<'C'
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void run(void)
{
	close(open("ran", O_CREAT | O_WRONLY, 0600));
}
#ifndef LIBRARY
int main(void) { return 0; }
#endif
C
gcc evil.c -o plain
snarl-cc evil.c -o evil
gcc -shared -fPIC -DLIBRARY evil.c -o evil.so
for change in "s|^program .*|program $PWD/evil|" "s|^directory .*|directory /|" \
	"s|^strategy|argument --more\n&|" "s|^seal .*|seal 0123456789abcdef|" '/^seal/d'; do
	foreign "$change"
	refused 'the program .*/' replay foreign
	refused 'the program .*/' replay --gdb foreign
	refused 'the program .*/' check-fix foreign
done
foreign "s|^strategy|environment LD_PRELOAD=$PWD/evil.so\n&|"
refused 'LD_PRELOAD=' replay foreign
refused 'LD_PRELOAD=' replay foreign -- ./bank
refused 'LD_PRELOAD=' check-fix foreign
runs "1 4" replay --trust foreign	# 4: other variables may move the stack
[ -e ran ] || fail "--trust does not use the variable"
grep -q LD_PRELOAD err || fail "--trust does not show what it runs"
for variable in PATH=/x BASH_ENV=x GCONV_PATH=. IFS=/ LD_LIBRARY_PATH=. TZ=/tmp/zone OTHER=x; do
	foreign "s|^strategy|environment $variable\n&|"
	refused "${variable%%=*}" replay foreign -- ./bank
done
foreign 's|^strategy|check "touch ran"\n&|'
refused 'touch ran' replay foreign -- ./bank
refused 'touch ran' check-fix foreign -- ./bank
foreign 's|^strategy|check "touch\\x1bran"\n&|'
refused 'touch.x1bran' replay foreign -- ./bank

# With a program of one's own, a harmless rest runs.
foreign "/^seal/d; s|^program .*|program $PWD/evil|; s|^strategy|environment LANG=C\n&|"
runs "1 4" replay foreign -- ./bank
[ ! -e ran ] || fail "it ran the program of the schedule"

# A key that others may read is none. Without a key the bug is still saved.
chmod 644 state/snarl/key
refused 'the program' replay $bug
chmod 600 state/snarl/key
runs 1 replay $bug
(unset HOME XDG_STATE_HOME; snarl hunt --time 60 -o homeless -- ./bank >out 2>err </dev/null) || :
[ -e homeless/bugs/B001/schedule.txt ] || { cat err; fail "no bug without HOME"; }
refused 'the program' replay homeless/bugs/B001

# To look at a bug runs nothing.
foreign "s|^program .*|program $PWD/evil|; s|^strategy|check \"touch ran\"\n&|"
sed -i "s|$PWD/bank|$PWD/evil|g" foreign/bug.json
runs 0 report foreign
runs 0 report --format html -o foreign.html foreign
runs 0 dump foreign/trace.snarl
runs 0 analyze foreign/trace.snarl
[ ! -e ran ] || fail "report, dump or analyze ran something"

# Pipes in a bug folder do not hold anything up.
for file in stdout schedule.txt; do
	rm -f foreign/$file
	mkfifo foreign/$file
done
timeout 20 snarl report foreign >out 2>err || { cat err; fail "report waits for a pipe"; }

# A report shows sources, not any file that debug information names.
echo 'secret line' >secret
ln -s "$PWD/secret" link.c
for name in secret link.c; do
	sed "1i #line 1 \"$PWD/$name\"" "$SNARL_ROOT/examples/bank.c" >named.c
	for i in $(seq 300); do echo 'secret line'; done >secret
	touch -d 2001-01-01 secret
	snarl-cc -g -O1 -pthread named.c -o named
	snarl hunt --time 60 -o named-out -- ./named >out 2>err </dev/null || :
	[ -e named-out/bugs/B001/report.html ] || { cat err; fail "no bug in named.c"; }
	! grep -q 'secret line' named-out/bugs/B001/report.html || fail "the report shows $name"
	rm -rf named-out
done

# No program without the runtime is started, by no command that controls runs.
for command in hunt test cover learn "replay $bug" "check-fix $bug"; do
	runs 3 $command -- ./plain
	[ ! -e ran ] || fail "snarl $command ran a program without the runtime"
	grep -q 'built with snarl-cc?' err || { cat err; fail "$command: no reason"; }
done
strip -o stripped bank
runs 1 hunt --time 60 -o stripped-out -- ./stripped

# Commands that are printed can be pasted.
mkdir "it's here; touch ran"
cd "it's here; touch ran"
snarl hunt --time 60 -o "a b'c" -- ../bank >out 2>err </dev/null || :
sed -n 's/^  replay it: //p' err | head -n 1 >command
sh command >out 2>err </dev/null || :
! ls ran touch 2>/dev/null || fail "the replay line is not quoted"
grep -q 'Assertion' err || { cat command err; fail "the replay line does not replay"; }
