"""Generated modules: a program, a context of every kind in every place, and every way to enter it. They are text.

`KINDS` are the hooks, by what they read; `PLACES` are where the context type stands; `WAYS` are how it is entered. The
program's lines come first, so they are those of the program alone. Names that begin with `_` belong to the module.
"""

import itertools
import random
import textwrap
import warnings

from hypothesis import strategies as st

from programs.generated.statements import Writer

_LEADING = {"prehook": "f", "posthook": "result, f", "errorhook": "error, f", "overdub": "f"}

_READING = {
    "nothing": ["pass", "self.n += 1", "self.n = 2; self.m = self.n + 1", "None"],
    "its context by a call": ["self.n = len(self.seen)", "self.seen.append(1)", "self.step()"],
    "the function": ["self.n += f is None", "self.name = type(f).__name__", "self.last = id(f)"],
    "everything": ["self.n = len(args) + len(kwargs)", "self.same = f is args", "self.held = f, len(args), [*kwargs]"],
}
_OVERLOADS = [
    "return f(*args, **kwargs)",
    "self.n += 1; return f(*args, **kwargs)",
    "return (_recurse if _canrecurse(self, f, *args, **kwargs) else _fallback)(self, f, *args, **kwargs)",
]
_TARGETS = [
    "V",
    "note",
    "len, isinstance",
    "_operator.add, _operator.mul",
    "_operator.getitem",
    "iter, next",
    "getattr",
]
POINTS = [("prehook",), ("posthook",), ("errorhook",), ("overdub",), ("prehook", "posthook", "errorhook")]
KINDS = [*_READING, "targets", "lambda", "leaf", "none"]
EVENTS = ["CALLS", "DEFAULT", "ALL"]
PLACES = ["same module", "other module", "__main__", "pytest module", "closure"]
WAYS = ["overdub", "with", "install", "import", "decorated", "thread", "task", "generator"]


def _body(point, kind, pick):
    if point == "overdub":
        return pick(_OVERLOADS)
    return pick(_READING["its context by a call" if kind == "leaf" else kind])


def _method(point, kind, pick):
    if kind == "lambda" and point != "overdub":
        return f"{point} = lambda self, {_LEADING[point]}, *args, **kwargs: {pick(['None', '1', 'f', 'len(args)'])}"
    kind = "nothing" if kind == "lambda" else kind
    return f"def {point}(self, {_LEADING[point]}, *args, **kwargs): {_body(point, kind, pick)}"


def _handler(point, pick):
    body = pick(_OVERLOADS[:2]) if point == "overdub" else pick(_READING[pick(list(_READING))])
    return (
        f"@_Kind.{point}.register({pick(_TARGETS)})\n"
        f"def _Kind_handler(self, {_LEADING[point]}, *args, **kwargs): {body}\n"
    )


def context_type(kind, points, events, pick):
    """The text of a context type, `_Kind`, whose hooks at these points read what the kind says."""
    lines = [
        f"class _Kind(_Context, events=_Events.{events}, inherit=True):",
        "    n = 0",
        f"    leaf_hooks = {kind == 'leaf'}",
        "    def __init__(self): self.seen = []",
        "    def step(self): self.n += 1",
    ]
    if kind not in ("targets", "none"):
        lines += [f"    {_method(point, kind, pick)}" for point in points]
    text = "\n".join(lines) + "\n"
    if kind == "leaf":
        text = text.replace("self.step()", "self.seen.append(f)")
    if kind == "targets":
        text += "".join(_handler(point, pick) for point in points)
    return text


HEAD = """\
import operator as _operator
from cassette_import import Context as _Context, Events as _Events
from cassette_import import canrecurse as _canrecurse, fallback as _fallback, recurse as _recurse
from programs.generated.observed import V, note
"""

DRIVER = """\
import asyncio as _asyncio
import functools as _functools
import threading as _threading
from cassette_import import overdub as _overdub
from programs.generated import observed as _observed


def _guarded():
    try:
        main()
    except _observed.Enough:
        pass
    except Exception as error:
        note(raised(error))


def _decorator(function):
    @_functools.wraps(function)
    def call(*arguments, **keywords):
        return function(*arguments, **keywords)
    return call


def _generator():
    yield 1
    _guarded()
    yield 2


async def _job():
    _guarded()


def _with(context):
    with context:
        _guarded()


def _thread(context):
    with context:
        thread = _threading.Thread(target=_guarded)
        thread.start()
        thread.join()


def _task(context):
    with context:
        _asyncio.run(_job())


def _resumed(context):
    generator = _generator()
    next(generator)
    with context:
        next(generator)


_DRIVERS = {
    "plain": lambda context: _guarded(),
    "overdub": lambda context: _overdub(context, _guarded),
    "with": _with,
    "install": _with,
    "import": _with,
    "decorated": lambda context: _overdub(context, _decorator(_guarded)),
    "thread": _thread,
    "task": _task,
    "generator": _resumed,
}


def _drive(way, make):
    _DRIVERS[way](None if way == "plain" else make())
"""

_CLOSURE = """\
def _make_kind():
    _count = 0
{}
    return _Kind
_Kind = _make_kind()
"""

_COMPREHENSIONS = [
    "y = [i for i in range(2)]",
    "y = [i for i in range(2)] if 0 else 1",
    "assert 1, [i for i in range(2)]",
    "while 0: y = {i for i in range(2)}",
    "y = [(lambda: i)() for i in range(2)]",
    "y = [j for i in range(2) for j in (i, V())]",
]
_READERS = ["w = sorted(locals())", "exec('w = i')", "w = eval('i')", "w = dir()", "w = i"]


def class_body(pick):
    """A function with a class whose body has a method, a comprehension, and code that reads its names."""
    lines = [
        "i = V()",
        "def method(self): return V()",
        *pick(list(itertools.permutations([pick(_COMPREHENSIONS), pick(_READERS), "x = i"], 3))),
    ]
    body = textwrap.indent("\n".join(["class Body:", *("    " + line for line in lines)]), "    ")
    return f"def of_class():\n{body}\n    return Body.x, sorted(name for name in vars(Body) if len(name) == 1)\n"


def _program(choose):
    """The text of a program that compiles."""
    while True:
        text = Writer(choose).program()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(text, "<written>", "exec")
            except SyntaxError:
                continue
        return text


@st.composite
def modules(draw):
    """The text of a program, and of a context type, for any place and way.

    Hypothesis draws one number for all choices: a program has thousands of them.
    """
    choose = random.Random(draw(st.integers(0, 2**32))).randrange

    def pick(options):
        return options[choose(len(options))]

    program = _program(choose)
    head, separator, main = program.rpartition("def main():\n")
    inner = class_body(pick)
    outside = textwrap.dedent(inner.partition("\n")[2].rpartition("    return")[0])
    program = f"{head}{inner}{outside}{separator}    attempt(lambda: note(of_class()))\n{main}"
    kind, points, events = pick(KINDS), pick(POINTS), pick(EVENTS)
    return program, context_type(kind, points, events, pick)


def texts(program, kind, place):
    """The texts of the module of a program, and of the module with its context type if that is another one."""
    if place == "other module":
        return program + HEAD + DRIVER, HEAD + kind
    if place == "closure":
        inner = textwrap.indent(kind.replace("self.n += 1", "nonlocal _count; _count += 1"), "    ")
        return program + HEAD + _CLOSURE.format(inner) + DRIVER, None
    ending = "_drive(_observed.WAY, lambda: _Kind())\n" if place == "__main__" else ""
    return program + HEAD + kind + DRIVER + ending, None
