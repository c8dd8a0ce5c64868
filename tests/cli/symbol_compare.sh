#!/bin/sh
# Functions, inlined frames, files, lines and columns of thousands of addresses agree with
# llvm-symbolizer, for a slice of the installed compilers and of the forms of DWARF.
. "$SNARL_ROOT/tests/lib.sh"
need awk readelf
symbolizer=
for name in llvm-symbolizer-14 llvm-symbolizer; do
	if [ -z "$symbolizer" ] && command -v $name >/dev/null 2>&1; then symbolizer=$name; fi
done
[ -n "$symbolizer" ] || skip "no llvm-symbolizer"

${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$SNARL_ROOT/src" ${SNARL_ASAN:+-fsanitize=address,undefined} \
	-O1 "$SNARL_ROOT/tests/cli/symbol_lookup.c" "$SNARL_BUILD/lib/libsnarl.a" \
	-ldw -lelf -lzstd -ljansson -o lookup

cat >prog.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace bank {
namespace { int hidden = 3; }
struct Account {
	static int total;
	int b[4];
	int deposit(int x);
	template <class T> T scale(T k) { return k * b[0]; }
};
int Account::total = 5;
int Account::deposit(int x)
{
	static int calls;
	struct Local { static int twice(int y) { return y * 2; } };
	calls++;
	b[0] += x;
	total += Local::twice(x) + hidden++;
	return calls;
}
}
static int table[10];
int main(int argc, char **argv)
{
	bank::Account a{};
	std::vector<std::string> words(argv, argv + argc);
	std::map<int, std::string> by_size;
	for (auto &w : words)
		by_size[(int)w.size()] = w;
	std::sort(words.begin(), words.end());
	auto f = [&](int q) { table[q % 10] += a.deposit(q); return (int)a.scale(2.5); };
	auto p = std::make_shared<bank::Account>(a);
	std::printf("%d %d\n", f(1), (int)by_size.size());
	return p->deposit(1) == 77;
}
END

# addresses FILE N: prints N random addresses in .text, the same in every run
addresses() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' | awk -v n="$2" '
	function number(text, i, v) {
		for (i = 1; i <= length(text); i++)
			v = v * 16 + index("0123456789abcdef", substr(tolower(text), i, 1)) - 1
		return v
	}
	$1 == ".text" {
		srand(7)
		low = number($3)
		size = number($5)
		for (i = 0; i < n; i++)
			printf "0x%x\n", low + int(rand() * size)
	}'
}

# compare FILE N: compares our frames of N addresses with llvm-symbolizer's
compare() {
	addresses "$1" "$2" >pcs
	[ "$(wc -l <pcs)" = "$2" ] || fail "no addresses in $1"
	./lookup "$1" <pcs 2>took | cut -f2- >ours
	$symbolizer --obj="$1" --functions=short --basenames --inlines <pcs |
		awk 'BEGIN { RS = ""; FS = "\n"; OFS = "\t" } { $1 = $1; print }' >theirs
	# llvm-symbolizer gives only the last part of a name. Where it has none, our symbol table's
	# name is accepted.
	paste -d '\n' ours theirs | awk -F '\t' '
	NR % 2 { n = split($0, a, "\t"); mine = $0; next }
	{
		m = split($0, b, "\t")
		bad = n != m
		for (i = 1; i <= n && !bad; i++)
			if (i % 2 == 0)
				bad = a[i] != b[i]
			else
				bad = b[i] != "??" && a[i] != b[i] &&
				      substr(a[i], length(a[i]) - length(b[i]) - 1) != "::" b[i]
		total++
		if (bad && wrong++ < 5)
			print "ours:   " mine "\ntheirs: " $0
	}
	END { print total + 0, "compared,", wrong + 0, "differ";
		exit wrong > 0 || total == 0 }' >verdict ||
		{ cat verdict; fail "$1 ($how)"; }
	grep -q "^$2 compared, 0 differ" verdict || { cat verdict; fail "$1 ($how)"; }
}

variants=0
try() {
	how=$*
	"$@" -pthread prog.cc -o prog 2>err || { echo "skipped: $how"; return 0; }
	compare ./prog 1500
	variants=$((variants + 1))
}
for o in -O0 -O2; do
	for cxx in g++ clang++-14 clang++-19 clang++; do
		command -v $cxx >/dev/null 2>&1 || continue
		echo "$cxx $o -std=c++17 -gdwarf-4"
		echo "$cxx $o -std=c++17 -gdwarf-5 -no-pie"
		echo "$cxx $o -std=c++17 -g -gsplit-dwarf"
	done
	echo "g++ $o -g -flto"
	echo "g++ $o -g -ffunction-sections -Wl,--gc-sections"
	echo "g++ $o -g -fdebug-types-section"
done | slice 4 >list
while read -r command; do
	try $command </dev/null
done <list
[ $variants -gt 0 ] || fail "nothing was compared"

# snarl itself: many units of C, 10,000 addresses.
how="the tool"
compare "$SNARL_BUILD/bin/snarl" 10000
cat took
echo "$variants variants"
