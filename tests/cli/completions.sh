# The completions of bash, zsh and fish offer exactly the options in each command's source, with a
# value where the option takes one. bash also completes commands, choices and files. A new option
# that is missing fails.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
scripts=$SNARL_BUILD/share/completions

# Reads C source, prints "LONG required|no" for each row of a getopt_long table; skips internal
# options.
tables() {
	sed -n 's/.*{ "\([a-z-]*\)", \(required\|no\)_argument.*/\1 \2/p' |
		grep -v -E '^(into|given) ' || true
}
for command in $(snarl help | awk '/^A first/ { exit } /^  [a-z]/ && $1 != "c++" { print $1 }'); do
	source=$(find "$SNARL_ROOT/src/cmd" -name "$(echo $command | tr - _).c")
	[ "$command" != cc ] ||
		{ printf 'cc %s no\n' no-inline no-loops production snarl-no-instrument \
		snarl-print; continue; }
	{
		tables <"$source"
		for macro in $(sed -n 's/^	\(EXPLORE_[A-Z]*_OPTIONS\),$/\1/p' "$source"); do
			sed -n "/^#define $macro /,/[^\\\\]\$/p" \
				"$SNARL_ROOT/src/cmd/explore_options.h" | tables
		done
	} | sed "s/^/$command /"
done | sort >wanted
[ "$(grep -c '^hunt' wanted)" -gt 20 ] || fail "few options found in the sources"
cut -d' ' -f1,2 wanted >wanted.names

need bash
# reply WORD…: prints what bash would offer for the last word
cat >reply.bash <<'X'
compopt() { :; }
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_snarl
printf '%s\n' "${COMPREPLY[@]}"
X
reply() { bash reply.bash "$scripts/snarl.bash" "$@"; }
bash -n "$scripts/snarl.bash"
for command in $(cut -d' ' -f1 wanted | uniq); do
	reply snarl $command -- | sed -n "s/^--/$command /p"
done | sort >got
same "bash: other options than the commands have" wanted.names got

reply snarl '' | tr '\n' ' ' | grep -q '^cc c++ hunt test .*help --help --version $' ||
	fail "bash: commands"
[ "$(reply snarl re | tr '\n' ' ')" = "$(snarl help |
	awk '/^A first/ { exit } /^  re/ { print $1 }' | tr '\n' ' ')" ] || fail "bash: snarl re"
[ "$(reply snarl help du)" = dump ] || fail "bash: snarl help du"
[ "$(reply snarl hunt --backend '' | tr '\n' ' ')" = 'user kernel ' ] || fail "bash: --backend"
snarl report --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p' >formats
grep -qx html formats || fail "formats of snarl report --help: $(tr '\n' ' ' <formats)"
reply snarl report -f '' >got
same "bash: --format" formats got
[ "$(reply snarl hunt --expect-exit '')" = any ] || fail "bash: --expect-exit"
reply snarl test -s p | grep -qx pct || fail "bash: --strategy"
touch file1 && mkdir folder2
[ "$(reply snarl hunt --out f)" = folder2 ] || fail "bash: a folder"
[ "$(reply snarl hunt -- --x --ru)" = '' ] || fail "bash: options after --"
[ "$(reply snarl hunt -- fil)" = file1 ] || fail "bash: the program"
[ "$(reply snarl hunt --runs '')" = '' ] || fail "bash: a number"

# The scripts for zsh and fish also say which options take a value.
if command -v zsh >/dev/null; then
	zsh -n "$scripts/_snarl"
	cat >spec.zsh <<'X'
_arguments() { shift; print -rl -- "$@" }
_describe() { print -rl -- ${(P)2} }
words=(snarl $2 --) CURRENT=3
. $1
X
	for command in $(cut -d' ' -f1 wanted | uniq); do
		zsh -f spec.zsh "$scripts/_snarl" $command |
			sed -n -e "s/^\*--\([a-z-]*\)\[.*[^\\]\]:.*/$command \1 required/p; t" \
				-e "s/^\*--\([a-z-]*\)\[.*/$command \1 no/p"
	done | sort >got
	same "zsh: other options than the commands have" wanted got
fi
if command -v fish >/dev/null; then
	HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
	export HOME XDG_CONFIG_HOME XDG_DATA_HOME
	fish -n "$scripts/snarl.fish"
	for command in $(cut -d' ' -f1 wanted | uniq); do
		fish -c "source $scripts/snarl.fish; complete -C 'snarl $command --'" |
			sed -n "s/^--\([a-z-]*\).*/$command \1/p"
	done | sort >got
	same "fish: other options than the commands have" wanted.names got
	[ "$(fish -c "source $scripts/snarl.fish; complete -C 'snarl hunt --backend '" | cut -f1 |
		sort | tr '\n' ' ')" = 'kernel user ' ] ||
		fail "fish: --backend"
	fish -c "source $scripts/snarl.fish; complete -C 'snarl hu'" | grep -q '^hunt' ||
		fail "fish: commands"
fi
