# snarl report: which folders it reads, which files it writes, and its errors.
. "$SNARL_ROOT/tests/lib.sh"
export LC_ALL=C.UTF-8

# refused STATUS TEXT ARGS…: exit code STATUS and one line on stderr that contains TEXT
refused() {
	refused_status=$1 refused_text=$2
	shift 2
	status=0
	snarl report "$@" >out 2>err || status=$?
	[ $status = "$refused_status" ] || fail "report $*: exit $status instead of $refused_status"
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "report $*: not one line"; }
	grep -qF -e "$refused_text" err ||
		{ cat err; fail "report $*: no word of '$refused_text'"; }
	[ ! -s out ] || fail "report $*: something on stdout"
}
refused 3 'cannot read snarl-out: No such file'
mkdir empty
refused 3 'has neither results.json nor bug.json' empty
refused 2 "no format 'htm'; did you mean 'html'?" -f htm
refused 2 "option '--out' needs a value" --out
refused 2 'one DIR at a time' a b
refused 2 '--width needs a number' --width 7

cp -r "$SNARL_ROOT/tests/cli/report/lost" .
mkdir -p all/bugs
cp -r lost all/bugs/B001
cp -r "$SNARL_ROOT/tests/cli/report/deadlock" all/bugs/B010
cp -r "$SNARL_ROOT/tests/cli/report/freed" all/bugs/B1000
mkdir all/bugs/unfinished
cat >all/results.json <<'END'
{"version":1,"program":"/nowhere/bank","runs":12,"seconds":0.25,"bugs":[{"id":"B001"}],
"coverage":{"interleavings":5}}
END

snarl report all >all.txt || fail "exit $?"
[ "$(grep -c '^B[0-9]*: ' all.txt)" = 3 ] || fail "not three bugs"
[ "$(sed -n 's/^\(B[0-9]*\): .*/\1/p' all.txt | tr '\n' ' ')" = 'B001 B002 B003 ' ] ||
	fail "not by number"

[ "$(snarl report -f html all)" = all/index.html ] || fail "it does not say where the index is"
for page in all/index.html all/bugs/B001/report.html all/bugs/B1000/report.html \
	all/bugs/B010/report.html; do
	[ -s $page ] || fail "no $page"
done
[ -z "$(find all -name '*.tmp')" ] || fail "left over: *.tmp"
[ "$(snarl report -f html -o elsewhere all/)" = elsewhere/index.html ] || fail "--out"
cmp elsewhere/index.html all/index.html &&
	cmp elsewhere/bugs/B1000/report.html all/bugs/B1000/report.html ||
	fail "--out writes something else"
[ "$(snarl report --format=html lost)" = lost/report.html ] || fail "html of one bug"
snarl report -f html -o - lost | cmp - lost/report.html || fail "html on stdout"
snarl report -o file.txt lost && [ -s file.txt ] || fail "text into a file"

# Every link of the index points to an existing page.
for link in $(sed -n 's/.*href="\(bugs[^"]*\)".*/\1/p' all/index.html); do
	[ -s "all/$link" ] || fail "no all/$link"
done

snarl report -f json all >all.json || fail "json: exit $?"
python3 - <<'END' || fail "json"
import json
r = json.load(open('all.json'))
assert r['runs'] == 12 and r['version'] == 1 and len(r['bugs']) == 3, r
b = r['bugs'][0]
assert b['title'] == 'Lost update on balance' and b['pattern'] == 'RWW'
assert [s['number'] for s in b['picture'] if s['number']] == [1, 2, 3]
assert [s['thread'] for s in b['picture'] if s['number']] == ['0.1', '0.2', '0.1']
END

# Errors name the damaged file and the line.
printf '{\n"id": "B001",\n,}\n' >lost/bug.json
refused 3 'lost/bug.json:3: ' lost
printf '[]' >lost/bug.json
refused 3 'lost/bug.json:1: not an object' lost
: >lost/bug.json
refused 3 'lost/bug.json:1: ' lost
printf '{' >all/results.json
refused 3 'all/results.json:1: ' all

# A missing file is left out of the report; a damaged one is mentioned.
mkdir bare
echo '{}' >bare/bug.json
snarl report bare >bare.txt || fail "an empty bug: exit $?"
grep -q '^bare: The program failed$' bare.txt || fail "an empty bug has no title"
cp "$SNARL_ROOT/tests/cli/report/lost/bug.json" bare/
printf 'snarl-text 1\n0 create 0.1\n0.1 nonsense\n' >bare/trace.snarl
echo nonsense >bare/schedule.txt
snarl report bare >bare.txt || fail "damaged parts: exit $?"
grep -q 'Only the events named in bug.json are shown: .*trace.snarl' bare.txt ||
	fail "no note about the trace"
grep -q 'The schedule is not shown: .*schedule.txt:1' bare.txt || fail "no note about the schedule"
grep -q '1 reads balance' bare.txt || fail "no steps from bug.json"

chmod a-w bare 2>/dev/null
[ "$(id -u)" = 0 ] || refused 3 'cannot write bare/report.html' -f html bare
refused 3 'cannot write bare/none/x: No such file' -o bare/none/x bare

# docs/report.md describes every format in a paragraph that begins with its name.
snarl report --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p' >formats
grep -qx html formats || fail "formats of snarl report --help: $(tr '\n' ' ' <formats)"
while read -r format; do
	grep -q "^\*\*$format\*\*: " "$SNARL_ROOT/docs/report.md" ||
		fail "docs/report.md does not describe $format"
done <formats
