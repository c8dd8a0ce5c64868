#!/bin/sh
# A CMake project with a shared and a static library, threads and C++ builds unchanged with CC and
# CXX set, with the toolchain file, and as a production build.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/cli/wrap_project.inc"
need cmake make

project_sources
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.10)
project(demo C CXX)
find_package(Threads REQUIRED)
add_library(count SHARED count.c)
add_library(twice STATIC twice.c)
add_executable(demo main.c)
target_link_libraries(demo count twice Threads::Threads)
target_link_options(count PRIVATE -Wl,--no-undefined)
add_executable(democpp main.cc)
target_link_libraries(democpp count Threads::Threads)
EOF

for way in environment toolchain; do
	case $way in
	environment) set -- env CC=snarl-cc CXX=snarl-c++ cmake ;;
	toolchain) set -- cmake "-DCMAKE_TOOLCHAIN_FILE=$SNARL_BUILD/share/snarl-toolchain.cmake" ;;
	esac
	"$@" -S . -B "$way" >log 2>&1 || { cat log; fail "cmake, $way"; }
	make -C "$way" >log 2>&1 || { cat log; fail "make, $way"; }
	project_check "$way/demo" "$way/libcount.so"
	project_check "$way/democpp" "$way/libcount.so"
done

CC='snarl-cc --production' CXX='snarl-c++ --production' cmake -S . -B production >log 2>&1 ||
	{ cat log; fail "cmake, production"; }
make -C production >log 2>&1 || { cat log; fail "make, production"; }
project_check_production production/demo production/libcount.so
project_check_production production/democpp production/libcount.so
