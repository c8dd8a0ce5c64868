# make install into an empty DESTDIR whose name has a space: exactly the expected files, and the
# installed tools work without the build folder.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need make pkg-config

make -s -C "$SNARL_ROOT" install-built DESTDIR="$PWD/a root" PREFIX=/opt/snarl >log 2>&1 ||
	{ cat log; fail "make install"; }
here="$PWD/a root/opt/snarl"
(cd "$here" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort) >files
# Leave out man pages and documents, of which there is one per command or page.
grep -v -E -e '^share/man/man1/snarl-[a-z+-]*\.1$' -e '^share/doc/snarl/[a-z-]*\.md$' \
	-e '^share/doc/snarl/(examples|images|internals|measurements)/.*$' files >got
cat >wanted <<'F'
bin/snarl
bin/snarl-c++
bin/snarl-cc
include/snarl.h
lib/snarl/include/snarl.h
lib/snarl/libexec/as
lib/snarl/libsnarlrt-static.a
lib/snarl/libsnarlrt.a
lib/snarl/snarl-exports.txt
lib/snarl/snarl-gcc.specs
lib/snarl/snarl-gdb.py
lib/snarl/snarl-wraps.txt
share/bash-completion/completions/snarl
share/cmake/Snarl/SnarlConfig.cmake
share/cmake/Snarl/SnarlConfigVersion.cmake
share/doc/snarl/README.md
share/doc/snarl/symbols.txt
share/fish/vendor_completions.d/snarl.fish
share/man/man1/snarl.1
share/man/man5/snarl-schedule.5
share/man/man5/snarl-trace.5
share/man/man7/snarl-ci.7
share/man/man7/snarl-production.7
share/man/man7/snarl-strategies.7
share/man/man7/snarl-suppressions.7
share/meson/native/snarl
share/pkgconfig/snarl.pc
share/snarl/seccomp.json
share/snarl/snarl-toolchain.cmake
share/zsh/site-functions/_snarl
F
same "other files than expected" wanted got
for page in "$SNARL_BUILD"/share/man/man1/*; do
	[ -e "$here/share/man/man1/$(basename "$page")" ] || fail "no $(basename "$page")"
done
[ -z "$(find "$here" ! -type l ! -perm -444)" ] || fail "not all can be read by all"

PATH=$(echo "$PATH" | tr : '\n' | grep -v -x "$SNARL_BUILD/bin" | tr '\n' :)
PATH=$here/bin:$PATH
[ "$(command -v snarl)" = "$here/bin/snarl" ] || fail "another snarl is found"
snarl-cc -O1 -pthread "$here/share/doc/snarl/examples/bank.c" -o bank
snarl-c++ -x c++ -O1 -pthread "$here/share/doc/snarl/examples/bank.c" -o bank++
for program in bank bank++; do
	status=0
	snarl hunt --quiet --out $program.out -- ./$program </dev/null || status=$?
	[ $status = 1 ] || fail "hunt $program: exit $status"
	status=0
	snarl replay --quiet $program.out/bugs/B001 || status=$?
	[ $status = 1 ] || fail "replay $program: exit $status"
done
snarl-cc -static -O1 -pthread "$here/share/doc/snarl/examples/bank_fixed.c" -o fixed
snarl test --quiet --runs 20 -- ./fixed </dev/null || fail "test: exit $?"

# pkg-config finds the header for a build without snarl-cc. Through a link: a path with a space
# needs an eval.
ln -s "a root" root
PKG_CONFIG_PATH=$PWD/root/opt/snarl/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
[ "snarl $(pkg-config --modversion snarl)" = "$(snarl --version)" ] || fail "version of snarl.pc"
[ "$(pkg-config --variable=cc snarl)" = "$PWD/root/opt/snarl/bin/snarl-cc" ] ||
	[ "$(pkg-config --variable=cc snarl)" = /opt/snarl/bin/snarl-cc ] || fail "cc of snarl.pc"
cat >plain.c <<'F'
#include <snarl.h>
int main(void) { SNARL_BLOCK_BEGIN("x"); SNARL_BLOCK_END(); return 0; }
F
cc $(pkg-config --cflags snarl) plain.c -o plain && ./plain || fail "snarl.h by pkg-config"
