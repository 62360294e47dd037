"""A program of many shapes, and the tools that watch it: run in a process of its own by `test_watchers.py`.

`python watched.py CONTEXT` runs the program once for each watcher, in a context, and prints what each was notified of.
"""

import asyncio
import cProfile
import functools
import importlib
import json
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

PROGRAM = """
import asyncio
import functools
import sys
import threading


def leaf(x):
    y = x + 1
    return y


def numbers(n):
    for i in range(n):
        yield leaf(i)


def delegating(n):
    yield from numbers(n)
    leaf(n)


def generators():
    total = 0
    for number in delegating(2):
        total += number
    thrown, closed = numbers(3), numbers(3)
    next(thrown)
    next(closed)
    try:
        thrown.throw(ValueError("thrown"))
    except ValueError:
        total += 1
    if sys.version_info[:2] != (3, 13):  # which closes a generator without events, unless it has a handler
        closed.close()
    else:  # nor may the collector close it while the program is watched
        sys.kept = [*getattr(sys, "kept", ()), closed]
    return total


def failing(x):
    if x:
        raise KeyError(leaf(x))
    return x


def passing(x):
    a = failing(x)
    return a


def exceptions():
    try:
        passing(1)
    except KeyError as error:
        found = len(error.args)
    finally:
        found = leaf(2)
    return found


class Manager:
    def __enter__(self):
        return leaf(1)

    def __exit__(self, *exc):
        leaf(2)
        return True


def blocks():
    with Manager() as m:
        x = leaf(m)
        passing(1)
        x = 3
    return x


class Vector:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vector(leaf(self.x) + other.x)

    @property
    def length(self):
        return leaf(self.x)

    def __lt__(self, other):
        return self.x < other.x


def classes():
    v = Vector(1) + Vector(2)
    n = v.length
    w = min([v, Vector(0)])
    return n, w.x


def callbacks():
    a = sorted([3, 1, 2], key=leaf)
    b = list(map(leaf, a))
    return functools.reduce(lambda x, y: leaf(x) + y, b)


def decorated(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)
    return inner


@decorated
def closures(n=2):
    def deeper(k):
        if k:
            return deeper(k - 1)
        return leaf(n)
    return deeper(2)


def lines(n):
    x = (
        leaf(n)
        + leaf(1)
    )
    while n:
        n -= 1
        if n % 2:
            continue
    else:
        x += 1
    return x


def threads():
    results = []

    def work():
        results.append(leaf(1))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return results


async def waiting(n):
    await asyncio.sleep(0)
    return leaf(n)


async def ticks(n):
    for i in range(n):
        yield leaf(i)


async def parent():
    a = await waiting(1)
    async for tick in ticks(2):
        a += tick
    return a, await asyncio.gather(waiting(2), waiting(3))


def main():
    generators()
    exceptions()
    blocks()
    classes()
    callbacks()
    closures()
    lines(3)
    asyncio.run(parent())
    threads()
"""


class Notified:
    """What a watcher with a stack was notified of, by thread."""

    def __init__(self, file):
        self.file = file
        self.stacks = {}
        self.unbalanced = []
        self.events = {True: [], False: []}

    def enter(self, what):
        self.stacks.setdefault(threading.get_ident(), []).append(what)

    def leave(self, what):
        stack = self.stacks.setdefault(threading.get_ident(), [])
        if stack and stack[-1] != what:
            self.unbalanced.append(f"{what} ends within {stack[-1]}")
        elif stack:
            stack.pop()

    def note(self, event, code, *more):
        if code.co_filename == self.file:
            self.events[threading.current_thread() is threading.main_thread()].append((event, code.co_name, *more))

    def outcome(self, lines):
        return {"events": self.events[True] + self.events[False], "unbalanced": self.unbalanced, "lines": sorted(lines)}


def traced(file, work):
    seen, lines = Notified(file), set()

    def tracer(frame, event, argument):
        code = frame.f_code
        if event == "line":
            if code.co_filename == file:
                lines.add(frame.f_lineno)
            return tracer
        if event == "call":
            seen.enter(str(code))
        elif event == "return":
            seen.leave(str(code))
        if event != "exception" or argument[0] is not StopIteration:  # 3.12: that depends on specialised instructions
            seen.note(event, code)
        return tracer

    threading.settrace(tracer)
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return seen.outcome(lines)


def profiled(file, work):
    seen = Notified(file)

    def profiler(frame, event, argument):
        what = str(argument) if event.startswith("c_") else str(frame.f_code)
        (seen.enter if event.endswith("call") else seen.leave)(what)
        if not event.startswith("c_"):
            seen.note(event, frame.f_code)

    threading.setprofile(profiler)
    sys.setprofile(profiler)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen.outcome(())


def monitored(file, work):
    seen, lines = Notified(file), set()
    monitoring, tool = sys.monitoring, 3
    all_events = monitoring.events
    begins = (all_events.PY_START, all_events.PY_RESUME, all_events.PY_THROW)
    ends = (all_events.PY_RETURN, all_events.PY_YIELD, all_events.PY_UNWIND)

    def note(event, code, *_rest):
        (seen.enter if event in begins else seen.leave)(str(code))
        seen.note(event, code)

    def note_line(code, line):
        if code.co_filename == file:
            lines.add(line)

    monitoring.use_tool_id(tool, "watched")
    for event in (*begins, *ends):
        monitoring.register_callback(tool, event, functools.partial(note, event))
    monitoring.register_callback(tool, all_events.LINE, note_line)
    monitoring.set_events(tool, sum(begins) + sum(ends) + all_events.LINE)
    try:
        work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return seen.outcome(lines)


def counted(file, work):
    profiler = cProfile.Profile()
    profiler.runcall(work)
    profiler.create_stats()
    rows = {
        (name, line): (calls, sorted((caller[2], row[0]) for caller, row in callers.items() if caller[0] == file))
        for (filename, line, name), (_, calls, _, _, callers) in profiler.stats.items()
        if filename == file
    }
    return {"events": sorted(rows.items()), "unbalanced": [], "lines": []}


def covered(core, file, work):
    import coverage

    tool = coverage.Coverage(data_file=None, config_file=False, include=[file])
    tool.set_option("run:core", core)
    tool.start()
    try:
        work()
    finally:
        tool.stop()
    return {"events": [], "unbalanced": [], "lines": sorted(tool.get_data().lines(file) or ())}


WATCHERS = {
    "settrace": traced,
    "setprofile": profiled,
    "cProfile": counted,
    "ctrace": functools.partial(covered, "ctrace"),
    "pytrace": functools.partial(covered, "pytrace"),
}
if sys.version_info >= (3, 12):
    WATCHERS |= {"monitoring": monitored, "sysmon": functools.partial(covered, "sysmon")}


def write(folder):
    """Write the program once for each watcher: each watches the first calls of its functions."""
    for watcher in WATCHERS:
        (Path(folder) / f"program_{watcher}.py").write_text(PROGRAM)


def main(name):
    context = nullcontext()
    if name != "plain":
        import contexts

        import cassette_import
        from cassette_import import contexts as ready_made

        cassette_import.install([f"program_{watcher}" for watcher in WATCHERS])
        context = (getattr(contexts, name, None) or getattr(ready_made, name))()
    asyncio.run(asyncio.sleep(0))  # imports what asyncio imports late
    found = {}
    for watcher, watch in WATCHERS.items():
        name = f"program_{watcher}"

        def work(name=name):
            with context:
                importlib.import_module(name).main()

        found[watcher] = watch(str(Path(__file__).with_name(f"{name}.py")), work)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
