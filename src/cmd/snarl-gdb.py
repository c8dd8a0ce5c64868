"""gdb's side of `snarl replay --gdb`.

snarl-start runs the program to the first event of the bug, snarl-next to the next
switch between threads, snarl-threads shows where they stand and what they hold. All of it
reads the runtime's own state: struct ctl of src/runtime/control/control.h.
"""

import json
import os
import subprocess

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))  # of the build tree, or lib/snarl
TRACE_MOST = 64 << 20  # bytes of a trace that is looked through
STEP = "snarlrt_debug_here"  # of src/runtime/control/debugger.c
SWITCH = "snarlrt_debug_switch"
FAILS = "ctl_fail"  # the runtime's place for what it finds itself: deadlocks, uses after free, …
OPS = {
    "START": "start", "READ": "read", "WRITE": "write", "UPDATE": "update",
    "ACQUIRE": "lock", "RELEASE": "unlock", "TRY": "try to lock", "WAIT": "wait on",
    "WAKE": "wake", "CREATE": "create a thread", "JOIN": "join a thread", "EXIT": "end",
    "CALL": "make a system call", "YIELD": "let others go first", "OTHER": "go on",
}
BOTTOM = ("gate_call_on", None)  # below the first function of a thread
NAMED = ("READ", "WRITE", "UPDATE", "ACQUIRE", "RELEASE", "TRY", "WAIT", "WAKE")  # … what?


class Trouble(Exception):
    pass


# --- the runtime's state ---

def state():
    try:
        return gdb.parse_and_eval("'src/runtime/control/point.c'::ctl")  # the program may have one, too
    except gdb.error:
        raise Trouble("the program has no runtime of snarl with debug information; link it with snarl-cc")


def guarded(invoke):
    """What goes wrong within gdb is one line, not an exception."""

    def wrapper(self, argument, from_tty):
        try:
            invoke(self, argument, from_tty)
        except (Trouble, gdb.error) as e:
            print("snarl: %s" % str(e).split("\n")[0])
    return wrapper


def is_alive():
    return gdb.selected_inferior().pid != 0


def op_name(event):
    ops = gdb.lookup_type("enum sched_op")
    return str(event["op"].cast(ops)).replace("SCHED_OP_", "")


def path_of(c, thread):
    words = []
    while int(thread["number"]) != 0:
        words.append(str(int(thread["ordinal"])))
        thread = c["threads"][int(thread["parent"])].dereference()
    return ".".join(["0"] + words[::-1])


def object_name(address):
    """A variable's name, "lock" or "table+8"; else the address."""
    text = gdb.execute("info symbol %d" % address, to_string=True)
    if text.startswith("No symbol"):
        return hex(address)
    return text.split(" in section ")[0].replace(" + ", "+")


def place(pc):
    """FILE:LINE (FUNCTION) of a call that returns to `pc`."""
    line = gdb.find_pc_line(pc - 1)
    block = gdb.block_for_pc(pc - 1)
    while block is not None and block.function is None:
        block = block.superblock
    function = " (%s)" % block.function.name if block is not None else ""
    if line.symtab is None:
        return hex(pc) + function
    return "%s:%d%s" % (line.symtab.filename, line.line, function)


def describe(event):
    """What somebody stands before: "read balance at bank.c:22 (balance_get)"."""
    op = op_name(event)
    text = OPS.get(op, op.lower())
    if op in NAMED and int(event["object"]):
        text += " " + object_name(int(event["object"]))
    if op != "START" and int(event["site"]):
        text += " at " + place(int(event["site"]))
    return text


def held_by(thread):
    count = min(int(thread["held_count"]), 32)
    held = [thread["held"][i] for i in range(count)]
    return ", ".join("%s (since %s)" % (object_name(int(h["object"])), place(int(h["pc"]))) for h in held)


# --- running on ---

class Stop(gdb.Breakpoint):
    """A silent breakpoint of ours; `when` decides."""

    def __init__(self, where, when=None):
        super().__init__(where, internal=True)
        self.silent = True
        self.when = when
        self.hit = False

    def stop(self):
        self.hit = self.when is None or self.when()
        return self.hit


def run_to(stops, command="continue"):
    """Runs until one of `stops` or anything else; the one, or None after showing what it was."""
    try:
        text = gdb.execute(command, to_string=True)
        for stop in stops:
            if is_alive() and stop.hit:
                return stop
        print(text.rstrip("\n"))
        return None
    finally:
        for stop in stops:
            stop.delete()


def runtime_folder():
    """The folder of the runtime's sources, with a slash at the end."""
    symbol = gdb.lookup_global_symbol(STEP) or gdb.lookup_static_symbol(STEP)
    if symbol is None:
        raise Trouble("the program was linked by another version of snarl; link it again with snarl-cc")
    # The function is in src/runtime/control/.
    return os.path.dirname(os.path.dirname(symbol.symtab.fullname())) + "/"


def runtime_frames():
    """Names of the runtime's functions the thread stands in, and the frame of the program outside;
    None if its own code has not begun or is over."""
    folder, names, frame = runtime_folder(), [], gdb.newest_frame()
    while frame is not None:
        symtab = frame.find_sal().symtab
        if frame.name() in BOTTOM:
            return names, None
        if symtab is None or not symtab.fullname().startswith(folder):
            return names, frame
        names.append(frame.name())
        frame = frame.older()
    return names, None


def select_program():
    frame = runtime_frames()[1]
    if frame is not None:
        frame.select()


def tell_failure():
    print("snarl: here it fails: %s" % gdb.newest_frame().read_var("text").string())
    select_program()


def settle(thread):
    """The thread was let go and stands in the runtime: on to its own code, if nothing of what it
    is about to do is done by then; else only its frame is chosen."""
    names, frame = runtime_frames()
    number = int(thread["number"])

    def mine():
        return int(state()["current"]["number"]) == number

    if frame is not None and any(name in ("ctl_access", "ctl_access_slow") for name in names):
        stop = Stop("*%d" % frame.pc(), mine)
    elif "ctl_started" in names:
        stop = Stop("*%d" % int(thread["routine"]), mine)
    else:
        select_program()
        return True
    fails = Stop(FAILS)
    hit = run_to([stop, fails])
    if hit is fails:
        tell_failure()
    return hit is not None


def show_place():
    if runtime_frames()[1] is not None:
        gdb.execute("frame")


# --- the bug ---

class Bug:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "bug.json")) as f:
            self.json = json.load(f)
        self.cause = [s for s in self.json["sites"] if "locks" in s] if self.json.get("cause") else []
        self.lacks = ""  # why the first event is not known, though the cause is

    def events(self):
        """Those of the trace in their order, each with its index among those of its thread."""
        trace = os.path.join(self.folder, "trace.snarl")
        if not os.path.exists(trace):
            self.lacks = "there is no trace of the run"
            return
        if os.path.getsize(trace) > TRACE_MOST:
            self.lacks = "the trace of the run is too large to be looked through"
            return
        self.lacks = "bug.json does not say which events of the trace they are"
        snarl = [p for p in (os.path.join(HERE, "../bin/snarl"), os.path.join(HERE, "../../bin/snarl"))
                 if os.path.exists(p)]
        counts = {}
        with subprocess.Popen(snarl[:1] + ["dump", "--json", trace], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as dump:
            for e in map(json.loads, dump.stdout):
                if e["op"] != "value":
                    yield counts.setdefault(e["thread"], 0), e
                    counts[e["thread"]] += 1

    def first(self):
        """(thread, pc, op, n) of the first event in the order of the run. None: not known."""
        wanted = [(s["thread"], s["index"]) for s in self.cause if s.get("index") is not None]
        times = {}
        for index, e in self.events():
            key = e["thread"], e.get("pc"), e["op"]
            times[key] = times.get(key, 0) + 1
            if (e["thread"], index) in wanted:
                return e["thread"], int(e["pc"], 16), e["op"], times[key]
        return None

    def story(self):
        lines = []
        for i, s in enumerate(self.cause):
            lines.append("  %d. %s: %s %s at %s:%d (%s)%s" % (
                i + 1, s["thread"], s["op"], s.get("object") or "?", s["file"], s["line"], s["function"],
                ", holding " + s["locks"] if s.get("locks") else ""))
        lines.append("  then: " + self.json["text"].replace("\n", "\n  "))
        return "\n".join(lines)


class Start(gdb.Command):
    """snarl-start: start the program anew and stop before the first event of the bug.

Without a trace to tell which time it comes there, stop at the first switch between threads. If
no cause is known, stop where it fails; if nothing is to be seen there, at main."""

    def __init__(self):
        super().__init__("snarl-start", gdb.COMMAND_RUNNING)
        self.bug = None

    def first_event(self, first):
        thread, pc, op, nth = first
        wanted = {"read": ("READ",), "write": ("WRITE",), "lock": ("ACQUIRE",)}.get(op)
        seen = [0]

        def when():
            frame = gdb.newest_frame()
            event = frame.read_var("w")["event"]
            if int(event["site"]) != pc or (wanted and op_name(event) not in wanted):
                return False
            if path_of(state(), frame.read_var("t").dereference()) != thread:
                return False
            seen[0] += 1
            return seen[0] == nth
        return Stop(STEP, when)

    @guarded
    def invoke(self, folder, from_tty):
        try:
            if folder:
                self.bug = Bug(folder)
            self.start()
        except (OSError, ValueError, KeyError) as e:
            print("snarl: the bug cannot be read (%s); run starts the program" % e)

    def start(self):
        if self.bug is None:
            print("snarl: which bug? snarl-start FOLDER")
            return
        state()
        runtime_folder()
        unknown = "" if self.bug.cause else "its cause is not known; "
        first = self.bug.first()
        gdb.execute("set confirm off")
        try:
            main = Stop("main")
            hit = run_to([main], "run")
        finally:
            gdb.execute("set confirm on")
        stop = fails = None
        if hit is main and self.bug.cause and not first:
            if not NEXT.one():
                return
            print("snarl: which events of the bug's places did the harm is not known: %s. Stopped at the "
                  "first switch between threads. What will happen:" % self.bug.lacks)
            self.tell()
            return
        if hit is main and (first or self.bug.json["failure"] not in ("exit", "output", "check")):
            stop, fails = self.first_event(first) if first else None, Stop(FAILS)
            # The runtime itself passes over other places, which is faster.
            gdb.execute("set var snarlrt_debug_site = %d" % (first[1] if first else 0))
            hit = run_to([s for s in (stop, fails) if s])
            if is_alive():
                gdb.execute("set var snarlrt_debug_site = 0")
        if hit is None:
            # Whatever came, gdb has told it.
            if is_alive() and not stop:
                print("snarl: %sstopped where it fails" % unknown)
            return
        if stop and hit is stop:
            thread = gdb.newest_frame().read_var("t").dereference()
            name = path_of(state(), thread)
            if not settle(thread):
                return
            print("snarl: stopped before the first event of the bug, in thread %s. What will happen:" % name)
        elif hit is fails:
            select_program()
            print("snarl: %sstopped where it fails:" % unknown)
        else:
            print("snarl: %sstopped at main. What will happen:" % unknown)
        self.tell()

    def tell(self):
        print(self.bug.story())
        print("snarl-next runs to the next switch between threads, snarl-threads shows who stands where.")
        show_place()


class Next(gdb.Command):
    """snarl-next [N]: run to the next switch between threads, or N of them."""

    def __init__(self):
        super().__init__("snarl-next", gdb.COMMAND_RUNNING)

    def told(self):
        """Of a stop at a switch: what it is, and the number of who goes on."""
        frame, c = gdb.newest_frame(), state()
        before, after = frame.read_var("from").dereference(), frame.read_var("to").dereference()
        if str(before["state"]) == "CTL_DONE":
            print("snarl: %s has ended" % path_of(c, before))
        else:
            print("snarl: %s stops; it is to %s" % (path_of(c, before),
                                                   describe(before["wait"].dereference()["event"])))
        return int(after["number"])

    def one(self):
        number = None  # of who goes on

        def let_go():
            return int(gdb.newest_frame().read_var("t")["number"]) == number

        while True:
            switch, fails = Stop(SWITCH), Stop(FAILS)
            # Only after the switch: a stop at every step takes its time.
            steps = [] if number is None else [Stop(STEP, let_go)]
            hit = run_to([switch, fails] + steps)
            if hit is not switch:
                break
            number = self.told()
        if hit is fails:
            tell_failure()
            return True
        if hit is None:
            return False
        frame = gdb.newest_frame()
        thread, event = frame.read_var("t").dereference(), frame.read_var("w")["event"]
        print("snarl: %s goes on, to %s" % (path_of(state(), thread), describe(event)))
        return settle(thread)

    @guarded
    def invoke(self, argument, from_tty):
        if not is_alive():
            print("snarl: the program is not running; snarl-start starts it")
            return
        for _ in range(int(argument or 1)):
            if not self.one():
                return
        show_place()


class Threads(gdb.Command):
    """snarl-threads: where the threads of the program stand, and which locks they hold."""

    def __init__(self):
        super().__init__("snarl-threads", gdb.COMMAND_STATUS)

    @guarded
    def invoke(self, argument, from_tty):
        if not is_alive():
            print("snarl: the program is not running; snarl-start starts it")
            return
        c = state()
        current = int(c["current"]["number"])
        rows = [self.row(c, c["threads"][i].dereference(), i == current) for i in range(int(c["count"]))]
        rows = [r for r in rows if r]
        width = max([len(name) for name, _ in rows] + [0])
        for name, text in rows:
            print("%-*s  %s" % (width, name, text))

    def row(self, c, thread, current):
        if str(thread["state"]) != "CTL_LIVE":
            return None
        name = ("* " if current else "  ") + path_of(c, thread)
        if int(thread["wait"]):
            event = thread["wait"].dereference()["event"]
            text = ("ready to " if bool(thread["runnable"]) else "waiting to ") + describe(event)
        elif current:
            frame = runtime_frames()[1]
            inside = frame != gdb.newest_frame()  # then its pc is that of the return
            text = "running" + (", at " + place(frame.pc() + (not inside)) if frame is not None else "")
        else:
            text = "running"
        held = held_by(thread)
        return name, text + ("; holds " + held if held else "")


def spare_runtime(breakpoint):
    """`break find` means the program's own: a function of that name in the runtime is called all the time."""
    locations = getattr(breakpoint, "locations", None) or []  # since gdb 13
    try:
        folder = runtime_folder()
    except Trouble:
        return
    sources = os.path.dirname(folder[:-1])
    ours_below = tuple(os.path.join(sources, name, "") for name in ("abi", "runtime", "sched", "trace", "coverage"))
    ours = []
    for at in locations:
        symtab = gdb.find_pc_line(at.address).symtab  # at.fullname is None where it was inlined
        if symtab is not None and symtab.fullname().startswith(ours_below):
            ours.append(at)
    if breakpoint.visible and len(ours) < len(locations):
        for at in ours:
            at.enabled = False


gdb.events.breakpoint_created.connect(spare_runtime)
Start()
NEXT = Next()
Threads()
