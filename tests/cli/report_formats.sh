# SARIF, JUnit XML and the Perfetto timeline of stored bugs, compared with hand-made expectations.
# Schemas in this file check that each document is valid.
. "$SNARL_ROOT/tests/lib.sh"
need python3
export LC_ALL=C.UTF-8 PYTHONPATH="$SNARL_ROOT/tests/cli/report_formats" PYTHONDONTWRITEBYTECODE=1
cp -r "$SNARL_ROOT/tests/cli/report/." .
cp lost/bank.c .

mkdir -p all/bugs
cp -r lost all/bugs/B001
cp -r deadlock all/bugs/B002
cp -r freed all/bugs/B003
cat >all/results.json <<'END'
{"version":1,"program":"/nowhere/bank","arguments":["./bank","two words"],"runs":12,"seconds":0.25,
"bugs":[{"id":"B001"},{"id":"B002"},{"id":"B003"}],
"baseline":{"file":"old.json","new":["B001","B003"],"known":[{"id":"B002","was":"B007"}],"gone":[]}}
END
# A bug of an earlier hunt, which results.json does not list.
cp -r lost all/bugs/B004
sed -i 's/"B001"/"B004"/; s/"RWW"/"RWR"/' all/bugs/B004/bug.json

# A hunt with several inputs, and a hunt by an older version that did not store its command.
mkdir -p inputs/bugs none bare
cp -r all/bugs/B001 inputs/bugs/
echo '{"version":1,"program":"/nowhere/bank","arguments":["./bank","@@"],"bugs":[{"id":"B001"}]}' \
	>inputs/results.json
cp -r inputs known
sed -i 's/}$/,"baseline":{"new":[],"known":[{"id":"B001","was":"B001"}]}}/' known/results.json
cp -r inputs unsaid
echo '{"version":1,"program":"/nowhere/bank","bugs":[{"id":"B001"}]}' >unsaid/results.json
echo '{"version":1,"program":"/x/y","arguments":["./y"],"seconds":1.5,"bugs":[]}' >none/results.json
echo '{}' >bare/bug.json

# The same bug thirty lines further down, with other threads in the other order; and another bug.
mkdir moved other
python3 - <<'END'
import json
bug = json.load(open('lost/bug.json'))
for site in bug['sites']:
    site['line'] += 30
    site['thread'] = {'0.1': '0.2', '0.2': '0.1'}.get(site['thread'], site['thread'])
bug['sites'] = [bug['sites'][i] for i in (1, 0, 2, 3)]
json.dump(bug, open('moved/bug.json', 'w'))
bug['sites'][0]['function'] = 'withdraw'
json.dump(bug, open('other/bug.json', 'w'))
END

# File names and a working folder with characters that URIs must encode.
mkdir -p 'work %20#ü/names'
python3 - <<'END'
import json, os
here = os.path.realpath('work %20#ü')
files = [here + '/src/a b.c', '/usr/include/x?.h', '../up.c', './x/../a:b.c', 'ü.c',
         here + 'not/below.c']
sites = [{'thread': '0', 'op': 'read', 'file': f, 'line': 1, 'locks': '', 'function': 'f'}
         for f in files]
sites[0]['object'] = '[click](http://evil) {0}'
json.dump({'class': 'race', 'pattern': 'WW', 'sites': sites},
          open('work %20#ü/names/bug.json', 'w'))
END

# Built in a folder of its own: the debug information names sources relative to that folder.
mkdir -p tree/src tree/build tree/bug
touch tree/src/deep.c tree/build/bank
python3 - <<'END'
import json, os
site = {'thread': '0', 'op': 'read', 'file': '../src/deep.c', 'line': 1, 'locks': '',
        'function': 'f'}
json.dump({'program': os.path.realpath('tree/build/bank'), 'sites': [site]},
          open('tree/bug/bug.json', 'w'))
END
(cd tree && snarl report -f sarif bug >../tree.sarif) || fail "sarif of tree: exit $?"

for bug in lost deadlock freed hostile all none bare moved other inputs unsaid known; do
	for format in sarif junit perfetto; do
		snarl report -f $format $bug >$bug.$format || fail "$format of $bug: exit $?"
	done
done
(cd 'work %20#ü' && snarl report -f sarif names >../names.sarif) || fail "sarif of names: exit $?"
snarl report -f sarif -o file.sarif lost && cmp lost.sarif file.sarif || fail "sarif into a file"

python3 - <<'END' || fail "SARIF"
import copy, json, os
from sarif import artifacts, validate

logs = {name: json.load(open(name + '.sarif'))
        for name in 'lost deadlock freed hostile all none bare moved other names tree'.split()}
for name, log in logs.items():
    try:
        validate(log)
    except AssertionError as e:
        raise SystemExit(f'{name}: {e}')

# The schema rejects each of these.
def spoil(change):
    log = copy.deepcopy(logs['lost'])
    change(log['runs'][0], log['runs'][0]['results'][0])
    try:
        validate(log)
    except (AssertionError, IndexError):
        return
    raise SystemExit('the schema lets everything pass')
spoil(lambda run, r: r.pop('message'))
spoil(lambda run, r: r.update(level='fatal'))
spoil(lambda run, r: r.update(extra=1))
spoil(lambda run, r: r.update(ruleIndex=1))
spoil(lambda run, r: r['codeFlows'][0].update(threadFlows=[]))
spoil(lambda run, r: r['codeFlows'][0]['threadFlows'][0]['locations'].pop(0))
spoil(lambda run, r: r['locations'][0]['physicalLocation']['artifactLocation'].update(uri='a b.c'))
spoil(lambda run, r: r['locations'][0]['physicalLocation']['region'].update(startLine=0))
spoil(lambda run, r: run.update(originalUriBaseIds={}))

def same(got, wanted):
    if got != wanted:
        raise SystemExit(f'got    {got}\nwanted {wanted}')

def line(place):
    place = place['physicalLocation']
    return place['artifactLocation']['uri'], place['region']['startLine']

def flows(result):
    return {t['id']: [(s['executionOrder'], line(s['location'])[1],
                       s['location']['message']['text'],
                       s.get('importance')) for s in t['locations']]
            for t in result['codeFlows'][0]['threadFlows']}

def results(name):
    return logs[name]['runs'][0]['results']

lost, = results('lost')
driver = logs['lost']['runs'][0]['tool']['driver']
same(driver['name'], 'snarl')
same([(r['id'], r['shortDescription']['text']) for r in driver['rules']],
     [('atomicity/RWW', 'Lost update on shared memory')])
same(lost['message']['text'].splitlines(), [
    'Lost update on balance.',
    'Assertion failed in thread 0:',
    "bank: bank.c:24: main: Assertion `balance == 30' failed.",
    '1: Thread 0.1 reads balance',
    '2: Thread 0.2 writes balance in between',
    '3: Thread 0.1 writes balance with a value made from what step 1 read: '
    'what step 2 wrote is lost',
    'Thread 0 (main) fails its assertion',
    'Every access holds m, but thread 0.1 releases it between bank.c:8 and bank.c:12: '
    'two critical sections where one is needed.',
    'Replay it: snarl replay lost'])
same([line(p) for p in lost['locations']], [('bank.c', 8)])
same(lost['locations'][0]['physicalLocation']['region']['snippet']['text'], 'value = balance;')
same(lost['locations'][0]['logicalLocations'],
     [{'fullyQualifiedName': 'deposit', 'kind': 'function'}])
same([(p['id'], line(p)[1], p['message']['text']) for p in lost['relatedLocations']],
     [(5, 8, '1: Thread 0.1 reads balance'), (11, 12, '2: Thread 0.2 writes balance'),
      (14, 12, '3: Thread 0.1 writes balance'), (17, 24, 'Thread 0 (main) fails its assertion')])
same(flows(lost), {
    '0': [(16, 22, 'Thread 0 (main) joins thread 0.1', None),
          (17, 24, 'Thread 0 (main) fails its assertion', 'essential')],
    '0.1': [(1, 11, 'Thread 0.1 locks m', None), (2, 12, 'Thread 0.1 writes balance', None),
            (3, 13, 'Thread 0.1 unlocks m', None), (4, 7, 'Thread 0.1 locks m', None),
            (5, 8, '1: Thread 0.1 reads balance', 'essential'),
            (6, 9, 'Thread 0.1 unlocks m', None),
            (13, 11, 'Thread 0.1 locks m', None),
            (14, 12, '3: Thread 0.1 writes balance', 'essential'),
            (15, 13, 'Thread 0.1 unlocks m', None)],
    '0.2': [(7, 7, 'Thread 0.2 locks m', None), (8, 8, 'Thread 0.2 reads balance', None),
            (9, 9, 'Thread 0.2 unlocks m', None), (10, 11, 'Thread 0.2 locks m', None),
            (11, 12, '2: Thread 0.2 writes balance', 'essential'),
            (12, 13, 'Thread 0.2 unlocks m', None)]})
steps = lost['codeFlows'][0]['threadFlows'][2]['locations']
same([s.get('kinds') for s in steps],
     [['acquire', 'lock'], None, ['release', 'lock'], ['acquire', 'lock'], None,
      ['release', 'lock']])
same([s['state']['locks']['text'] for s in steps], ['m'] * 6)
same([[line(f['location']) for f in s['stack']['frames']] for s in steps if 'stack' in s],
     [[('bank.c', 12)]])
same(lost['properties'], {'id': 'B001', 'failure': 'assert', 'variable': 'balance',
                          'command': "./bank 'two words'", 'replay': 'snarl replay lost'})

deadlock, = results('deadlock')
same(deadlock['ruleId'], 'deadlock/lock-cycle')
same(flows(deadlock), {
    '0': [(1, 30, 'Thread 0 (main) creates thread 0.1', None),
          (2, 31, 'Thread 0 (main) creates thread 0.2', None),
          (7, 32, 'Thread 0 (main) waits for a thread to end', None)],
    '0.1': [(4, 5, '2: Thread 0.1 locks left', 'essential'),
            (5, 6, '3: Thread 0.1 waits for right', 'essential')],
    '0.2': [(3, 5, '1: Thread 0.2 locks right', 'essential'),
            (6, 6, '4: Thread 0.2 waits for left', 'essential')]})
same([s['kinds'] for s in deadlock['codeFlows'][0]['threadFlows'][1]['locations']],
     [['acquire', 'lock'], ['danger']])  # a waiter does not hold the lock

# A fingerprint is FNV-1a over what is stable; lines, threads and their order are not part of it.
def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f'{value:016x}'
def fingerprint(name):
    return results(name)[0]['partialFingerprints']
same(fingerprint('lost'), {'snarlIdentity/v1': fnv(
    'atomicity RWW balance\ndeposit read balance\ndeposit write balance\ndeposit write balance')})
same(fingerprint('moved'), fingerprint('lost'))
assert fingerprint('other') != fingerprint('lost'), 'another function, the same fingerprint'
# Without a known cause, the failure is hashed: blocks without line and number, no addresses.
same(fingerprint('freed'), {'snarlIdentity/v1': fnv(
    'order use-free uaf heap@s.c\nput free \nput free heap@s.c\nput read heap@s.c+8\nput use ')})

same([(r['ruleIndex'], r['ruleId'], r['baselineState']) for r in results('all')],
     [(0, 'atomicity/RWW', 'new'), (1, 'deadlock/lock-cycle', 'unchanged'),
      (2, 'order/use-free', 'new')])
assert 'baselineState' not in lost
same(results('none'), [])
same([(r['ruleId'], r['locations']) for r in results('bare')], [('failure', [])])

# File URIs are relative to the working folder where possible and encoded; texts contain no link.
here = os.path.realpath('.')
same(logs['names']['runs'][0]['originalUriBaseIds'],
     {'SRCROOT': {'uri': f'file://{here}/work%20%2520%23%C3%BC/'}})
names, = results('names')
same([(p['physicalLocation']['artifactLocation']['uri'],
       'uriBaseId' in p['physicalLocation']['artifactLocation'])
      for p in names['relatedLocations']],
     [('src/a%20b.c', True), ('file:///usr/include/x%3F.h', False), (f'file://{here}/up.c', False),
      ('a%3Ab.c', True), ('%C3%BC.c', True),
      (f'file://{here}/work%20%2520%23%C3%BCnot/below.c', False)])
same(names['relatedLocations'][0]['message']['text'],
     '1: Thread 0 reads [click] (http://evil) {{0}}')
same(list(artifacts(results('tree')[0]['locations'])),
     [{'uri': 'src/deep.c', 'uriBaseId': 'SRCROOT'}])
same(list(artifacts(results('hostile')[0]['locations'])), [{'uri': 'file:///src/%3Ci%3E.c'}])
END

python3 - <<'END' || fail "JUnit"
import re, subprocess
import xml.etree.ElementTree as ET

def same(got, wanted):
    if got != wanted:
        raise SystemExit(f'got    {got}\nwanted {wanted}')

# Element: its required attributes, the elements it may contain.
SCHEMA = {'testsuites': (set(), {'testsuite'}),
          'testsuite': ({'name', 'tests', 'failures', 'errors', 'skipped', 'time'}, {'testcase'}),
          'testcase': ({'classname', 'name', 'time'}, {'failure', 'system-out'}),
          'failure': ({'message', 'type'}, set()), 'system-out': (set(), set())}

def validate(element):
    attributes, children = SCHEMA[element.tag]
    same(set(element.attrib), attributes)
    for name, value in element.attrib.items():
        if name in ('tests', 'failures', 'errors', 'skipped'):
            assert re.fullmatch('[0-9]+', value), (name, value)
        elif name == 'time':
            assert re.fullmatch(r'[0-9]+\.[0-9]{3}', value), value
    for child in element:
        assert child.tag in children, f'{child.tag} in {element.tag}'
        validate(child)

suites = {}
for name in 'lost deadlock freed hostile all none bare inputs unsaid known'.split():
    data = open(name + '.junit', 'rb').read()
    text = data.decode()
    assert not re.search('[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]',
                         text), f'{name}: forbidden'
    root = ET.fromstring(data)
    same(root.tag, 'testsuites')
    validate(root)
    suite, = root
    cases = list(suite)
    same(int(suite.get('tests')), len(cases))
    same(int(suite.get('failures')), sum(c.find('failure') is not None for c in cases))
    suites[name] = suite

def text_report(name):
    """The text report, as wide as the text of failures."""
    return subprocess.run(['snarl', 'report', '--width', '100', name], check=True,
                          capture_output=True, text=True).stdout

case, = suites['lost']
same(case.attrib, {'classname': 'snarl.bank', 'name': "./bank 'two words'", 'time': '0.000'})
failure, = case
same(failure.attrib, {'message': 'B001: Lost update on balance', 'type': 'atomicity/RWW'})
same(failure.text, open('lost/expect.txt').read())

# One command with three bugs, without the bug of an earlier hunt; known bugs do not fail and come
# last.
case, = suites['all']
same(suites['all'].get('time'), '0.250')
same([(f.tag, f.get('type')) for f in case],
     [('failure', 'atomicity/RWW'), ('failure', 'order/use-free'), ('system-out', None)])
assert case[2].text.startswith('Known: B002: Deadlock: threads 0.1 and 0.2'), case[2].text

# A hunt is one test case; each bug names its input.
case, = suites['inputs']
same((case.get('name'), len(case)), ('./bank @@', 1))
assert case[0].text.startswith("./bank 'two words'\nB001: Lost update"), case[0].text
case, = suites['known']
same(([e.tag for e in case], suites['known'].get('failures')), (['system-out'], '0'))
case, = suites['unsaid']
same((case.get('name'), len(case)), ('/nowhere/bank', 1))

case, = suites['none']
same((case.attrib, list(case)), ({'classname': 'snarl.y', 'name': './y', 'time': '1.500'}, []))
case, = suites['bare']
same([f.get('message') for f in case], ['bare: The program failed'])

case, = suites['hostile']
same(case.get('name'), "'./a\"><script>alert(1)</script>' '$(rm -rf /)' 'it'\\''s'")
same(case[0].get('type'), '"onload="alert(2)/RWW')
same(case[0].text, text_report('hostile'))
assert '\ufffd[31mred \ufffdgnp.exe' in case[0].text
END

python3 - <<'END' || fail "timeline"
import json

def same(got, wanted):
    if got != wanted:
        raise SystemExit(f'got    {got}\nwanted {wanted}')

def load(name):
    trace = json.load(open(name + '.perfetto'))
    same(set(trace), {'displayTimeUnit', 'traceEvents'})
    events, tracks, ends = trace['traceEvents'], {}, {}
    # The members of the Trace Event Format for each type of event, and no others.
    members = {'M': {'args'}, 'X': {'cat', 'ts', 'dur', 'args'}, 's': {'cat', 'id', 'ts'},
               'f': {'cat', 'id', 'ts', 'bp'}}
    for e in events:
        same(set(e), {'ph', 'name', 'pid', 'tid'} | members[e['ph']])
        for key, value in e.items():
            number = isinstance(value, int) or (key == 'ts' and isinstance(value, float))
            text = key in ('args', 'ph', 'name', 'cat', 'bp')
            assert isinstance(value, dict if key == 'args' else str) if text else \
                number and value >= 0, f'{key} of {e}'
        assert e['tid'] > 0 and e['pid'] > 0 and e.get('dur', 1) > 0, e
        if e['ph'] == 'M':
            kind, what = e['name'].split('_', 1)
            assert kind in ('process', 'thread') and what in ('name', 'sort_index'), e
            same([(k, type(v)) for k, v in e['args'].items()],
                 [(what, str if what == 'name' else int)])
        if e['ph'] == 'M' and e['name'] == 'thread_name':
            # Perfetto identifies threads by number alone, so numbers are unique over all processes.
            assert e['tid'] not in (tid for pid, tid in tracks), 'a track twice'
            tracks[e['pid'], e['tid']] = e['args']['name']
    assert ({e['pid'] for e in events if e['name'] == 'process_name'} >=
            {pid for pid, tid in tracks}), 'no such process'
    for e in events:
        if e['ph'] != 'M':
            assert (e['pid'], e['tid']) in tracks, 'no such track'
    # Slices of a track do not overlap, and an arrow begins and ends inside a slice.
    slices = sorted((e['pid'], e['tid'], e['ts'], e['ts'] + e['dur'])
                    for e in events if e['ph'] == 'X')
    for a, b in zip(slices, slices[1:]):
        assert a[:2] != b[:2] or a[3] <= b[2], f'{a} and {b} overlap'
    for e in events:
        if e['ph'] in 'sf':
            assert any(s[:2] == (e['pid'], e['tid']) and s[2] < e['ts'] < s[3] for s in slices), e
            ends.setdefault(e['id'], []).append(e)
    for s, f in ends.values():
        same((s['ph'], f['ph'], f['bp'], s['name'], s['cat']), ('s', 'f', 'e', f['name'], f['cat']))
        assert s['ts'] < f['ts'], 'back in time'
    return events, tracks, ends

def slices(events, tracks, track):
    return [(e['ts'], e['dur'], e['name'], e['cat'])
            for e in events if e['ph'] == 'X' and tracks[e['pid'], e['tid']] == track]

def arrows(ends):
    return sorted((s['name'], s['ts'] - .5, f['ts'] - .5) for s, f in ends.values())

# Times are line numbers of the trace, from 0.
events, tracks, ends = load('lost')
order = sorted((e['args']['sort_index'], tracks[1, e['tid']])
               for e in events if e['name'] == 'thread_sort_index')
same([name for _, name in order],
     ['Thread 0 (main)', 'Thread 0.1', 'Thread 0.1 holds m', 'Thread 0.2', 'Thread 0.2 holds m'])
same([e['args']['name'] for e in events if e['name'] == 'process_name'],
     ['B001: Lost update on balance'])
same(slices(events, tracks, 'Thread 0.1'), [
    (5, 1, 'locks m', 'context'), (6, 1, 'writes balance', 'context'),
    (7, 1, 'unlocks m', 'context'),
    (8, 1, 'locks m', 'context'), (9, 1, '1: reads balance', 'cause'),
    (10, 1, 'unlocks m', 'context'),
    (17, 1, 'locks m', 'context'), (18, 1, '3: writes balance', 'cause'),
    (19, 1, 'unlocks m', 'context')])
same(slices(events, tracks, 'Thread 0 (main)'),
     [(20, 1, 'joins thread 0.1', 'context'), (21, 1, 'fails its assertion', 'failure')])
same(slices(events, tracks, 'Thread 0.1 holds m'),
     [(5, 3, 'm', 'lock'), (8, 3, 'm', 'lock'), (17, 3, 'm', 'lock')])
same(slices(events, tracks, 'Thread 0.2 holds m'), [(11, 3, 'm', 'lock'), (14, 3, 'm', 'lock')])
same(arrows(ends), [('conflict', 9, 15), ('conflict', 15, 18),
                    ('lock handed over', 10, 11), ('lock handed over', 16, 17)])
read, = [e for e in events if e['name'] == '1: reads balance']
same(read['args'], {'op': 'read', 'object': 'balance', 'locks': 'm', 'function': 'deposit',
                    'file': 'bank.c',
                    'line': 8, 'source': 'value = balance;'})

events, tracks, ends = load('deadlock')
same(slices(events, tracks, 'Thread 0.1'),
     [(3, 1, '2: locks left', 'cause'), (4, 1, '3: waits for right', 'failure')])
same(slices(events, tracks, 'Thread 0.1 holds left'), [(3, 4, 'left', 'lock')])
same(slices(events, tracks, 'Thread 0.2 holds right'), [(2, 5, 'right', 'lock')])
same(arrows(ends), [('waited for', 2, 4), ('waited for', 3, 5)])

events, tracks, ends = load('all')
same([e['args']['name'][:5] for e in events if e['name'] == 'process_name'],
     ['B001:', 'B002:', 'B003:', 'B004:'])
same([tracks[e['pid'], e['pid']] for e in events if e['name'] == 'process_name'],
     ['Thread 0 (main)'] * 4)
for name in 'freed', 'hostile', 'bare':
    load(name)
same(load('none')[0], [])
END
