# The trace has the entry and exit of exactly those calls in which another event happened, in order.
# Random calls, some left by longjmp, are compared with a simple model in the program, so a call
# that is dropped, kept without need, or reordered at the end of a page or ring shows up.
. "$SNARL_ROOT/tests/lib.sh"

# The model is compiled without snarl-cc. It chooses the next step and keeps the expected events.
cat >model.c <<'END_MODEL'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 1000000

void start(void);

static char pending[100], expected[MOST][4];	/* printed at the end: output is an event, too */
static int waiting, count;
static int writes_of_64;	/* out of 64 steps, how many write */
static int may_jump;
static uint32_t seed = 1;

static void put(int what, int name)
{
	if (count == MOST)
		abort();
	expected[count][0] = (char)what;
	expected[count][1] = ' ';
	expected[count][2] = (char)name;
	expected[count++][3] = '\n';
}

static void expect(int what, int name)
{
	for (int i = 0; i < waiting; i++)
		put('+', pending[i]);
	waiting = 0;
	put(what, name);
}

void model_enter(int name)
{
	pending[waiting++] = (char)name;
}

void model_exit(int name)
{
	if (waiting > 0)
		waiting--;
	else
		expect('-', name);
}

/* Returns the next step: a function's name, 'w' for a write, 'j' for longjmp, '-' for nothing. */
int model_next(void)
{
	int step;

	seed = seed * 1664525 + 1013904223;
	step = (int)(seed >> 8) % 64;
	if (step < writes_of_64) {
		expect('w', '-');
		return 'w';
	}
	if (may_jump && step == 63) {
		expect('j', '-');
		return 'j';
	}
	return "abc-"[step % 4];
}

void model_rounds(void)
{
	static const int of_64[] = { 0, 1, 4, 60, 16, 2 };

	for (int i = 0; i < 24; i++)
		for (int k = 0; k < 20 + i; k++) {
			writes_of_64 = of_64[i % 6];
			may_jump = k % 2;
			start();
		}
}

void model_show(void)
{
	fwrite(expected, 4, count, stdout);
}
END_MODEL

cat >walk.c <<'END_WALK'
#include <pthread.h>
#include <setjmp.h>

void model_enter(int name), model_exit(int name), model_rounds(void), model_show(void);
int model_next(void);
void start(void), a(int left), b(int left), c(int left);

int shared;
static jmp_buf back;

static inline __attribute__((always_inline)) void body(int left)
{
	for (int i = 0; i < 3 && left > 0; i++)
		switch (model_next()) {
		case 'a': a(left - 1); break;
		case 'b': b(left - 1); break;
		case 'c': c(left - 1); break;
		case 'w': shared = i; break;
		case 'j': longjmp(back, 1);
		}
}

#define CALL(name)                                    \
	__attribute__((noinline)) void name(int left) \
	{                                             \
		model_enter(#name[0]);                \
		body(left);                           \
		model_exit(#name[0]);                 \
	}

CALL(a)
CALL(b)
CALL(c)

void start(void)
{
	model_enter('s');
	if (setjmp(back) == 0)
		a(8);
	model_exit('s');
}

static void *other(void *unused)
{
	shared = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, other, 0);
	pthread_join(thread, 0);
	shared = 2;
	model_rounds();
	shared = 3;
	model_show();
	return 0;
}
END_WALK

for cc in $(compilers); do
	$cc -O1 -c model.c -o model.o
	wrap "$cc" walk.c prog model.o -O1 -fno-optimize-sibling-calls -pthread
	for RECORD_OPTIONS in "" --no-filter; do
		record t.snarl ./prog
		[ "$(grep -c + record.out)" -gt 20000 ] || fail "only $(wc -l <record.out) events"
		events t.snarl all+lines | awk '
			$1 != 0 { next }
			$2 == "write" && $3 == "shared" && $4 == "main" { inside = !inside; next }
			!inside { next }
			$2 == "write" && $3 == "shared" { print "w -" }
			$2 == "longjmp" { print "j -" }
			$2 == "enter" { print "+", substr($4, 1, 1) }
			$2 == "exit" { print "-", substr($4, 1, 1) }' >got
		same "$cc $RECORD_OPTIONS" record.out got
		# Readers drop empty calls, too. So count the records in the file: at most 2 % more
		# (time stamps).
		records=$(snarl dump --chunks t.snarl |
			awk '$2 == "events" && $3 == 1 { n += $5 } END { print n }')
		[ "$records" -lt $(($(wc -l <got) * 51 / 50)) ] ||
			fail "$cc $RECORD_OPTIONS: $records records"
	done
done
