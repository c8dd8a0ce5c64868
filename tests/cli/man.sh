# scripts/man converts a page to exactly the expected troff. Every command has a man page, and groff
# accepts all. The pages describe every strategy, analysis, pattern and report format.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need groff

cat >page.md <<'M'
# snarl try

Tries a *small* thing: with `--all`, it
tries all.

    snarl try [options] FILE

More, see [hunt](hunt.md) and [the site](https://example.org/x).

    $ snarl try a\b

    .hidden

## Options

| option | |
|---|---|
| `-a`, `--all` | all \| none of **them** |
| `x` | |

![a picture](x.png)

- first
  goes on
- second

1. step

### Details

.dots and 'quotes' begin lines - safely.

```
fenced  text
```
M
cat >wanted <<'M'
.\" -*- coding: utf-8 -*-
.TH "SNARL-TRY" 1 "" "snarl 1.2"
.SH NAME
snarl-try \- tries a small thing
.SH SYNOPSIS
.nf
snarl try [options] FILE
.fi
.SH DESCRIPTION
.PP
Tries a \fIsmall\fP thing: with \fB\-\-all\fP, it
tries all.
.PP
More, see hunt and the site (https://example.org/x).
.PP
.in +4n
.nf
$ snarl try a\eb

\&.hidden
.fi
.in
.SH OPTIONS
.TP
\fB\-a\fP, \fB\-\-all\fP
all | none of \fBthem\fP
.TP
\fBx\fP
\&
.IP \(bu 2
first
goes on
.IP \(bu 2
second
.IP 1. 4
step
.SS Details
.PP
\&.dots and 'quotes' begin lines \- safely.
.PP
.in +4n
.nf
fenced  text
.fi
.in
.SH SEE ALSO
.BR snarl (1)
M
"$SNARL_ROOT/scripts/man" snarl-try 1 1.2 <page.md >got
same "another page than expected" wanted got

pages=$SNARL_BUILD/share/man
snarl help | awk '/^A first/ { exit } /^  [a-z]/ && $1 != "c++" { print $1 }' >commands
[ "$(wc -l <commands)" -gt 5 ] || fail "snarl help lists few commands"
while read -r command; do
	page=$pages/man1/snarl-$command.1
	[ -e "$page" ] ||
		fail "no man page for snarl $command:" \
			"docs/$command.md is to begin with '# snarl $command'"
	grep -q '^.SH SYNOPSIS' "$page" || fail "$page has no synopsis"
done <commands
for page in "$pages"/man?/*; do
	groff -ww -K utf8 -man -Tutf8 "$page" >text 2>complaints || fail "groff $page"
	[ ! -s complaints ] || { cat complaints; fail "$page: groff complains"; }
	[ "$(wc -l <text)" -gt 20 ] || fail "$page is short"
	sed -n '/^\.SH NAME/{n;p;}' "$page" | grep -q '^snarl[a-z+, -]* \\- .' || fail "$page: NAME"
done

# What one line adds to a table of the sources needs a line in a page, too.
# in_page PAGE BEFORE AFTER: the page has each name from stdin, after BEFORE and followed by AFTER
in_page() {
	while read -r name; do
		grep -q "$2$name$3" "$SNARL_ROOT/docs/$1" || fail "docs/$1 does not describe $name"
		echo "$name"
	done >names
	[ -s names ] || fail "found no names that docs/$1 has to describe"
}
snarl test --strategy help | awk '{ print $1 }' | in_page strategies.md '^## ' '$'
snarl analyze --help | sed -n '/^Analyses:/,/^$/s/^  \([^ ]*\).*/\1/p' |
	in_page analyze.md '^| `' '` |'
sed -n 's/^PATTERN([A-Z_]*, "\([^"]*\)".*/\1/p' "$SNARL_ROOT/src/analyze/pattern.def" |
	in_page analyze.md '`' '`'
snarl report --help | sed -n '/^Formats:/,/^$/s/^  \([^ ]*\).*/\1/p' |
	in_page report.md '\*\*' '\*\*'

# A table with three columns keeps them all.
groff -K utf8 -man -Tascii -P-c "$pages/man7/snarl-strategies.7" 2>/dev/null | grep -q 'depth 1' ||
	fail "strategies: a column is lost"
