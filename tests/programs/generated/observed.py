"""Objects that record every operation on them: generated programs compute with them.

This module is never installed, so what it does is no event. Whatever is decided here (what is true, what raises, how
long something is) is decided by the number of the object, and so is the same in each run that makes the same objects
in the same order.
"""

import os
import sys
import types

LOG = []
LIMIT = 400


class Boom(Exception):
    """What the objects raise."""


class Enough(Exception):
    """The program has done enough."""


class _State:
    count = 0


def start():
    """Forget everything."""
    LOG.clear()
    _State.count = 0


def note(*parts):
    """Record an operation; end the program after many of them."""
    LOG.append(" ".join(map(show, parts)))
    if len(LOG) > LIMIT:
        raise Enough


def show(value):
    """Return a value as text without calling its methods."""
    kind = type(value)
    if kind is str:
        return value
    if isinstance(value, V):
        return f"v{value.number}"
    if kind in (list, tuple):
        return f"{kind.__name__}({', '.join(map(show, value))})"
    if kind in (set, frozenset):
        return f"{kind.__name__}({', '.join(sorted(map(show, value)))})"
    if kind is dict:
        return f"dict({', '.join(f'{show(key)}: {show(item)}' for key, item in value.items())})"
    if kind is slice:
        return f"slice({show(value.start)}, {show(value.stop)}, {show(value.step)})"
    if isinstance(value, BaseException):
        return f"{kind.__name__}({', '.join(map(show, value.args))})"
    if isinstance(value, (int, float, complex, bytes, type(None), type(...))):
        return repr(value)
    if isinstance(value, (type, types.FunctionType)):
        return f"<{value.__qualname__}>"
    if kind.__name__ in ("Template", "Interpolation"):
        return f"{kind.__name__}({', '.join(map(show, value))})" if kind.__name__ == "Template" else "{…}"
    return f"<a {kind.__name__}>"


def never(condition=None):
    """False, which the compiler cannot know."""
    note("asked")
    return False


class V:
    """A value."""

    def __init__(self, *arguments, **keywords):
        _State.count += 1
        object.__setattr__(self, "number", _State.count)
        if arguments or keywords:
            note("new", self, arguments, keywords)

    def _fails(self, what):
        if self.number % 13 == 0:
            raise Boom(what, self.number)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        note("get", self, name)
        if self.number % 11 == 0:
            raise AttributeError(name)
        return V()

    def __setattr__(self, name, value):
        note("set", self, name, value)
        self._fails("set")

    def __delattr__(self, name):
        note("delete", self, name)

    def __getitem__(self, index):
        note("getitem", self, index)
        self._fails("getitem")
        return V()

    def __setitem__(self, index, value):
        note("setitem", self, index, value)
        self._fails("setitem")

    def __delitem__(self, index):
        note("delitem", self, index)

    def __contains__(self, value):
        note("contains", self, value)
        return value is not self

    def __bool__(self):
        note("bool", self)
        self._fails("bool")
        return self.number % 3 != 0

    def __hash__(self):  # not written down: a display with `*` may be made twice
        return self.number

    def __iter__(self):
        note("iter", self)
        self._fails("iter")
        return _steps(self)

    def __call__(self, *arguments, **keywords):
        note("call", self, arguments, keywords)
        self._fails("call")
        if arguments and isinstance(arguments[0], types.FunctionType) and self.number % 2:
            return attempt(arguments[0])
        return V()

    def __format__(self, specification):
        note("format", self, specification)
        return f"<{self.number}{specification}>"

    def __repr__(self):
        note("repr", self)
        return f"v{self.number}"

    def __str__(self):
        note("str", self)
        return f"V{self.number}"

    def __enter__(self):
        note("enter", self)
        self._fails("enter")
        return V()

    def __exit__(self, kind, error, traceback):
        note("exit", self, error)
        return self.number % 2 == 0

    def __await__(self):
        note("await", self)
        got = yield self.number
        note("awaited", self, got)
        self._fails("await")
        return V()

    async def __aenter__(self):
        note("aenter", self)
        return V()

    async def __aexit__(self, kind, error, traceback):
        note("aexit", self, error)
        return self.number % 2 == 0

    def __aiter__(self):
        note("aiter", self)
        return _asynchronous_steps(self)

    def __set_name__(self, owner, name):
        note("set_name", self, name)


def _steps(value):
    for index in range(value.number % 4):
        note("step", value, index)
        yield V()


async def _asynchronous_steps(value):
    for index in range(value.number % 4):
        note("astep", value, index)
        yield V()


def _binary(name):
    def operate(self, other):
        note(name, self, other)
        self._fails(name)
        return NotImplemented if self.number % 7 == 0 else V()

    return operate


def _reflected(name):
    def operate(self, other):
        note("reflected", name, self, other)
        return V()

    return operate


def _in_place(name):
    def operate(self, other):
        note("in place", name, self, other)
        return (self, V(), NotImplemented)[self.number % 3]

    return operate


def _unary(name):
    def operate(self):
        note(name, self)
        self._fails(name)
        return V()

    return operate


_NAMES = "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor".split()
for _name in _NAMES:
    setattr(V, f"__{_name}__", _binary(_name))
    setattr(V, f"__r{_name}__", _reflected(_name))
    setattr(V, f"__i{_name}__", _in_place(_name))
for _name in "lt le eq ne gt ge".split():
    setattr(V, f"__{_name}__", _binary(_name))
for _name in "neg pos invert".split():
    setattr(V, f"__{_name}__", _unary(_name))


# ---- running what programs define


def attempt(function, *arguments):
    """Call a function; record its exception."""
    note("attempt", function)
    try:
        result = function(*arguments)
    except BaseException as error:
        result = raised(error)
    note("gives", result)
    return result


def raised(error):
    """Return the visible parts of an exception: its chain, and where in the program it was raised."""
    seen = []
    while error is not None:
        entries = []
        traceback = error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if os.path.basename(code.co_filename).startswith("generated"):
                positions = list(code.co_positions())[traceback.tb_lasti // 2]
                entries.append(f"{code.co_qualname}:{traceback.tb_lineno}:{positions if COLUMNS else ''}")
            traceback = traceback.tb_next
        seen.append(f"{show(error)} at {' '.join(entries)}")
        error = error.__cause__ or error.__context__
    return " from ".join(seen[:4])


COLUMNS = sys.version_info >= (3, 12)


def drain(generator, way):
    """Advance a generator to its end: by `next`, by `send`, with an exception thrown in, or closed early."""
    note("drain", way)
    try:
        item = next(generator)
        for index in range(20):
            note("yielded", item)
            if way == 1:
                item = generator.send(V())
            elif way == 2 and index == 1:
                item = generator.throw(Boom("thrown"))
            elif way == 3 and index == 1:
                return generator.close()
            else:
                item = next(generator)
        return generator.close()
    except StopIteration as end:
        return end.value


def run(coroutine):
    """Run a coroutine to its end."""
    try:
        for _ in range(60):
            note("suspended", coroutine.send(None))
        return coroutine.close()
    except StopIteration as end:
        return end.value


async def drain_async(generator, way):
    """The same as `drain` for asynchronous generators."""
    note("drain", way)
    try:
        item = await anext(generator)
        for index in range(20):
            note("yielded", item)
            if way == 1:
                item = await generator.asend(V())
            elif way == 2 and index == 1:
                item = await generator.athrow(Boom("thrown"))
            elif way == 3 and index == 1:
                return await generator.aclose()
            else:
                item = await anext(generator)
        return await generator.aclose()
    except StopAsyncIteration:
        return "end"
