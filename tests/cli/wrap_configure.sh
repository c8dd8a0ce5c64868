#!/bin/sh
# CC=snarl-cc ./configure && make: the usual tests of a configure script, a static library, and a
# shared one linked the way hand-written makefiles do it.
: "${SNARL_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}" "${SNARL_BUILD:=$SNARL_ROOT/build}"
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/cli/wrap_project.inc"
need autoconf make

project_sources
cat >configure.ac <<'EOF'
AC_INIT([demo], [1.0])
AC_PROG_CC
AC_PROG_CXX
AC_C_INLINE
AC_C_BIGENDIAN
AC_CHECK_SIZEOF([long])
AC_CHECK_HEADERS([pthread.h unistd.h no_such_header.h])
AC_SEARCH_LIBS([pthread_create], [pthread])
AC_SEARCH_LIBS([sqrt], [m])
AC_CHECK_FUNCS([mmap strlcpy_no_such_function])
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
EOF
cat >Makefile.in <<'EOF'
CC = @CC@
CXX = @CXX@
CFLAGS = @CFLAGS@
LIBS = @LIBS@
all: demo democpp
libcount.so: count.c
	$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,libcount.so -Wl,-z,defs -o $@ count.c $(LIBS)
libtwice.a: twice.o
	ar rcs $@ twice.o
demo: main.o libtwice.a libcount.so
	$(CC) $(CFLAGS) -o $@ main.o libtwice.a -L. -lcount -Wl,-rpath,. $(LIBS)
democpp: main.cc libcount.so
	$(CXX) -O2 -o $@ main.cc -L. -lcount -Wl,-rpath,. $(LIBS)
EOF
printf '#! /bin/sh\n' >install-sh
autoconf >log 2>&1 && autoheader >>log 2>&1 || { cat log; fail "autoconf"; }

# config.h must not depend on the wrapper.
mkdir plain
(cd plain && ../configure CC=gcc CXX=g++) >log 2>&1 || { cat log; fail "configure with gcc"; }
CC=snarl-cc CXX=snarl-c++ SNARL_CC=gcc SNARL_CXX=g++ ./configure >log 2>&1 ||
	{ cat config.log; fail "configure"; }
same "config.h depends on the wrapper" plain/config.h config.h
SNARL_CC=gcc SNARL_CXX=g++ make >log 2>&1 || { cat log; fail "make"; }
project_check ./demo ./libcount.so
project_check ./democpp ./libcount.so

rm -f demo democpp ./*.o ./*.so ./*.a
CC='snarl-cc --production' CXX='snarl-c++ --production' SNARL_CC=gcc SNARL_CXX=g++ ./configure \
	>log 2>&1 ||
	{ cat config.log; fail "configure, production"; }
same "config.h depends on --production" plain/config.h config.h
SNARL_CC=gcc SNARL_CXX=g++ make >log 2>&1 || { cat log; fail "make, production"; }
project_check_production ./demo ./libcount.so
project_check_production ./democpp ./libcount.so
