"""A profile agrees with `cProfile` on ten programs: the same ten functions at the top, with the same share of the time.

Both use the processor's time of the thread, so that other programs matter less. Shares are compared, not seconds, and a
program is measured again if they differ: the machine may be busy.
"""

import cProfile
import gc
import importlib
import pstats
import textwrap
import time

import pytest

import cassette_import
from cassette_import.contexts import Profile
from cassette_import.contexts.profile import call_paths, context, statistics
from cassette_import.contexts.profile.call_tree import CALLBACK
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.specialization import body_compiler, compilation_listeners

ATTEMPTS = 10
TOLERANCE = 0.15
"""By how much the shares of one function may differ."""
TIE = 0.025
"""A function may be missing among the ten if its share is so close to that of the last one."""

HEAD = """
    import asyncio, functools, re, threading
    def spin(n):
        while n: n -= 1
    KEYS = range(10)
"""


def ten(template):
    """The source for each of ten functions; they take from 12 to 3 units of time."""
    parts = (textwrap.dedent(template).replace("NUMBER", str(k)).replace("TIME", str((12 - k) * 70)) for k in range(10))
    return "".join(parts)


PROGRAMS = {
    "generators": ten("""
        def numbersNUMBER(count):
            for item in range(count):
                n = TIME
                while n: n -= 1
                yield item
    """)
    + """
def relayed(one):
    yield from one
def main():
    found = [sum(numbers0(30)), list(numbers1(30)), dict.fromkeys(numbers2(30))]
    found += [sorted(numbers3(30)), max(numbers4(30))]
    for _ in numbers5(30): pass
    found += relayed(numbers6(30))
    found += (x for x in numbers7(30))
    found += zip(numbers8(30), numbers9(30))
""",
    "asyncio": ten("""
        async def workNUMBER(count):
            for _ in range(count):
                n = TIME
                while n: n -= 1
                await asyncio.sleep(0)
    """)
    + """
async def whole():
    await asyncio.gather(*[globals()[f"work{k}"](25) for k in KEYS])
def main():
    asyncio.run(whole())
""",
    "recursion": ten("""
        def downNUMBER(depth):
            n = TIME
            while n: n -= 1
            return depth and globals()["down" + str((NUMBER + 1) % 10)](depth - 1)
    """)
    + """
def main():
    for _ in range(3): down0(99)
""",
    "callbacks": ten("""
        def byNUMBER(item, other=None):
            n = TIME
            while n: n -= 1
            return "x" if other == "text" else -item if type(item) is int else ""
    """)
    + """
def main():
    items = range(30)
    sorted(items, key=by0), min(items, key=by1), max(items, key=by2), list(map(by3, items)), list(filter(by4, items))
    functools.reduce(by5, items, 1), re.sub("a", by6, "a" * 30), list(map(by7, items)), any(map(by8, items))
    sorted(items, key=by9), functools.cmp_to_key(by8)
""",
    "lambdas": "KEYS_OF = [\n"
    + ten("    lambda item: [x for x in range(TIME)] and -item,\n").replace("\n\n", "\n")
    + "]\n"
    + """
def main():
    for key in KEYS_OF:
        sorted(range(30), key=key)
""",
    "classes": """
class Thing:
"""
    + textwrap.indent(
        ten("""
        def methodNUMBER(self, item):
            n = TIME
            while n: n -= 1
            return item
    """),
        "    ",
    )
    + """
    def __init__(self):
        n = 700
        while n: n -= 1
    def __lt__(self, other):
        n = 650
        while n: n -= 1
        return id(self) < id(other)
    @property
    def size(self):
        n = 600
        while n: n -= 1
        return 1
def main():
    for k in KEYS:
        things = [Thing() for _ in range(3)]
        for thing in sorted(things):
            thing.size
            for _ in range(5): getattr(thing, f"method{k}")(k)
""",
    "decorators and closures": """
def decorator(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        n = 100
        while n: n -= 1
        return function(*arguments)
    return wrapper
"""
    + ten("""
        @decorator
        def decoratedNUMBER(item):
            n = TIME
            while n: n -= 1
            return item
    """)
    + """
def main():
    for k in KEYS:
        for _ in range(30): globals()[f"decorated{k}"](k)
""",
    "threads": ten("""
        def jobNUMBER(count):
            for _ in range(count):
                n = TIME
                while n: n -= 1
    """)
    + """
def half(first):
    for k in range(first, 10, 2): globals()[f"job{k}"](30)
def main():
    half(0), half(1)
def threaded():
    threads = [threading.Thread(target=half, args=(first,)) for first in (0, 1)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""",
    "comprehensions": ten("""
        def madeNUMBER(count):
            return [x * x for x in range(TIME) if x % 3], {x: [x] for x in range(count)}
    """)
    + """
def main():
    for k in KEYS:
        for _ in range(30): globals()[f"made{k}"](9)
""",
    "exceptions": ten("""
        def failingNUMBER(item):
            n = TIME
            while n: n -= 1
            raise ValueError(item)
    """)
    + """
def main():
    for k in KEYS:
        for _ in range(30):
            try:
                globals()[f"failing{k}"](k)
            except ValueError:
                pass
""",
}

PACKAGES = {
    "_pydecimal": """
        import _pydecimal
        def main():
            with _pydecimal.localcontext() as context:
                context.prec = 1500
                _pydecimal.Decimal(2).sqrt(), _pydecimal.Decimal(3).ln(), _pydecimal.Decimal(5).exp()
    """,
}
"""Packages whose functions take longer than the clock."""


@pytest.fixture(autouse=True)
def no_garbage_collection():
    """A collection takes long beside pytest, and falls into one function."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def thread_time(monkeypatch):
    """The processor's time of the thread instead of the wall's."""
    Profile().event_costs()  # found with the usual clock
    modules = context, call_paths, statistics, body_compiler, compilation_listeners
    for module in modules:
        monkeypatch.setattr(module, "perf_counter", time.thread_time)


def of_cprofile(function, belongs):
    """The self time of the functions of a program by line and name; comprehensions belong to their functions."""
    measured = cProfile.Profile(time.thread_time)
    measured.runcall(function)
    found = {}
    for (file, line, name), (_, _, own, _, callers) in pstats.Stats(measured).stats.items():
        if belongs(file) and name not in {"<listcomp>", "<dictcomp>"}:
            found[line, name] = found.get((line, name), 0.0) + own
        for (caller_file, caller_line, caller), figures in callers.items():
            if belongs(caller_file) and name in {"<listcomp>", "<dictcomp>"}:
                found[caller_line, caller] = found.get((caller_line, caller), 0.0) + figures[2]
    return found


def of_profile(function, belongs):
    """The same with `Profile`."""
    with Profile() as measured:
        function()
    totals = Statistics(measured).totals()
    return {(line, name): found.own for (file, line, name), found in totals.items() if belongs(file)}


def disagreement(ours, theirs):
    """Why two profiles differ, as text; empty if they agree."""
    # What only the block calls is no call of the program.
    labels = [label for label in theirs if label[1] not in {"main", "half", "whole"}]
    shares = [
        {label: one.get(label, 0.0) / sum(one.get(other, 0.0) for other in labels) for label in labels}
        for one in (ours, theirs)
    ]
    for label in labels:
        if abs(shares[0][label] - shares[1][label]) > TOLERANCE:
            return f"{label}: {shares[0][label]:.3f}, in cProfile {shares[1][label]:.3f}"
    for one, other in (shares, shares[::-1]):
        last = sorted(one.values(), reverse=True)[:10][-1]
        top = sorted(other, key=lambda label: -other[label])[:10]
        missing = [label for label in top if one[label] < last - TIE]
        if missing:
            return f"{missing} are not among the ten: {sorted(one.items(), key=lambda entry: -entry[1])[:12]}"
    return ""


def check(run, plain, belongs):
    """Measure both ways until the results agree, and take the least time of each function: a disturbance adds to it."""
    of_profile(run, belongs)  # compiles everything
    ours, theirs = {}, {}
    for _ in range(ATTEMPTS):
        for found, least in ((of_profile(run, belongs), ours), (of_cprofile(plain, belongs), theirs)):
            least.update({label: min(seconds, least.get(label, seconds)) for label, seconds in found.items()})
        problem = disagreement(ours, theirs)
        if not problem:
            return
    raise AssertionError(problem)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_ten_costliest_functions_and_their_shares_are_those_of_cprofile(name, make_program, thread_time):
    source = textwrap.dedent(HEAD).lstrip() + PROGRAMS[name]
    program = make_program(source)
    namespace = {"__name__": "plain"}
    exec(compile(source, "plain.py", "exec"), namespace)
    # cProfile measures one thread; there, the jobs run one after the other.
    run = getattr(program, "threaded", program.main)
    check(run, namespace["main"], lambda file: file in (program.__file__, "plain.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_the_functions_of_a_package_have_the_shares_of_cprofile(name, make_program, thread_time):
    origin = importlib.import_module(name).__file__
    program = make_program(PACKAGES[name])
    with cassette_import.install([name]):
        check(program.main, program.main, lambda file: file == origin)


def test_a_callback_of_c_code_costs_its_caller_more_than_a_call_of_the_program():
    costs = Profile().event_costs()
    assert costs[CALLBACK].outside > 3 * costs["function"].outside
