#!/bin/sh
# snarl dump --json prints one valid JSON object per event whatever bytes names contain; --stats
# adds up.
. "$SNARL_ROOT/tests/lib.sh"
need python3

cat >in.txt <<'END'
snarl-text 1
module 0x1000 0x1000-0x2000 - /nothing/a\xff\x22\x0a\x20b
0 start
0 create 0.1
0.1 lock m @0x1801
0.1 atomic-add x:8 0xffffffffffffffff acq_rel @a:2
0.1 cond-wait c 0x10
0.1 write y:4 volatile
0 join 0.1 =EDEADLK
END
snarl dump --json in.txt >out.json 2>err || fail "dump --json: exit $?"
python3 - <<'END' || fail "not the JSON expected"
import json
events = [json.loads(line) for line in open("out.json", encoding="utf-8")]
ops = [e["op"] for e in events]
assert ops == ["start", "create", "lock", "atomic-add", "cond-wait", "write", "join"], ops
assert events[1]["other"] == "0.1" and events[1]["thread"] == "0"
assert events[2]["module"] == "/nothing/a\ufffd\"\n b", events[2]
assert events[2]["module_offset"] == "0x801"
assert events[3]["arg"] == "18446744073709551615", events[3]
assert events[3]["order"] == "acq_rel" and events[3]["size"] == 8
assert events[3]["object"] == {"kind": "raw", "name": "x"}, events[3]["object"]
assert events[3]["label"] == "a:2"
assert events[4]["mutex"] == "0x10"
assert events[5]["volatile"] is True
assert events[6]["error"] == "EDEADLK" and events[6]["result"] == 35
END
snarl dump --stats --json in.txt >stats.json 2>err
python3 - <<'END' || fail "--stats --json"
import json
s = json.load(open("stats.json"))
assert s["events"] == 7 == sum(k["events"] for k in s["kinds"]), s
assert {t["name"]: t["events"] for t in s["threads"]} == {"0": 3, "0.1": 4}
assert s["losses"]["lost_records"] == 0
END
snarl dump --stats in.txt >stats 2>err
grep -q '^7 events, 2 threads' stats || { cat stats; fail "--stats"; }
