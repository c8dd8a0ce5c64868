# With a list of sites, accesses that are told as one over others that are off, and each by itself: the same events. Random
# programs with lists of some of their sites, then what the rule is for.
. "$SNARL_ROOT/tests/lib.sh"

# build CC FORM LEVEL OPTIONS…: ./prog of span.c
build() {
	SNARL_CC=$1 form=$2 level="$3 -w -fwrapv"
	export SNARL_CC
	shift 3
	rm -f prog libspan.so
	if [ $form = library ]; then
		snarl-cc "$@" $level -fPIC -Dmain=library_main -shared span.c -o libspan.so
		snarl-cc "$@" main.c -L. -lspan -Wl,-rpath,. -pthread -o prog
	else
		snarl-cc "$@" $level "-f$form" "-$form" span.c -pthread -o prog
	fi
}

# records, bunches TRACE: how many raw ones, and how many bunches it tells of
records() {
	snarl dump --chunks "$1" | awk '$2 == "events" { n += $5 } END { print n }'
}
bunches() {
	snarl dump --chunks "$1" | awk '$2 == "bunches" { n += $5 } END { print n + 0 }'
}

# run NAME SEED OFF: with a list of all sites but about OFF of 8, which are the same of all builds; its result and events
run() {
	RECORD_OPTIONS= record all.snarl ./prog
	snarl dump --sites all.snarl | awk -v seed="$2" -v off="$3" '
		BEGIN { srand(seed) }
		NR == 1 || NF == 1 || rand() * 8 >= off' >some.sites
	RECORD_OPTIONS='--sites some.sites' record "$1.snarl" ./prog
	mv record.out "$1.out"
	events "$1.snarl" all+lines >"$1.txt"
}

echo 'int library_main(void); int main(void) { return library_main(); }' >main.c
for cc in $(compilers); do
	for variant in no-pie:-O1:4 pie:-O2:3 no-pie:-O2:6 library:-O2:5; do
		echo "$cc $variant"
	done
done | awk '{ print NR + 40, $0 }' | slice 2 >list
compared=0 opened=0
while read -r seed cc variant; do
	off=${variant##*:} how=${variant%:*}
	"$tools/bunchgen" $seed >span.c
	build $cc ${how%:*} ${how#*:}
	run spans $seed $off
	without=$(bunches all.snarl)
	build $cc ${how%:*} ${how#*:} --no-bunches
	run hooks $seed $off
	same "$cc, seed $seed, $variant: another result" hooks.out spans.out
	same "$cc, seed $seed, $variant: other events" hooks.txt spans.txt
	compared=$((compared + 1))
	[ "$(bunches spans.snarl)" -le "$without" ] || opened=$((opened + 1))
done <list
echo "$compared programs, in $opened of them accesses were told over others"
[ $opened -ge $((compared * 3 / 4)) ] || fail "nothing was told over others"

# to[own[*from]++] = *from, and fields of a node that all know with a body of the thread's own between them.
cat >span.c <<'END_OF_C'
#include <pthread.h>
#include <stdio.h>
#define N 3000
struct node { double x, y, mass; };
static unsigned long from[N], to[N + 8];
static struct node nodes[N];
__attribute__((noinline)) void scatter(unsigned long *to, unsigned long *own, const unsigned long *from, long n)
{
	for (long i = 0; i < n; i++)
		to[own[from[i] & 7]++] = from[i];
}
__attribute__((noinline)) double far(const struct node *n, const struct node *b)
{
	double x = n->x - b->x, y = n->y - b->y;

	return x * x + y * y + n->mass;
}
static void *touch(void *v)
{
	for (long i = 0; i < N; i++) {
		from[i] = (unsigned long)i * 7;
		to[i] = 0;
		nodes[i] = (struct node){ (double)i, 1, 2 };
	}
	return v;
}
static void *work(void *v)
{
	unsigned long own[8] = { 0, 375, 750, 1125, 1500, 1875, 2250, 2625 };
	struct node body = { (double)from[1], (double)from[2], 3 };
	double sum = 0;

	scatter(to, own, from, N);
	for (long i = 0; i < N; i++)
		sum += far(&nodes[i], &body);
	printf("%.0f %lu\n", sum, to[5]);
	return v;
}
int main(void)
{
	pthread_t t;

	touch(0);
	pthread_create(&t, 0, touch, 0);
	pthread_join(t, 0);
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	work(0);
	return 0;
}
END_OF_C
for cc in $(compilers); do
	for how in $(one_of pie no-pie library); do
		for kind in spans hooks; do
			build $cc $how -O2 $([ $kind = spans ] || echo --no-bunches)
			RECORD_OPTIONS= record list.snarl ./prog
			RECORD_OPTIONS='--sites list.snarl' record $kind.snarl ./prog
			mv record.out $kind.out
			events $kind.snarl all+lines | grep -v ' own[+ ]' >$kind.txt
		done
		same "$cc, $how: another result" hooks.out spans.out
		same "$cc, $how: other events" hooks.txt spans.txt
		# Two threads, one of three or four records of a node and with gcc one of three of a key.
		[ "$(records spans.snarl)" -lt $(($(records hooks.snarl) - 5900)) ] ||
			fail "$cc, $how: $(records spans.snarl) records, $(records hooks.snarl) without"
	done
done
