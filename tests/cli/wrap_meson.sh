#!/bin/sh
# A Meson project builds unchanged; Meson links libraries with --no-undefined by default.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/cli/wrap_project.inc"
need meson ninja

project_sources
cat >meson.build <<'EOF'
project('demo', 'c', 'cpp')
threads = dependency('threads')
count = shared_library('count', 'count.c', dependencies : threads)
twice = static_library('twice', 'twice.c')
executable('demo', 'main.c', link_with : [count, twice], dependencies : threads)
executable('democpp', 'main.cc', link_with : count, dependencies : threads)
EOF

CC=snarl-cc CXX=snarl-c++ meson setup out >log 2>&1 || { cat log; fail "meson setup"; }
ninja -C out >log 2>&1 || { cat log; fail "ninja"; }
project_check out/demo out/libcount.so
project_check out/democpp out/libcount.so
