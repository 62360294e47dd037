"""Each callable of the standard library that is classified as a mover has a rule, and moves metadata.

The table has a call of each mover by name: it gets a value and another one, and returns the value.
"""

# ruff: noqa: RUF015

import bisect
import builtins
import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import importlib
import itertools
import operator
import statistics
import sys
import types

import pytest

from cassette_import import NO_METADATA, Context, metadata, overdub, tag, untag
from cassette_import.interpreter.callables import underlying
from cassette_import.runtime.tagging.classification import MOVES, TABLES, classification, way_of
from cassette_import.runtime.tagging.classification.tables import ITSELF, names_in
from cassette_import.runtime.tagging.rule_table import RULES_OF_TYPES, rule_of_python_function
from cassette_import.runtime.tagging.rules import RULES

CONSTRUCTED = {"object", "type", "SimpleNamespace", "OrderedDict", "defaultdict", "LinearRegression"}
"""Classes whose rule is that of all classes."""
MOVING_NAMES = [
    f"{module}.{name}" for module, table in TABLES.items() for way, names in table.moves.items() if way != ITSELF
    for name in names_in(names)
]  # fmt: skip


def resolve(name):
    """The callable with a name of the tables; None if this version of Python does not have it."""
    module_name, *parts = name.split(".")
    found = importlib.import_module(module_name)
    for part in parts:
        found = vars(found).get(part)
        if found is None:
            return None
    return found


@pytest.mark.parametrize("name", MOVING_NAMES)
def test_each_mover_has_a_rule(name):
    found = resolve(name)
    if found is None:
        return
    function = underlying(found)
    assert classification(function) == MOVES
    assert (
        id(function) in RULES
        or name.rpartition(".")[2] in CONSTRUCTED
        or id(function) in RULES_OF_TYPES
        or _has_rule_of_code(function)
        or _has_rule_of_code(getattr(function, "__init__", None))
    )


def _has_rule_of_code(function):
    return isinstance(function, types.FunctionType) and rule_of_python_function(function) is not None


def test_the_receiver_that_a_method_returns_needs_no_rule():
    assert way_of(zip.__iter__) == ITSELF


# ---- each mover, tried


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


Pair = collections.namedtuple("Pair", "first second")


class Base:
    pass


def changed(made, change):
    change(made)
    return made


CALLS = {
    "bool": lambda x, y: bool(x) if x is True else x,
    "float": lambda x, y: float(x) if type(x) is float else x,
    "int": lambda x, y: int(x) if type(x) is int else x,
    "int.conjugate": lambda x, y: x.conjugate(),
    "list.append": lambda x, y: changed([y], lambda made: made.append(x))[1],
    "list.insert": lambda x, y: changed([y], lambda made: made.insert(0, x))[0],
    "list.__setitem__": lambda x, y: changed([y, y], lambda made: list.__setitem__(made, 1, x))[1],
    "set.add": lambda x, y: changed(set(), lambda made: made.add(x)).pop(),
    "dict.__setitem__": lambda x, y: changed({}, lambda made: dict.__setitem__(made, "a", x))["a"],
    "dict.setdefault": lambda x, y: {"b": y}.setdefault("a", x),
    "setattr": lambda x, y: changed(Point(y), lambda made: setattr(made, "x", x)).x,
    "object.__setattr__": lambda x, y: changed(Point(y), lambda made: object.__setattr__(made, "x", x)).x,
    "type.__setattr__": lambda x, y: changed(types.new_class("K"), lambda made: type.__setattr__(made, "x", x)).x,
    "getattr": lambda x, y: getattr(Point(x, y), "x"),  # noqa: B009
    "object.__getattribute__": lambda x, y: object.__getattribute__(Point(x, y), "x"),
    "max": lambda x, y: max([x, -9]),
    "min": lambda x, y: min(x, 99),
    "next": lambda x, y: next(iter([x, y])),
    "list.pop": lambda x, y: [y, x].pop(),
    "list.__getitem__": lambda x, y: list.__getitem__([y, x], 1),
    "tuple.__getitem__": lambda x, y: tuple.__getitem__((y, x), 1),
    "dict.get": lambda x, y: {"a": x, "b": y}.get("a"),
    "dict.pop": lambda x, y: {"a": x, "b": y}.pop("a"),
    "dict.popitem": lambda x, y: {"b": y, "a": x}.popitem()[1],
    "dict.__getitem__": lambda x, y: dict.__getitem__({"a": x, "b": y}, "a"),
    "set.pop": lambda x, y: {x}.pop(),
    "dict": lambda x, y: dict(b=y, a=x)["a"],
    "enumerate": lambda x, y: list(enumerate([y, x]))[1][1],
    "filter": lambda x, y: list(filter(lambda item: item is not None, [None, x]))[0],
    "frozenset": lambda x, y: next(iter(frozenset([x]))),
    "iter": lambda x, y: next(iter((x, y))),
    "list": lambda x, y: list((y, x))[1],
    "reversed": lambda x, y: next(reversed([y, x])),
    "set": lambda x, y: set([x]).pop(),
    "sorted": lambda x, y: sorted([x, 99])[0],
    "tuple": lambda x, y: tuple([y, x])[1],
    "zip": lambda x, y: next(zip([x], [y], strict=True))[0],
    "list.copy": lambda x, y: [y, x].copy()[1],
    "list.__add__": lambda x, y: [y].__add__([x])[1],
    "list.__mul__": lambda x, y: [y, x].__mul__(2)[3],
    "list.__rmul__": lambda x, y: [y, x].__rmul__(2)[3],
    "list.__iter__": lambda x, y: next([x, y].__iter__()),
    "list.__reversed__": lambda x, y: next([y, x].__reversed__()),
    "tuple.__add__": lambda x, y: (y,).__add__((x,))[1],
    "tuple.__mul__": lambda x, y: (y, x).__mul__(2)[3],
    "dict.copy": lambda x, y: {"a": x}.copy()["a"],
    "dict.fromkeys": lambda x, y: dict.fromkeys("ab", x)["b"],
    "dict.values": lambda x, y: list({"b": y, "a": x}.values())[1],
    "dict.items": lambda x, y: list({"b": y, "a": x}.items())[1][1],
    "dict.__or__": lambda x, y: {"a": y}.__or__({"b": x})["b"],
    "dict.__ror__": lambda x, y: {"a": y}.__ror__({"b": x})["b"],
    "set.copy": lambda x, y: {x}.copy().pop(),
    "set.union": lambda x, y: set().union([x]).pop(),
    "set.difference": lambda x, y: {x}.difference([99]).pop(),
    "set.intersection": lambda x, y: {x}.intersection({x}).pop(),
    "set.symmetric_difference": lambda x, y: {x}.symmetric_difference([]).pop(),
    "set.__or__": lambda x, y: set().__or__({x}).pop(),
    "set.__sub__": lambda x, y: {x}.__sub__({99}).pop(),
    "frozenset.union": lambda x, y: next(iter(frozenset().union([x]))),
    "list.extend": lambda x, y: changed([y], lambda made: made.extend([x]))[1],
    "list.reverse": lambda x, y: changed([y, x], lambda made: made.reverse())[0],
    "list.sort": lambda x, y: changed([99, x], lambda made: made.sort())[0],
    "list.__iadd__": lambda x, y: [y].__iadd__([x])[1],
    "list.__imul__": lambda x, y: [y, x].__imul__(2)[3],
    "list.__init__": lambda x, y: changed([], lambda made: list.__init__(made, [y, x]))[1],
    "dict.update": lambda x, y: changed({}, lambda made: made.update(a=x))["a"],
    "dict.__ior__": lambda x, y: {"b": y}.__ior__({"a": x})["a"],
    "dict.__init__": lambda x, y: changed({}, lambda made: dict.__init__(made, a=x))["a"],
    "set.update": lambda x, y: changed(set(), lambda made: made.update([x])).pop(),
    "map": lambda x, y: next(map(lambda item: item, [x])),
    "type": lambda x, y: builtins.type("K", (), {"a": y, "b": x}).b if type(type) is type else x,
    "type.__new__": lambda x, y: type.__new__(type, "K", (), {"b": x}).b,
    "type.__call__": lambda x, y: type.__call__(Point, x, y).x,
    "operator.getitem": lambda x, y: operator.getitem([y, x], 1),
    "operator.itemgetter": lambda x, y: operator.itemgetter(1)([y, x]),
    "operator.attrgetter": lambda x, y: operator.attrgetter("x")(Point(x, y)),
    "operator.setitem": lambda x, y: changed([y], lambda made: operator.setitem(made, 0, x))[0],
    "operator.concat": lambda x, y: operator.concat([y], [x])[1],
    "operator.iconcat": lambda x, y: operator.iconcat([y], [x])[1],
    "operator.methodcaller": lambda x, y: operator.methodcaller("get", "b", x)({"a": y}),
    "operator.call": lambda x, y: operator.call(lambda a, b: b, y, x),
    "itertools.batched": lambda x, y: (
        next(getattr(itertools, "batched", zip)([x], 1))[0] if hasattr(itertools, "batched") else x
    ),
    "itertools.chain": lambda x, y: list(itertools.chain([y], [x]))[1],
    "itertools.combinations": lambda x, y: next(itertools.combinations([y, x], 2))[1],
    "itertools.compress": lambda x, y: next(itertools.compress([y, x], [0, 1])),
    "itertools.cycle": lambda x, y: next(itertools.cycle([x, y])),
    "itertools.dropwhile": lambda x, y: next(itertools.dropwhile(lambda item: False, [x])),
    "itertools.groupby": lambda x, y: next(itertools.groupby([x]))[0],
    "itertools.islice": lambda x, y: next(itertools.islice([y, x], 1, 2)),
    "itertools.pairwise": lambda x, y: next(itertools.pairwise([y, x]))[1],
    "itertools.permutations": lambda x, y: next(itertools.permutations([y, x]))[1],
    "itertools.product": lambda x, y: next(itertools.product([y], [x]))[1],
    "itertools.tee": lambda x, y: next(itertools.tee([x])[1]),
    "itertools.zip_longest": lambda x, y: next(itertools.zip_longest([x], []))[0],
    "itertools.chain.from_iterable": lambda x, y: next(itertools.chain.from_iterable([[x]])),
    "itertools.repeat": lambda x, y: next(itertools.repeat(x)),
    "itertools.accumulate": lambda x, y: next(itertools.accumulate([x])),
    "itertools.starmap": lambda x, y: next(itertools.starmap(lambda item: item, [(x,)])),
    "functools.reduce": lambda x, y: functools.reduce(lambda a, b: b, [y, x]),
    "functools.partial": lambda x, y: functools.partial(lambda a, b: b, y, x)(),
    "functools.partial.__call__": lambda x, y: functools.partial.__call__(functools.partial(lambda a, b: b, y), x),
    "collections.deque": lambda x, y: collections.deque([y, x])[1],
    "collections.deque.append": lambda x, y: changed(collections.deque(), lambda made: made.append(x))[0],
    "collections.deque.appendleft": lambda x, y: changed(collections.deque(), lambda made: made.appendleft(x))[0],
    "collections.deque.insert": lambda x, y: changed(collections.deque([y]), lambda made: made.insert(0, x))[0],
    "collections.deque.__setitem__": lambda x, y: changed(
        collections.deque([y]), lambda made: collections.deque.__setitem__(made, -1, x)
    )[0],
    "collections.deque.pop": lambda x, y: collections.deque([y, x]).pop(),
    "collections.deque.popleft": lambda x, y: collections.deque([x, y]).popleft(),
    "collections.deque.__getitem__": lambda x, y: collections.deque([y, x]).__getitem__(1),
    "collections.deque.copy": lambda x, y: collections.deque([y, x]).copy()[1],
    "collections.deque.__add__": lambda x, y: collections.deque([y]).__add__(collections.deque([x]))[1],
    "collections.deque.extend": lambda x, y: changed(collections.deque(), lambda made: made.extend([x]))[0],
    "collections.deque.extendleft": lambda x, y: changed(collections.deque(), lambda made: made.extendleft([x]))[0],
    "collections.deque.rotate": lambda x, y: changed(collections.deque([y, x]), lambda made: made.rotate())[0],
    "collections.deque.reverse": lambda x, y: changed(collections.deque([y, x]), lambda made: made.reverse())[0],
    "collections.OrderedDict": lambda x, y: collections.OrderedDict(b=y, a=x)["a"],
    "collections.OrderedDict.__setitem__": lambda x, y: changed(
        collections.OrderedDict(), lambda made: collections.OrderedDict.__setitem__(made, "a", x)
    )["a"],
    "collections.defaultdict": lambda x, y: collections.defaultdict(None, a=x)["a"],
    "collections.defaultdict.copy": lambda x, y: collections.defaultdict(None, a=x).copy()["a"],
    "copy.copy": lambda x, y: copy.copy([y, x])[1],
    "copy.deepcopy": lambda x, y: copy.deepcopy([y, [x]])[1][0],
    "heapq.heappush": lambda x, y: changed([99], lambda made: heapq.heappush(made, x))[0],
    "heapq.heappop": lambda x, y: heapq.heappop([x, 99]),
    "heapq.heappushpop": lambda x, y: heapq.heappushpop([99], x),
    "heapq.heapreplace": lambda x, y: heapq.heapreplace([x, 99], y),
    "heapq.heapify": lambda x, y: changed([99, x], heapq.heapify)[0],
    "heapq.merge": lambda x, y: next(heapq.merge([99], [x])),
    "heapq.nlargest": lambda x, y: heapq.nlargest(1, [-99, x])[0],
    "heapq.nsmallest": lambda x, y: heapq.nsmallest(1, [99, x])[0],
    "bisect.insort": lambda x, y: changed([99], lambda made: bisect.insort(made, x))[0],
    "bisect.insort_left": lambda x, y: changed([99], lambda made: bisect.insort_left(made, x))[0],
    "statistics.median": lambda x, y: statistics.median([x, 99, -99]),
    "statistics.median_low": lambda x, y: statistics.median_low([x, 99]),
    "statistics.median_high": lambda x, y: statistics.median_high([x, -99]),
    "statistics.mode": lambda x, y: statistics.mode([x, 99]),
    "statistics.multimode": lambda x, y: statistics.multimode([x, 99])[0],
    "statistics.LinearRegression": lambda x, y: statistics.LinearRegression(y, x).intercept,
    "dataclasses.asdict": lambda x, y: dataclasses.asdict(Point(y, x))["y"],
    "dataclasses.astuple": lambda x, y: dataclasses.astuple(Point(y, x))[1],
    "dataclasses.replace": lambda x, y: dataclasses.replace(Point(y, y), x=x).x,
    "contextlib.nullcontext": lambda x, y: contextlib.nullcontext(x).__enter__(),
    "contextlib.closing": lambda x, y: contextlib.closing(x).__enter__(),
    "types.SimpleNamespace": lambda x, y: types.SimpleNamespace(a=x).a,
    "types.MappingProxyType.get": lambda x, y: types.MappingProxyType({"a": x}).get("a"),
    "types.MappingProxyType.__getitem__": lambda x, y: types.MappingProxyType({"a": x})["a"],
    "types.MappingProxyType.copy": lambda x, y: types.MappingProxyType({"a": x}).copy()["a"],
    "types.MappingProxyType.values": lambda x, y: list(types.MappingProxyType({"a": x}).values())[0],
    "types.MappingProxyType.items": lambda x, y: list(types.MappingProxyType({"a": x}).items())[0][1],
    "types.GenericAlias": lambda x, y: list[int]([y, x])[1],
    "ValueError": lambda x, y: ValueError(y, x).args[1],
}

if sys.version_info < (3, 12):
    del CALLS["type"]  # there, `type` reads the frame, and its call is no event


class Moving(Context, tagging=True):
    pass


@pytest.mark.parametrize("values", [(1, 2), (3.5, 2.5)], ids=["small ints", "floats"])
@pytest.mark.parametrize("name", CALLS)
def test_the_mover_moves_metadata(name, values):
    ctx, (value, other), call = Moving(), values, CALLS[name]
    result = overdub(ctx, call, tag(value, ctx, "m"), other)
    assert untag(result, ctx) == call(value, other)
    assert metadata(result, ctx) == "m"


@pytest.mark.parametrize("values", [(1, 2), (3.5, 2.5), (1, 1)], ids=["small ints", "floats", "one object"])
@pytest.mark.parametrize("name", CALLS)
def test_the_mover_gives_metadata_to_nothing_else(name, values):
    ctx, (value, other), call = Moving(), values, CALLS[name]
    result = overdub(ctx, call, value, tag(other, ctx, "m"))
    assert untag(result, ctx) == call(value, other)
    assert metadata(result, ctx) is NO_METADATA
