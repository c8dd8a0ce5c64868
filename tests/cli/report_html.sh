# The HTML pages as text: text of the program stays text, the pages load nothing, and the content
# security policy has the hash of their script. report_browser.sh opens them in a browser.
. "$SNARL_ROOT/tests/lib.sh"
need python3
cp -r "$SNARL_ROOT/tests/cli/report/." .
cp lost/bank.c .
for bug in lost deadlock freed hostile; do
	snarl report -f html $bug >/dev/null || fail "$bug: exit $?"
done
mkdir -p all/bugs
cp -r hostile all/bugs/B001
cp -r lost 'all/bugs/B00"2>'
snarl report -f html all >/dev/null || fail "index: exit $?"

cat >check.py <<'END'
import base64, hashlib, html.parser, re, sys

class Page(html.parser.HTMLParser):
    VOID = {'meta', 'link', 'br', 'img'}
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.texts, self.scripts = [], [], [], [], []
        self.tags = {}
    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            assert not name.startswith('on'), (tag, name)
            if name in ('href', 'src', 'action'):
                assert not re.match(r'\s*(javascript|https?|//)', value or '', re.I), value
                self.links.append(value)
            if name == 'id':
                self.ids.append(value)
        if tag not in self.VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, ('not nested', tag, self.getpos())
    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.scripts.append(data)
        else:
            self.texts.append(data)

for name in sys.argv[1:]:
    text = open(name, encoding='utf-8').read()	# fails on invalid UTF-8
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert len(page.scripts) == 1, page.scripts
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert "script-src 'sha256-%s'" % digest in text, 'the policy names another script: ' + digest
    assert len(set(page.ids)) == len(page.ids), 'ids'
    for link in page.links:
        if link.startswith('#'):
            assert link[1:] in page.ids, link
    for tag in ('img', 'iframe', 'object', 'form', 'em', 'q', 'u', 's'):
        assert tag not in page.tags, tag
    assert not re.search('[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]', text), 'control characters'
    assert page.tags['h1'] == 1 and page.tags['main'] == 1
    print(name, 'ok')
END
PYTHONIOENCODING=utf-8 python3 check.py lost/report.html deadlock/report.html freed/report.html \
	hostile/report.html all/index.html || fail "see above"

# The contents of a lost update's page.
has() {
	grep -qF -e "$1" lost/report.html || fail "lost: the page lacks: $1"
}
has '<h1>Lost update on balance</h1>'
has '<code>./bank &#39;two words&#39;</code>'
has 'class="arrow conflict"'
has 'class="arrow handover"'
has 'holds m</title>'
has '<code>value = balance;</code>'
has 'All orders that were proved to fail (2)'
has 'The nearest run that passes'
has '<tr class="first"><td>2 ← first difference</td><td>0.1</td><td>9 steps</td>'
has '<tr class="first"><td>2 ← first difference</td><td>0.1</td><td>12 steps</td>'
has 'balance 20'
has '21 steps, 4 switches between threads'
has '<code>snarl replay lost/interleavings/1.txt</code>'
has 'Failures with this cause (2)'
has '<code>snarl replay lost/failures/02.txt</code>'
grep -q 'class="arrow wait"' deadlock/report.html || fail "deadlock: no arrow from a blocked thread"
! grep -q root: hostile/report.html || fail "a file elsewhere was read"

# A source file newer than the program is not shown.
printf '#!/bin/sh\n' >bank
sed "s|/nowhere/bank|$PWD/bank|" lost/bug.json >bug.json && cp bug.json lost/bug.json
touch -d 2001-01-01 bank
snarl report lost >changed.txt
grep -q 'bank.c has changed since the program was built' changed.txt ||
	fail "a newer source is shown"
! grep -q 'value = balance' changed.txt || fail "lines of a newer source"
