"""The part of SARIF 2.1.0 that snarl writes: what each object may hold, and what it must.

Members are written as name: (type, …). A type is one of Python's, a name of an object below, a list
of one type, a set of allowed words, or a function that says whether a value is right.
"""
import re


def is_uri(text):
    """RFC 3986: a URI or a relative reference, all else encoded; a relative one has no scheme."""
    if not re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#\[\]-]|%[0-9A-Fa-f]{2})+", text):
        return False
    return text.startswith('file:///') or not (text.startswith('/') or ':' in text.split('/')[0])


def is_folder(text):
    return is_uri(text) and text.startswith('file:///') and text.endswith('/')


def at_least(least):
    return lambda value: type(value) is int and value >= least


def words(value):
    """Free members, each with an object of the kind."""
    return ('map', value)


REQUIRED, OPTIONAL = True, False
OBJECTS = {
    'log': {'$schema': (str, OPTIONAL), 'version': ({'2.1.0'}, REQUIRED),
            'runs': (['run'], REQUIRED)},
    'run': {'tool': ('tool', REQUIRED), 'originalUriBaseIds': (words('folder'), OPTIONAL),
            'results': (['result'], REQUIRED)},
    'folder': {'uri': (is_folder, REQUIRED)},
    'tool': {'driver': ('driver', REQUIRED)},
    'driver': {'name': (str, REQUIRED), 'version': (str, OPTIONAL), 'rules': (['rule'], OPTIONAL),
               'semanticVersion': (lambda v: re.fullmatch(r'\d+\.\d+\.\d+', v), OPTIONAL)},
    'rule': {'id': (str, REQUIRED), 'shortDescription': ('message', OPTIONAL),
             'help': ('message', OPTIONAL),
             'defaultConfiguration': ('configuration', OPTIONAL), 'properties': ('tags', OPTIONAL)},
    'configuration': {'level': ({'none', 'note', 'warning', 'error'}, OPTIONAL)},
    'tags': {'tags': ([str], OPTIONAL)},
    'message': {'text': (str, REQUIRED)},
    'result': {'ruleId': (str, OPTIONAL), 'ruleIndex': (at_least(-1), OPTIONAL),
               'kind': ({'notApplicable', 'pass', 'fail', 'review', 'open', 'informational'},
                        OPTIONAL),
               'level': ({'none', 'note', 'warning', 'error'}, OPTIONAL),
               'baselineState': ({'new', 'unchanged', 'updated', 'absent'}, OPTIONAL),
               'message': ('message', REQUIRED), 'locations': (['location'], OPTIONAL),
               'relatedLocations': (['location'], OPTIONAL), 'codeFlows': (['codeFlow'], OPTIONAL),
               'partialFingerprints': (words(str), OPTIONAL), 'properties': (words(str), OPTIONAL)},
    'location': {'id': (at_least(-1), OPTIONAL), 'physicalLocation': ('physical', OPTIONAL),
                 'logicalLocations': (['logical'], OPTIONAL), 'message': ('message', OPTIONAL)},
    'physical': {'artifactLocation': ('artifact', REQUIRED), 'region': ('region', OPTIONAL)},
    'artifact': {'uri': (is_uri, REQUIRED), 'uriBaseId': (str, OPTIONAL)},
    'region': {'startLine': (at_least(1), REQUIRED), 'snippet': ('message', OPTIONAL)},
    'logical': {'fullyQualifiedName': (str, OPTIONAL), 'kind': (str, OPTIONAL)},
    'codeFlow': {'threadFlows': (['threadFlow'], REQUIRED)},
    'threadFlow': {'id': (str, OPTIONAL), 'message': ('message', OPTIONAL),
                   'locations': (['step'], REQUIRED)},
    'step': {'location': ('location', OPTIONAL), 'stack': ('stack', OPTIONAL),
             'kinds': ([str], OPTIONAL),
             'state': (words('message'), OPTIONAL), 'executionOrder': (at_least(-1), OPTIONAL),
             'importance': ({'important', 'essential', 'unimportant'}, OPTIONAL)},
    'stack': {'frames': (['frame'], REQUIRED)},
    'frame': {'location': ('location', OPTIONAL)},
}
NOT_EMPTY = {'threadFlows', 'threadFlow.locations'}


def check(value, wanted, where):
    if isinstance(wanted, list):
        assert type(value) is list, f'{where}: not a list'
        for i, item in enumerate(value):
            check(item, wanted[0], f'{where}[{i}]')
    elif isinstance(wanted, tuple):
        assert type(value) is dict, f'{where}: not an object'
        for key, item in value.items():
            check(item, wanted[1], f'{where}.{key}')
    elif isinstance(wanted, set):
        assert value in wanted, f'{where}: {value!r}'
    elif isinstance(wanted, type):
        assert type(value) is wanted, f'{where}: {value!r}'
    elif callable(wanted):
        assert wanted(value), f'{where}: {value!r}'
    else:
        assert type(value) is dict, f'{where}: not an object'
        members = OBJECTS[wanted]
        for key, item in value.items():
            assert key in members, f'{where}: {key} is not of {wanted}'
            check(item, members[key][0], f'{where}.{key}')
            assert item or not {key, f'{wanted}.{key}'} & NOT_EMPTY, f'{where}.{key}: empty'
        for key, (_, required) in members.items():
            assert key in value or not required, f'{where}: no {key}'


def validate(log):
    """Raises AssertionError with the place of what is wrong."""
    check(log, 'log', '$')
    for run in log['runs']:
        rules = [rule['id'] for rule in run['tool']['driver']['rules']]
        assert len(set(rules)) == len(rules), 'a rule twice'
        for result in run['results']:
            assert rules[result['ruleIndex']] == result['ruleId'], \
                'another rule than the index says'
            ids = [place['id'] for place in result['relatedLocations']]
            assert len(set(ids)) == len(ids), 'an id twice'
            steps = [step['executionOrder'] for flow in result.get('codeFlows', [])
                     for thread in flow['threadFlows'] for step in thread['locations']]
            assert sorted(steps) == list(range(1, len(steps) + 1)), f'order {steps}'
        bases = {place['uriBaseId'] for place in artifacts(run) if 'uriBaseId' in place}
        assert bases <= set(run['originalUriBaseIds']), 'a base that is not declared'


def artifacts(value):
    """Every artifactLocation below a value."""
    if isinstance(value, list):
        for item in value:
            yield from artifacts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == 'artifactLocation':
                yield item
            yield from artifacts(item)
