# snarl dump names members and array elements and formats values by their DWARF 4 and 5 types.
. "$SNARL_ROOT/tests/lib.sh"

cat >fields.cc <<'X'
#include <atomic>
#include <mutex>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum colour { RED, GREEN = 7, LESS = -2 };
struct base { long first; };
struct slot { int len; char tag; bool full; enum colour colour; uint8_t small; };
struct queue : base {
	struct queue *head;
	pthread_mutex_t lock;
	struct slot slots[4];
	union { int a; float b; } either;
	struct { short inner; };
	double real;
	float narrow;
	unsigned long wide;
	std::atomic<int> hits;
	unsigned bits : 3;
};
struct queue queue;
int grid[3][5];
static char text[8];
std::mutex mutex;

static void *work(void *arg)
{
	pthread_mutex_lock(&queue.lock);
	queue.first = -3;
	queue.head = &queue;
	queue.head = nullptr;
	queue.slots[3].len = 5;
	queue.slots[2].tag = 'x';
	queue.slots[1].full = true;
	queue.slots[1].colour = GREEN;
	queue.slots[1].colour = LESS;
	queue.slots[1].small = 65;
	queue.either.b = 1.5;
	queue.inner = -1;
	queue.real = 0.1;
	queue.narrow = 0.1f;
	queue.wide = 18446744073709551615u;
	queue.hits = 4;
	queue.bits = 3;
	grid[2][4] = 9;
	text[5] = '\n';
	memset(queue.slots, 0, sizeof(queue.slots));
	pthread_mutex_unlock(&queue.lock);
	std::lock_guard<std::mutex> guard(mutex);
	return arg;
}

int main()
{
	pthread_t a, b;

	pthread_create(&a, nullptr, work, nullptr);
	pthread_create(&b, nullptr, work, nullptr);
	pthread_join(a, nullptr);
	pthread_join(b, nullptr);
	return 1;
}
X
cat >wanted <<'X'
lock queue.lock
write queue.first
value queue.first = -3
write queue.head
value queue.head = ADDRESS
write queue.head
value queue.head = NULL
write queue.slots[3].len
value queue.slots[3].len = 5
write queue.slots[2].tag
value queue.slots[2].tag = 'x'
write queue.slots[1].full
value queue.slots[1].full = true
write queue.slots[1].colour
value queue.slots[1].colour = GREEN
write queue.slots[1].colour
value queue.slots[1].colour = LESS
write queue.slots[1].small
value queue.slots[1].small = 65
write queue.either
value queue.either = 0x3fc00000
write queue.inner
value queue.inner = -1
write queue.real
value queue.real = 0.1
write queue.narrow
value queue.narrow = 0.1
write queue.wide
value queue.wide = 18446744073709551615
atomic-store queue.hits
write queue+156
value queue+156 = 3
write grid[2][4]
value grid[2][4] = 9
write text[5]
value text[5] = 10
write-range queue.slots
unlock queue.lock
lock mutex
unlock mutex
X

# Prints the names of thread 0.1's events: it runs second, when all memory is shared already.
names() {
	snarl dump "$1" 2>/dev/null |
		awk -F '\t; ' '$1 ~ /^0\.1 / && $1 !~ / (enter|exit|start|end|read) / {
			split($1, w, " ")
			split($2, o, "  ")
			print w[2], o[1]
		}' | sed 's/0x5[0-9a-f]*$/ADDRESS/; /^start/d; /^end/d'
}

for cc in $(compilers); do
	for dwarf in 4 5; do
		SNARL_CXX=$(cxx_of $cc) snarl-c++ -gdwarf-$dwarf -O0 -pthread fields.cc -o fields
		snarl test --quiet --runs 2 --out out -- ./fields </dev/null || [ $? = 1 ]
		# Some compilers read the bit field before writing it; so leave it out of the
		# comparison.
		names out/bugs/B001/trace.snarl | uniq >got
		grep -v 'queue+156' wanted >short
		grep -v 'queue+156' got >got.short || :
		same "$cc, DWARF $dwarf" short got.short
		grep -q '^write queue+156$' got ||
			fail "$cc, DWARF $dwarf: the bit field has a name"
		rm -r out
	done
done

# Without debug information, names are variable+offset and values are plain numbers.
snarl-c++ -g0 -O0 -pthread fields.cc -o fields
snarl test --quiet --runs 2 --out out -- ./fields </dev/null || [ $? = 1 ]
names out/bugs/B001/trace.snarl | sed -n 1,4p >got
printf '%s\n' 'lock queue+16' 'write queue' 'value queue = -3' 'write queue+8' >wanted
same "without debug information" wanted got
