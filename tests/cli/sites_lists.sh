# snarl record --sites with lists and traces: one, several, of another build, damaged, missing; what
# is recorded then, and the messages.
. "$SNARL_ROOT/tests/lib.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef STEP
#define STEP 1
#endif
long first, second;
__attribute__((noinline)) static void add_first(void)
{
	first += STEP;
}
__attribute__((noinline)) static void add_second(void)
{
	second += STEP;
}
static long sum[2];	/* only main uses it */
__attribute__((noinline)) static long alone(long n)
{
	for (long i = 0; i < n; i++)
		*(volatile long *)&sum[i & 1] += i;
	return sum[1];
}
static void *work(void *arg)
{
	if (strchr(arg, '1'))
		add_first();
	if (strchr(arg, '2'))
		add_second();
	return NULL;
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "12";
	pthread_t thread;

	if (strchr(what, 'f')) {
		pid_t child = fork();

		if (child > 0)
			return waitpid(child, NULL, 0) != child;
	}
	pthread_create(&thread, NULL, work, (void *)what);
	pthread_join(thread, NULL);
	work((void *)what);
	printf("%ld %ld %ld\n", first, second, alone(10));
	return 0;
}
END
snarl-cc -O1 -pthread prog.c -o prog

# accesses TRACE: those of the three functions of interest
accesses() {
	events "$1" access | grep -E ' (add_first|add_second|alone)$' || true
}
# recorded ARGS…: records without the filter, so that sites that are on show; leaves status, out and
# err
recorded() {
	status=0
	SNARL_OPTIONS=filter=off${list:+:sites=$list} snarl record "$@" >out 2>err </dev/null ||
		status=$?
}
expect() {
	[ "$status" = "$1" ] || { cat out err; fail "$2: exit $status, not $1"; }
}
list=

RECORD_OPTIONS= record 1.snarl ./prog 1
record 2.snarl ./prog 2
record 12.snarl ./prog 12
record other.snarl ./prog 0
RECORD_OPTIONS=--no-filter record all.snarl ./prog 12
accesses all.snarl >all
grep -v alone all >both
grep first all >first
[ "$(wc -l <both)" = 8 ] && [ "$(wc -l <first)" = 4 ] && [ "$(wc -l <all)" -gt 20 ] ||
	{ cat all; fail "other accesses than expected"; }

# A trace, two traces, and their lists.
recorded --sites 1.snarl --out t.snarl -- ./prog 12
expect 0 "one trace"
accesses t.snarl >got
same "one trace" first got
[ "$(cat out)" = "2 2 25" ] || fail "output: $(cat out)"
recorded --sites 1.snarl --sites 2.snarl --out t.snarl -- ./prog 12
expect 0 "two traces"
accesses t.snarl >got
same "two traces" both got
snarl dump --sites 1.snarl >1.sites
snarl dump --sites 2.snarl >2.sites
head -n 1 1.sites | grep -q '^snarl-sites 1$' && tail -n 1 1.sites | grep -q '^end$' ||
	fail "the list: $(cat 1.sites)"
recorded --sites 2.sites --sites 1.sites --out t.snarl -- ./prog 12
expect 0 "two lists"
accesses t.snarl >got
same "two lists" both got
snarl dump --sites 1.sites >again
same "the list of a list" 1.sites again
# A trace made with a list gives the same list again.
RECORD_OPTIONS='--sites 12.snarl' record t.snarl ./prog 12
snarl dump --sites 12.snarl >want
snarl dump --sites t.snarl >got
same "the list of a trace at known sites" want got
snarl dump --stats t.snarl | grep -q '^[1-9][0-9]* of [0-9]* inlined sites were switched off$' ||
	fail "dump --stats does not say what is off"
snarl dump --stats --json t.snarl |
	grep -q '"known_sites":{"used":true,"total":[0-9]*,"off":[1-9][0-9]*,"unknown":0}' ||
	fail "dump --stats --json does not say what is off"
snarl dump --stats --json 12.snarl | grep -q known_sites && fail "known sites out of nowhere"
# A list that has the module but no sites switches all off.
recorded --sites other.snarl --out t.snarl -- ./prog 12
expect 0 "no places"
accesses t.snarl >got
[ ! -s got ] || fail "no places, but $(cat got)"
# A trace made without the filter lists all sites, which is reported.
recorded --sites all.snarl --out t.snarl -- ./prog 12
expect 0 "a trace of all"
grep -q 'all.snarl was recorded with --no-filter: all its sites are recorded' err ||
	fail "$(cat err)"
accesses t.snarl >got
same "a trace of all" all got

# A forked child uses the list, too, and reports it in its own trace.
recorded --sites 1.snarl --out f.snarl -- ./prog 12f
expect 0 "fork"
[ "$(grep -c 'inlined sites were switched off$' err)" = 2 ] || fail "fork: $(cat err)"
accesses f.snarl.[0-9]* | sed 's/^[0-9.]* //' >got
sed 's/^[0-9.]* //' first >want
same "fork" want got
recorded --sites 1.snarl --json --out j.snarl -- ./prog 1
expect 0 "--json"
grep -q '"known_sites":{"used":true,"total":[0-9]*,"off":[1-9][0-9]*,"unknown":0}' out ||
	fail "$(cat out)"

# A list for another build does not apply.
snarl-cc -O1 -pthread -DSTEP=2 prog.c -o newer
recorded --sites 1.snarl --out t.snarl -- ./newer 12
expect 0 "another build"
why='the list does not know their module (another build?)'
off='inlined sites were switched off'
grep -q "^snarl: 0 of \([0-9]*\) $off; \1 stayed on because $why\$" err ||
	fail "another build: $(cat err)"
accesses t.snarl >got
same "another build" all got

# A program with called hooks has no sites to switch off.
snarl-cc -O1 -pthread --no-inline prog.c -o calls
RECORD_OPTIONS= record c.snarl ./calls 1
recorded --sites c.snarl --out t.snarl -- ./calls 12
expect 0 "--no-inline"
why='the program has no inlined ones (was it built with --no-inline?)'
grep -q "^snarl: no site was switched off: $why\$" err ||
	fail "--no-inline: $(cat err)"
accesses t.snarl >got
same "--no-inline" all got

# If the system forbids to change code, everything is recorded and the program runs.
cat >deny.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	execv(argv[1], argv + 1);
	return 1;
}
END
gcc deny.c -o deny
if ./deny /bin/true; then
	recorded --sites 1.snarl --out t.snarl -- ./deny ./prog 12
	expect 0 "no change of code"
	[ "$(cat out)" = "2 2 25" ] || fail "no change of code: $(cat out)"
	grep -q '^snarl: this system forbids to change code: all sites are recorded$' err &&
		grep -q '^snarl: 0 of [0-9]* inlined sites were switched off$' err ||
		fail "$(cat err)"
	accesses t.snarl >got
	same "no change of code" all got
fi

# Damaged lists: the command refuses them; the runtime by itself warns and records everything.
cp t.snarl kept.snarl
cp t.snarl old
sed 's/end//' 1.sites >noend.sites
sed '$d' 1.sites >cut.sites
{ head -n 1 1.sites; echo end; sed 1d 1.sites; } >middle.sites
sed 's/^snarl-sites 1/snarl-sites 3/' 1.sites >newer.sites
: >empty.sites
for file in noend cut middle newer empty; do
	recorded --sites $file.sites --out kept.snarl -- ./prog 12
	expect 3 "$file"
	[ "$(wc -l <err)" = 1 ] && grep -q "^snarl record: .*$file.sites" err ||
		fail "$file: $(cat err)"
	list=$PWD/$file.sites
	recorded --out t.snarl -- ./prog 12
	list=
	expect 0 "$file, by the runtime"
	unused='^snarl: all sites are recorded, the list was not used: it is '
	[ "$(grep -c "$unused.*$file.sites\$" err)" = 1 ] &&
		grep -q '^snarl: all sites were on: the list of sites was not used: it is ' err ||
		fail "$file, by the runtime: $(cat err)"
	accesses t.snarl >got
	same "$file, by the runtime" all got
done
list=$PWD/nowhere.sites
recorded --out t.snarl -- ./prog 12
list=
expect 0 "a list that is not there"
grep -q 'the list was not used: it cannot be opened: .*nowhere.sites' err || fail "$(cat err)"
recorded --sites nowhere.snarl --out kept.snarl -- ./prog 12
expect 3 "a trace that is not there"
[ "$(wc -l <err)" = 1 ] && grep -q '^snarl record: nowhere.snarl: No such file' err ||
	fail "$(cat err)"
same "the old trace" old kept.snarl
recorded --sites 1.snarl --no-filter -- ./prog 12
expect 2 "--no-filter and --sites"
ls | grep tmp- && fail "left behind"
exit 0
