# scripts/deps prints nothing if all packages are installed, installs missing ones by name as root,
# and tells a user who may not install what to run.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need dpkg-query apt-get
deps=$SNARL_ROOT/scripts/deps

"$deps" >out 2>&1 || { cat out; fail "exit $? where all is installed"; }
[ ! -s out ] || { cat out; fail "not quiet where all is installed"; }

# Fake commands pretend that libjansson-dev is missing. Nothing is really installed.
mkdir fake
cat >fake/dpkg-query <<'X'
#!/bin/sh
printf 'installed %s \n' gcc g++ make clang libclang-rt-14-dev libdw-dev libelf-dev libzstd-dev \
	libcmocka-dev libsqlite3-dev cmake meson ninja-build autoconf automake libtool pkgconf \
	binutils clang-19 libclang-rt-19-dev libomp-14-dev gdb zsh fish chromium sqlite3 |
	sed 's/pkgconf /pkgconf pkg-config (= 1.8)/'
X
cat >fake/apt-get <<'X'
#!/bin/sh
echo "apt-get $*" >>calls
X
cat >fake/apt-cache <<'X'
#!/bin/sh
exit "${CACHE:-0}"
X
cat >fake/sudo <<'X'
#!/bin/sh
exit 1
X
cat >fake/id <<'X'
#!/bin/sh
echo "$USER_ID"
X
chmod +x fake/*
PATH=$PWD/fake:$PATH
export USER_ID CACHE

install='apt-get install -y -q --no-install-recommends libjansson-dev'
USER_ID=0 CACHE=0
"$deps" >out 2>&1 || fail "exit $? as root"
[ "$(cat calls)" = "$install" ] || { cat calls; fail "other calls than one install"; }
grep -q 'installing missing Debian packages: libjansson-dev' out ||
	{ cat out; fail "does not say it"; }

rm calls
CACHE=100 "$deps" >out 2>&1 || fail "exit $? as root with old lists"
[ "$(cat calls)" = "apt-get update -q
$install" ] || { cat calls; fail "other calls than update and install"; }

rm calls
status=0
USER_ID=1000 "$deps" >out 2>&1 || status=$?
[ $status = 3 ] || fail "exit $status, not 3, for a user who may not install"
[ ! -e calls ] || fail "called apt-get as a user"
grep -q '    apt-get install libjansson-dev$' out || { cat out; fail "does not say what to do"; }
