# Under the seccomp profile that snarl installs for containers every command works, and a profile
# without personality is told by doctor and hunt. High address randomisation does no harm.
. "$SNARL_ROOT/tests/lib.sh"
need jq

profile=$SNARL_BUILD/share/seccomp.json
echo '#include <sys/syscall.h>' | cc -E -dM - >numbers
status=0
"$tools/seccomp" "$profile" numbers true 2>err || status=$?
[ $status != 77 ] || skip "$(cat err)"
[ $status = 0 ] || { cat err; fail "the profile does not let 'true' run"; }

# inside CODE COMMAND…: COMMAND exits with CODE under the profile.
inside() {
	inside_code=$1 inside_got=0
	shift
	"$tools/seccomp" "$profile" numbers "$@" >log 2>&1 </dev/null || inside_got=$?
	[ $inside_got = "$inside_code" ] ||
		{ cat log; fail "under the profile: $*: exit $inside_got, not $inside_code"; }
}

# The profile forbids what it should.
inside 1 unshare --uts true
inside 0 setarch -R true

cp "$SNARL_ROOT/examples/bank.c" .
inside 0 snarl-cc -g -O1 -pthread bank.c -o bank
inside 0 sh -c 'snarl doctor | grep "^ok *aslr"'
inside 0 snarl record --out bank.snarl -- ./bank
inside 0 snarl analyze bank.snarl
inside 0 snarl dump bank.snarl
inside 1 snarl hunt --runs 500 --out out -- ./bank
inside 0 snarl report -f text out
inside 1 snarl test --runs 2000 --out out-test -- ./bank
inside 1 snarl test --runs 2000 --backend kernel --out out-kernel -- ./bank
inside 1 snarl replay out/bugs/B001
inside 1 snarl check-fix out/bugs/B001 -- ./bank
compile gcc "$SNARL_ROOT/tests/correct/statistics.c" good -g -O1 -pthread
inside 0 snarl cover --runs 50 --out out-cover -- ./good
inside 0 snarl learn --runs 3 -- ./good
inside 0 snarl check -- ./good
inside 0 snarl guard -- ./good

# Without that one call doctor and hunt say what is missing.
jq 'del(.syscalls[] | select(.names == ["personality"] and .args[0].value == 262144))' "$profile" \
	>less.json
profile=less.json
inside 0 sh -c 'snarl doctor | grep -A1 "^warn *aslr" | grep seccomp.json'
inside 3 snarl hunt --runs 50 --out out-less -- ./bank
grep -q 'Operation not permitted' log || { cat log; fail "hunt does not say what is missing"; }
inside 0 snarl record --out bank.snarl -- ./bank

# The most randomisation that the kernel knows. The setting is the machine's: it is put back.
bits=/proc/sys/vm/mmap_rnd_bits
[ -w $bits ] || exit 0
before=$(cat $bits)
trap 'echo $before >$bits' EXIT
trap 'exit 1' HUP INT TERM
echo 32 2>/dev/null >$bits || exit 0
for i in 1 2 3 4 5 6 7 8; do
	snarl record --out bank.snarl -- ./bank >log 2>&1 ||
		{ cat log; fail "record, 32 bits of ASLR"; }
	snarl guard -- ./good >log 2>&1 || { cat log; fail "guard, 32 bits of ASLR"; }
done
snarl doctor >log || { cat log; fail "doctor, 32 bits of ASLR"; }
status=0
snarl hunt --runs 500 --out out-random -- ./bank >log 2>&1 || status=$?
[ $status = 1 ] || { cat log; fail "hunt, 32 bits of ASLR: exit $status"; }
