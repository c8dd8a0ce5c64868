#!/bin/sh
# snarl dump of a text trace: names of sites and memory, the round trip through text, filters, and
# errors.
. "$SNARL_ROOT/tests/lib.sh"

cat >bank.c <<'END'
int balance[4];
static inline __attribute__((always_inline)) void deposit(int x) { balance[2] += x; }
__attribute__((noinline)) void worker(int x)
{
	static int calls;
	deposit(x + calls++);
}
int main(int argc, char **argv)
{
	(void)argv;
	worker(argc);
	return 0;
}
END
${CC:-cc} -g -O0 -no-pie bank.c -o bank
worker=0x$(nm bank | sed -n 's/ T worker$//p')
balance=0x$(nm bank | sed -n 's/ [BD] balance$//p')
calls=0x$(nm bank | sed -n 's/ [bd] \(calls\.[0-9]*\|worker\.calls\)$//p')
element=$(printf '0x%x' $((balance + 8)))
counter=$(printf '0x%x' $((calls)))
pc=$(printf '0x%x' $((worker + 1)))	# the address after the function's first byte
cat >in.txt <<END
snarl-text 1
module 0 0x400000-0x500000 - $PWD/bank
0 start stack=0x7ffe00000000-0x7ffe00100000
0 malloc 0x5000 64 @$pc
0 create 0.1
0.1 start stack=0x7f0000000000-0x7f0000100000
0.1 read $counter:4 @$pc
0.1 write $element:4 @$pc
0.1 lock m @work:12
0.1 write 0x5008:8 @work:13
0.1 write 0x7f00000000f0:8 @work:14
0.1 unlock m
0.1 trylock m =EBUSY
0.1 free 0x5000
0.1 read 0x5010:1
0.1 end
0 join 0.1
END
snarl dump in.txt >out.txt
sed -n 's/.*\t; //p' out.txt >remarks
cat >want <<'END'
heap@bank.c:4#1  worker bank.c:4:1
worker::calls  worker bank.c:4:1
balance[2]  worker bank.c:4:1
m  work:12
heap@bank.c:4#1+8  work:13
stack of 0.1  work:14
m
m
heap@bank.c:4#1
freed heap@bank.c:4#1+16
END
same remarks want remarks

# The output is a valid text trace and prints the same again.
snarl dump out.txt >again.txt
same "read back" out.txt again.txt
snarl dump --raw out.txt >raw.txt
! grep -q ';' raw.txt || fail "--raw has remarks"
snarl dump --raw raw.txt >again.txt
same "raw read back" raw.txt again.txt

snarl dump --kind mutex,free --thread 0.1 in.txt | grep -c '^0' >count
[ "$(cat count)" = 4 ] || fail "--kind, --thread: $(cat count) events"
snarl dump --limit 2 in.txt | grep -c '^0' >count
[ "$(cat count)" = 2 ] || fail "--limit: $(cat count) events"
snarl dump --no-symbols in.txt | sed -n 's/^0 malloc.*; //p' >got
echo "heap@$pc#1" >want
same --no-symbols want got

# A closed pipe (head) is no error.
( snarl dump in.txt; echo $? >status ) | head -n 1 >/dev/null
[ "$(cat status)" = 0 ] || fail "closed pipe: exit $(cat status)"

# Errors give one line and exit code 3.
for file in nothing "$PWD/bank" .; do
	status=0
	snarl dump "$file" >out 2>err || status=$?
	[ $status = 3 ] || fail "$file: exit $status"
	[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "$file: not one line"
	grep -q '^snarl dump: ' err || fail "$file: $(cat err)"
done
status=0
snarl dump --thread 0.7 in.txt 2>err || status=$?
[ $status = 2 ] || fail "unknown thread: exit $status"
if [ -w /dev/full ]; then
	status=0
	snarl dump in.txt 2>err >/dev/full || status=$?
	[ $status = 3 ] || fail "full disk: exit $status"
fi

# A module with another build-id: a warning, and places as module+offset instead of names.
sed 's/ - / 00112233 /' in.txt >old.txt
snarl dump old.txt >out 2>err
grep -q 'build-id differs' err || fail "no warning about another build"
grep -q 'bank+0x' out || fail "no place within the module"
