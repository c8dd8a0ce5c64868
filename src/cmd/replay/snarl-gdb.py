"""gdb commands for `snarl replay --gdb`.

snarl-start runs the program to the first event of the bug, snarl-next to the next switch
between threads. snarl-threads shows where all threads are and which locks they hold. The
commands read the state of the runtime in the program: struct ctl of
src/runtime/control/control.h.
"""

import json
import os
import subprocess

import gdb

# lib/snarl of the build tree or of the installation
HERE = os.path.dirname(os.path.abspath(__file__))
TRACE_MOST = 64 << 20  # bytes: a larger trace is not searched for the first event
# Functions of src/runtime/control/debugger.c: called at each scheduling point, and at each switch.
STEP = "snarlrt_debug_here"
SWITCH = "snarlrt_debug_switch"
# called for failures that the runtime detects: deadlock, use after free and others
FAILS = "ctl_fail"
OPS = {
    "START": "start", "READ": "read", "WRITE": "write", "UPDATE": "update",
    "ACQUIRE": "lock", "RELEASE": "unlock", "TRY": "try to lock", "WAIT": "wait on",
    "WAKE": "wake", "CREATE": "create a thread", "JOIN": "join a thread", "EXIT": "end",
    "CALL": "make a system call", "YIELD": "let others go first", "OTHER": "go on",
}
OUTERMOST = ("context_call_on", None)  # frames outside the first function of a thread
OPS_WITH_OBJECT = ("READ", "WRITE", "UPDATE", "ACQUIRE", "RELEASE", "TRY", "WAIT", "WAKE")


class SnarlError(Exception):
    """A message for the user, in one line."""


# --- the runtime's state ---

def state():
    try:
        # Qualified by the file, since the program may have a variable `ctl`, too.
        return gdb.parse_and_eval("'src/runtime/control/point.c'::ctl")
    except gdb.error:
        raise SnarlError("the program has no runtime of snarl with debug information; "
                         "link it with snarl-cc")


def one_line_errors(invoke):
    """Decorator of invoke(): prints errors as one line instead of a traceback."""

    def wrapper(self, argument, from_tty):
        try:
            invoke(self, argument, from_tty)
        except (SnarlError, gdb.error) as e:
            print("snarl: %s" % str(e).split("\n")[0])
    return wrapper


def is_alive():
    return gdb.selected_inferior().pid != 0


def op_name(event):
    ops = gdb.lookup_type("enum sched_op")
    return str(event["op"].cast(ops)).replace("SCHED_OP_", "")


def path_of(c, thread):
    """The name of a thread: "0.2.1" is the first child of the second child of main, "0"."""
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
    """The next step of a thread: "read balance at bank.c:22 (balance_get)"."""
    op = op_name(event)
    text = OPS.get(op, op.lower())
    if op in OPS_WITH_OBJECT and int(event["object"]):
        text += " " + object_name(int(event["object"]))
    if op != "START" and int(event["site"]):
        text += " at " + place(int(event["site"]))
    return text


def held_by(thread):
    count = min(int(thread["held_count"]), 32)
    held = [thread["held"][i] for i in range(count)]
    return ", ".join("%s (since %s)" % (object_name(int(h["object"])), place(int(h["pc"])))
                     for h in held)


# --- running to a breakpoint ---

class Stop(gdb.Breakpoint):
    """An internal breakpoint that stops silently, and only if when() is true."""

    def __init__(self, where, when=None):
        super().__init__(where, internal=True)
        self.silent = True
        self.when = when
        self.hit = False

    def stop(self):
        self.hit = self.when is None or self.when()
        return self.hit


def run_to(stops, command="continue"):
    """Runs until one of `stops` is hit and returns it; prints any other stop and returns None."""
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
        raise SnarlError("the program was linked by another version of snarl; "
                         "link it again with snarl-cc")
    # The function is in src/runtime/control/.
    return os.path.dirname(os.path.dirname(symbol.symtab.fullname())) + "/"


def runtime_frames():
    """The names of the runtime's functions on the stack, and the innermost frame of the program;
    None if the program's code of the thread has not begun or has ended."""
    folder, names, frame = runtime_folder(), [], gdb.newest_frame()
    while frame is not None:
        symtab = frame.find_sal().symtab
        if frame.name() in OUTERMOST:
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


def print_failure():
    print("snarl: the program fails here: %s" % gdb.newest_frame().read_var("text").string())
    select_program()


def leave_runtime(thread):
    """Leaves the runtime after `thread` was chosen to run. Runs on to the thread's own code if its
    next step is not yet done there (accesses, thread starts); else only selects the frame of the
    program. Returns False if the run stopped elsewhere."""
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
        print_failure()
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
        self.cause = ([s for s in self.json["sites"] if "locks" in s]
                      if self.json.get("cause") else [])
        self.why_unknown = ""  # the reason if the first event is not known, though the cause is

    def events(self):
        """Yields (index, event) for the events of the trace; the index counts within the thread."""
        trace = os.path.join(self.folder, "trace.snarl")
        if not os.path.exists(trace):
            self.why_unknown = "there is no trace of the run"
            return
        if os.path.getsize(trace) > TRACE_MOST:
            self.why_unknown = "the trace of the run is too large to be searched"
            return
        self.why_unknown = "bug.json does not say which events of the trace they are"
        snarl = [p for p in (os.path.join(HERE, "../bin/snarl"),
                             os.path.join(HERE, "../../bin/snarl"))
                 if os.path.exists(p)]
        counts = {}
        with subprocess.Popen(snarl[:1] + ["dump", "--json", trace], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as dump:
            for e in map(json.loads, dump.stdout):
                if e["op"] != "value":
                    yield counts.setdefault(e["thread"], 0), e
                    counts[e["thread"]] += 1

    def first(self):
        """The first event of the cause in the order of the run, as (thread, pc, op, n-th time);
        None if it is not known."""
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
                i + 1, s["thread"], s["op"], s.get("object") or "?",
                s["file"], s["line"], s["function"],
                ", holding " + s["locks"] if s.get("locks") else ""))
        lines.append("  then: " + self.json["text"].replace("\n", "\n  "))
        return "\n".join(lines)


class Start(gdb.Command):
    """snarl-start: start the program anew and stop before the first event of the bug.

Without a trace, which identifies this event, stop at the first switch between threads. If the
cause is not known, stop at the failure, or at main if the failure is the exit status or output."""

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

    @one_line_errors
    def invoke(self, folder, from_tty):
        try:
            if folder:
                self.bug = Bug(folder)
            self.start()
        except (OSError, ValueError, KeyError) as e:
            print("snarl: the bug cannot be read (%s); run starts the program" % e)

    def start(self):
        if self.bug is None:
            print("snarl: missing FOLDER; usage: snarl-start FOLDER")
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
            print("snarl: the first event of the bug is not known: %s. Stopped at the first switch "
                  "between threads. What will happen:" % self.bug.why_unknown)
            self.print_story()
            return
        if hit is main and (first or self.bug.json["failure"] not in ("exit", "output", "check")):
            stop, fails = self.first_event(first) if first else None, Stop(FAILS)
            # The runtime calls STEP only at this site, which is faster than a condition of gdb.
            gdb.execute("set var snarlrt_debug_site = %d" % (first[1] if first else 0))
            hit = run_to([s for s in (stop, fails) if s])
            if is_alive():
                gdb.execute("set var snarlrt_debug_site = 0")
        if hit is None:
            # run_to() has printed the stop.
            if is_alive() and not stop:
                print("snarl: %sstopped at the failure" % unknown)
            return
        if stop and hit is stop:
            thread = gdb.newest_frame().read_var("t").dereference()
            name = path_of(state(), thread)
            if not leave_runtime(thread):
                return
            print("snarl: stopped before the first event of the bug, in thread %s. "
                  "What will happen:" % name)
        elif hit is fails:
            select_program()
            print("snarl: %sstopped at the failure:" % unknown)
        else:
            print("snarl: %sstopped at main. What will happen:" % unknown)
        self.print_story()

    def print_story(self):
        print(self.bug.story())
        print("snarl-next runs to the next switch between threads, snarl-threads shows where all "
              "threads are.")
        show_place()


class Next(gdb.Command):
    """snarl-next [N]: run to the next switch between threads, or N of them."""

    def __init__(self):
        super().__init__("snarl-next", gdb.COMMAND_RUNNING)

    def print_switch(self):
        """Prints why a thread stopped at a switch; returns the number of the next thread."""
        frame, c = gdb.newest_frame(), state()
        before, after = frame.read_var("from").dereference(), frame.read_var("to").dereference()
        if str(before["state"]) == "CTL_DONE":
            print("snarl: %s has ended" % path_of(c, before))
        else:
            print("snarl: %s stops; its next step: %s" % (path_of(c, before),
                                                   describe(before["wait"].dereference()["event"])))
        return int(after["number"])

    def one(self):
        number = None  # of the thread that goes on

        def let_go():
            return int(gdb.newest_frame().read_var("t")["number"]) == number

        while True:
            switch, fails = Stop(SWITCH), Stop(FAILS)
            # Only after the switch, since stopping at every step is slow.
            steps = [] if number is None else [Stop(STEP, let_go)]
            hit = run_to([switch, fails] + steps)
            if hit is not switch:
                break
            number = self.print_switch()
        if hit is fails:
            print_failure()
            return True
        if hit is None:
            return False
        frame = gdb.newest_frame()
        thread, event = frame.read_var("t").dereference(), frame.read_var("w")["event"]
        print("snarl: %s goes on; its next step: %s" % (path_of(state(), thread), describe(event)))
        return leave_runtime(thread)

    @one_line_errors
    def invoke(self, argument, from_tty):
        if not is_alive():
            print("snarl: the program is not running; snarl-start starts it")
            return
        for _ in range(int(argument or 1)):
            if not self.one():
                return
        show_place()


class Threads(gdb.Command):
    """snarl-threads: show where the threads of the program are, and which locks they hold."""

    def __init__(self):
        super().__init__("snarl-threads", gdb.COMMAND_STATUS)

    @one_line_errors
    def invoke(self, argument, from_tty):
        if not is_alive():
            print("snarl: the program is not running; snarl-start starts it")
            return
        c = state()
        current = int(c["current"]["number"])
        rows = [self.row(c, c["threads"][i].dereference(), i == current)
                for i in range(int(c["count"]))]
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
            inside = frame != gdb.newest_frame()  # then its pc is a return address
            text = "running" + (", at " + place(frame.pc() + (not inside))
                                if frame is not None else "")
        else:
            text = "running"
        held = held_by(thread)
        return name, text + ("; holds " + held if held else "")


def disable_runtime_locations(breakpoint):
    """Disables locations of a new breakpoint that are in the runtime, if others are in the program:
    `break find` means the program's function, not the runtime's, which is called all the time."""
    locations = getattr(breakpoint, "locations", None) or []  # since gdb 13
    try:
        folder = runtime_folder()
    except SnarlError:
        return
    sources = os.path.dirname(folder[:-1])
    runtime_folders = tuple(os.path.join(sources, name, "")
                            for name in ("abi", "runtime", "sched", "trace", "coverage"))
    in_runtime = []
    for at in locations:
        symtab = gdb.find_pc_line(at.address).symtab  # at.fullname is None for inlined code
        if symtab is not None and symtab.fullname().startswith(runtime_folders):
            in_runtime.append(at)
    if breakpoint.visible and len(in_runtime) < len(locations):
        for at in in_runtime:
            at.enabled = False


gdb.events.breakpoint_created.connect(disable_runtime_locations)
# The runtime uses these for libraries that wait by themselves (control/library_waits.h).
gdb.execute("handle SIGILL SIG61 nostop noprint pass", to_string=True)
Start()
NEXT = Next()
Threads()
