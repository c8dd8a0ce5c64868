# debian/ agrees with the sources: version, build dependencies, licence. make check-deb builds the
# package.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
cd "$SNARL_ROOT"

[ -x debian/rules ] || fail "debian/rules cannot be run"
[ "$(cat debian/source/format)" = '3.0 (native)' ] || fail "debian/source/format"
version=$(sed -n '1s/^snarl (\([^)]*\)) .*/\1/p' debian/changelog)
[ "snarl $version" = "$(snarl --version)" ] ||
	fail "debian/changelog has $version, not $(snarl --version)"
# Every library that the tool links is in Build-Depends.
for library in $(sed -n 's/^TOOL_LIBS := //p' Makefile); do
	case $library in -lm | -lpthread) continue ;; esac
	grep -q "^Build-Depends:.*lib${library#-l}[0-9]*-dev" debian/control ||
		fail "$library is not in Build-Depends"
done
# debian/copyright has the text of LICENSE.
sed -n '/^Permission/,$p' LICENSE | tr -s ' \n' '  ' >"$OLDPWD/licence"
sed -n '/^ Permission/,$p' debian/copyright | sed 's/^ \.$//' | tr -s ' \n' '  ' |
	sed 's/^ //' >"$OLDPWD/copyright"
same "debian/copyright is not LICENSE" "$OLDPWD/licence" "$OLDPWD/copyright"
! command -v dpkg-parsechangelog >/dev/null || dpkg-parsechangelog >/dev/null ||
	fail "debian/changelog"
