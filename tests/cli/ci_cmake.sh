# The installed CMake module: hunts that pass, find a bug, or find only a known bug give the right
# results of ctest. Labels work, and a build without snarl-cc gets no hunts.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need cmake ctest make

make -s -C "$SNARL_ROOT" install-built PREFIX="$PWD/usr" >log 2>&1 ||
	{ cat log; fail "make install"; }
PATH=$PWD/usr/bin:$(echo "$PATH" | tr : '\n' | grep -v -x "$SNARL_BUILD/bin" | tr '\n' :)
cp "$SNARL_ROOT/examples/bank.c" "$SNARL_ROOT/examples/bank_fixed.c" .
cat >CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.10)
project(demo C)
enable_testing()
find_package(Threads REQUIRED)
find_package(Snarl 0.1 REQUIRED)
foreach(name bank bank_fixed)
	add_executable(${name} ${name}.c)
	target_link_libraries(${name} Threads::Threads)
endforeach()
add_test(NAME plain COMMAND bank_fixed)
snarl_add_hunt(bank)
snarl_add_hunt(bank_fixed RUNS 100 LABELS quick)
snarl_add_hunt(bank NAME by-strategy STRATEGY pct RUNS 300 OPTIONS --depth 2)
snarl_add_hunt(bank NAME known RUNS 60 BASELINE known.json TIMEOUT 100)
snarl_add_hunt(bank_fixed NAME arguments RUNS 5 ARGUMENTS "a b" c
	OPTIONS --check "test $SNARL_STATUS = 0")
X
snarl-cc -O1 -pthread bank.c -o bank
snarl hunt --quiet --keep-going --runs 60 --out first -- ./bank </dev/null || [ $? = 1 ]
cp first/results.json known.json

cmake -S . -B build "-DCMAKE_TOOLCHAIN_FILE=$PWD/usr/share/snarl/snarl-toolchain.cmake" >log 2>&1 ||
	{ cat log; fail "cmake"; }
make -C build >log 2>&1 || { cat log; fail "make"; }
status=0
(cd build && ctest) >log 2>&1 || status=$?
[ $status != 0 ] || { cat log; fail "ctest passes with a bug"; }
sed -n 's/.*Test *#[0-9]*: \([a-z_-]*\) \.*[ *]*\(Passed\|Failed\|[A-Z][a-z]*\).*/\1 \2/p' log |
	sort -u >got
cat >wanted <<'X'
arguments Passed
by-strategy Failed
known Passed
plain Passed
snarl-bank Failed
snarl-bank_fixed Passed
X
same "other results of ctest" wanted got
(cd build && ctest -N -L snarl) | grep -q 'Total Tests: 5' || fail "label snarl"
(cd build && ctest -N -L quick) | grep -q 'Total Tests: 1' || fail "label quick"
[ -e build/snarl-out/snarl-bank/bugs/B001/schedule.txt ] || fail "the bug is not kept"
status=0
snarl replay --quiet build/snarl-out/snarl-bank/bugs/B001 || status=$?
[ $status = 1 ] || fail "the bug does not replay: exit $status"
grep -q '"a b","c"' build/snarl-out/arguments/results.json || fail "the arguments did not arrive"

# CC=snarl-cc works like the toolchain file; a build with another compiler has only the plain test.
CC=snarl-cc cmake -S . -B environment >log 2>&1 || { cat log; fail "cmake with CC"; }
(cd environment && ctest -N) | grep -q 'Total Tests: 6' || fail "CC=snarl-cc: tests"
CC=cc cmake -S . -B plain "-DCMAKE_PREFIX_PATH=$PWD/usr" >log 2>&1 ||
	{ cat log; fail "cmake without snarl-cc"; }
grep -q 'snarl: this build is not instrumented, hunts are left out' log ||
	{ cat log; fail "does not say that it adds nothing"; }
(cd plain && ctest -N) | grep -q 'Total Tests: 1' || fail "plain: tests"

echo 'snarl_add_hunt(bank RUN 5)' >>CMakeLists.txt
! cmake -S . -B wrong "-DCMAKE_PREFIX_PATH=$PWD/usr" >log 2>&1 ||
	fail "a misspelt keyword is accepted"
grep -q 'snarl_add_hunt(bank): what is RUN' log || { cat log; fail "other message"; }
