# The pages of an atomicity violation, a deadlock, a use after free and a bug of two variables in
# Chromium, alternately at the size of a telephone and of a desktop. Checks that scripts raise no
# error, that roles and names are there, and that nothing overlaps or overflows. With
# SNARL_SHOTS=FOLDER, also makes screenshots, light and dark: atomicity-1600-light.png,
# deadlock-…, use-after-free-…, two-variable-….
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"
need python3
browser=
for name in chromium chromium-browser google-chrome; do
	! command -v $name >/dev/null 2>&1 || { browser=$name; break; }
done
[ -n "$browser" ] || skip "no chromium, and it could not be installed"

# browse WIDTH,HEIGHT OPTIONS… URL: runs the browser without a window
browse() {
	browse_size=$1
	shift
	HOME=$PWD timeout 60 $browser --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
		--disable-extensions \
		--no-first-run --disable-background-networking --disable-component-update \
		--disable-dev-shm-usage \
		--user-data-dir="$PWD/profile" --window-size="$browse_size" "$@" 2>browser.err
}
echo '<!doctype html><title>x</title><p id=p>it works' >probe.html
browse 800,600 --dump-dom "file://$PWD/probe.html" | grep -q 'it works' ||
	skip "$browser does not run here: $(tail -n 1 browser.err | cut -c1-120)"

cat >inside.js <<'END'
(function () {
	var bad = [], seen = {}, copied;
	function expect(ok, what) { if (!ok) bad.push(what); }
	function inside(inner, outer) {
		return inner.left >= outer.left - 1 && inner.right <= outer.right + 1 &&
			inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
	}
	function box(e) { return e.getBoundingClientRect(); }
	function all(s, e) { return Array.from((e || document).querySelectorAll(s)); }
	function shown(e) { return box(e).width > 0; }
	var wide = innerWidth > 760, desk = innerWidth >= 1440;
	expect(document.documentElement.scrollWidth <= innerWidth, 
		'wider than the window: ' + document.documentElement.scrollWidth);
	expect(performance.getEntriesByType('resource').length === 0, 'something was loaded');
	all('body *').forEach(function (e) {
		if (!e.computedRole || !shown(e)) return;
		var role = e.computedRole;
		(seen[role] = seen[role] || []).push(e);
		if (/^(button|link|region|heading|img|group)$/.test(role) &&
			!(role === 'group' && e.tagName === 'g'))
			expect(e.computedName,
				role + ' without a name: ' + e.outerHTML.slice(0, 80));
		expect(e.tabIndex <= 0, 'an order of its own for the keyboard');
	});
	function count(role, least) {
		expect((seen[role] || []).length >= least,
			'fewer than ' + least + ' of role ' + role);
	}
	count('main', 1); count('heading', 3); count('list', 1); count('listitem', 1);
	count('link', 1);
	if (!document.querySelector('.picture')) return done();	/* the index */
	count('heading', 4); count('button', 1); count('region', 1); count('link', 4);
	count('note', 1);
	expect(all('h1').length === 1, 'h1');
	var pictures = all('svg.picture').filter(shown);
	expect(pictures.length === 1, 'pictures: ' + pictures.length);
	expect(pictures[0].classList.contains(wide ? 'wide' : 'narrow'), 'the other picture');
	all('a', pictures[0]).forEach(function (a) {
		var card = box(a.querySelector('.card')), what = box(a.querySelector('.what'));
		var place = box(a.querySelector('.place'));
		all('text', a).forEach(function (t) {
			expect(!t.textContent || inside(box(t), card),
				'sticks out of its card: ' + t.textContent);
		});
		expect(!place.width || what.right <= place.left + 1, 'overlap: ' + a.textContent);
		expect(/^Step \d+\. Thread |^Thread /.test(a.getAttribute('aria-label')), 'label');
		expect(document.getElementById(a.getAttribute('href').slice(1)),
			'a link to nowhere');
	});
	all('text', pictures[0]).forEach(function (t) {
		expect(inside(box(t), box(pictures[0])),
			'outside of the picture: ' + t.textContent);
	});
	/* these must be visible without scrolling */
	if (desk)
		['h1', 'ol.story', '.fail', '.cmd button', 'svg.picture'].forEach(function (s) {
			var e = document.querySelector(s);
			expect(e && box(e).top < innerHeight &&
				(s === 'svg.picture' || box(e).bottom <= innerHeight),
			       'not on the first screen: ' + s);
		});
	var button = document.querySelector('.cmd button');
	button.focus();
	expect(document.activeElement === button, 'no focus');
	/* a script's click may not write the clipboard, so replace the clipboard */
	Object.defineProperty(navigator, 'clipboard', { value: {
		writeText: function (t) { copied = t; return Promise.resolve(); } } });
	button.click();
	return setTimeout(done, 300);
	function done() {
		var b = document.querySelector('.cmd button');
		if (b) expect(b.textContent === 'Copied' && /^snarl replay /.test(copied),
			'not copied');
		var pre = document.createElement('pre');
		pre.id = 'verdict';
		pre.textContent = bad.length ? 'BAD\n' + bad.join('\n') : 'GOOD';
		document.body.appendChild(pre);
	}
})();
END
cat >inject.py <<'END'
import re, sys
page, script, out = sys.argv[1:]
text = open(page, encoding='utf-8').read()
text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', '', text)
open(out, 'w', encoding='utf-8').write(
    text.replace('</body>', '<script>' + open(script).read() + '</script></body>'))
END

# look PAGE SIZE: fails if the page has a finding
look() {
	if [ "$2" != 390,844 ]; then
		browse "$2" --enable-logging=stderr --dump-dom "file://$PWD/$1" >dom.html ||
			fail "$1: $browser failed"
		! grep CONSOLE browser.err || fail "$1: errors in the console"
	fi
	python3 inject.py "$1" inside.js injected.html
	browse "$2" --enable-blink-features=ComputedAccessibilityInfo --virtual-time-budget=3000 \
		--dump-dom \
		"file://$PWD/injected.html" >dom.html
	sed -n '/<pre id="verdict">/,$p' dom.html | sed 's/<[^>]*>//g' >verdict
	grep -q '^GOOD' verdict || { cat verdict; tail -n 3 browser.err; fail "$1 at $2"; }
}

hunt() {
	cp "$SNARL_ROOT/examples/$1.c" .
	snarl-cc -g -O1 -pthread $1.c -o $1
	snarl hunt --quiet --out $2 -- ./$1 >/dev/null 2>hunt.err </dev/null &&
		fail "$1: nothing found"
	[ -s $2/bugs/B001/report.html ] && [ -s $2/index.html ] ||
		{ cat hunt.err; fail "$1: no page by the hunt itself"; }
}
hunt bank atomicity
hunt inversion deadlock
hunt session use-after-free
hunt buffer two-variable
cp -r "$SNARL_ROOT/tests/cli/report/." .
cp lost/bank.c .
for bug in lost hostile; do
	snarl report -f html $bug >/dev/null
done
for window in $(one_of 390,844 1600,1000); do
	for page in atomicity/bugs/B001/report deadlock/bugs/B001/report \
		use-after-free/bugs/B001/report \
		two-variable/bugs/B001/report two-variable/index lost/report hostile/report; do
		look $page.html $window
	done
done
if [ -n "${SNARL_SHOTS:-}" ]; then
	mkdir -p "$SNARL_SHOTS"
	for bug in atomicity deadlock use-after-free two-variable; do
		for size in 390,1500 1600,1000; do
			for scheme in 0 1; do
				shot=$SNARL_SHOTS/$bug-${size%,*}-$([ $scheme = 0 ] && echo dark ||
					echo light).png
				rm -f "$shot"
				browse $size --blink-settings=preferredColorScheme=$scheme \
					--screenshot="$shot" \
					"file://$PWD/$bug/bugs/B001/report.html" >/dev/null
				[ -s "$shot" ] || fail "no $shot"
			done
		done
	done
fi
