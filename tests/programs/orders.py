"""Expressions of three numbers that order, compare, hash, look for or remove them, one in each line."""
# ruff: noqa

import array
import bisect
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import queue
import random
import statistics
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from typing import NamedTuple


@dataclasses.dataclass(order=True)
class Ordered:
    a: float
    b: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float


@functools.total_ordering
class Total:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return self.a == other.a

    def __lt__(self, other):
        return self.a < other.a

    def __hash__(self):
        return hash(self.a)

    def __repr__(self):
        return "Total"


class Pair(NamedTuple):
    a: float
    b: float


class OwnList(list):
    pass


Point = collections.namedtuple("Point", "a b")


class ByFirst:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __lt__(self, other):
        return self.a < other.a


@functools.lru_cache
def cached(a):
    return a * 2


@functools.cache
def cached2(a, b):
    return a - b


def mutate(changed, function, *arguments):
    function(*arguments)
    return changed


def unique(items):
    seen, made = set(), []
    for item in items:
        if item not in seen:
            seen.add(item)
            made.append(item)
    return made


# fmt: off
EXPRESSIONS = [
    lambda x, y, z: mutate(xs := [x, y, z], xs.sort),
    lambda x, y, z: mutate(xs := [x, y, z], xs.remove, y),
    lambda x, y, z: mutate(xs := [x, y, z], xs.remove, x),
    lambda x, y, z: mutate(xs := [x, 0.3, z], xs.remove, 0.3),
    lambda x, y, z: mutate(xs := [x, y, z], list.sort, xs),
    lambda x, y, z: mutate(xs := [x, y, z], list.remove, xs, z),
    lambda x, y, z: [x, y, z].index(z),
    lambda x, y, z: [x, y, z].index(y, 1),
    lambda x, y, z: [x, 0.3, z, 0.3, 0.1, y].index(0.3),
    lambda x, y, z: [0.1, 0.2, 0.3, 0.4, 0.5, x].index(x),
    lambda x, y, z: [x, y, z].count(x),
    lambda x, y, z: [x, y, z, 0.3].count(0.3),
    lambda x, y, z: list.count([x, y, z], z),
    lambda x, y, z: (x, y, z).index(z),
    lambda x, y, z: (x, y, z).count(y),
    lambda x, y, z: tuple.index((x, y, z), y),
    lambda x, y, z: x in [y, z],
    lambda x, y, z: x in (y, 0.3),
    lambda x, y, z: x in {0.1, 0.2, 0.3},
    lambda x, y, z: x in {0.1: 1, 0.2: 2},
    lambda x, y, z: 0.3 in [x, y],
    lambda x, y, z: 0.3 not in (x, y),
    lambda x, y, z: 0.3 in {x, y},
    lambda x, y, z: 0.3 in {x: y},
    lambda x, y, z: 0.3 in {y: x}.values(),
    lambda x, y, z: (0.3, 1) in {x: 1}.items(),
    lambda x, y, z: 0.3 in {x: 1}.keys(),
    lambda x, y, z: [x, y] == [y, z],
    lambda x, y, z: [x, y] < [y, z],
    lambda x, y, z: [x, y] >= [0.3, 0.3],
    lambda x, y, z: (x, y) <= (y, x),
    lambda x, y, z: (x, 1) == (0.3, 1),
    lambda x, y, z: (x, 1) != (y, 1),
    lambda x, y, z: [x, y].__eq__([y, x]),
    lambda x, y, z: (x, y).__lt__((y, z)),
    lambda x, y, z: list.__lt__([x, y], [y, x]),
    lambda x, y, z: operator.lt([x, y], [y, x]),
    lambda x, y, z: operator.eq((x,), (y,)),
    lambda x, y, z: {x: 1} == {y: 1},
    lambda x, y, z: {"a": x} == {"a": y},
    lambda x, y, z: {"a": [x]} == {"a": [y]},
    lambda x, y, z: {"a": x} != {"a": 0.3},
    lambda x, y, z: {x, y} == {y, z},
    lambda x, y, z: {x, y} <= {y, z, 0.3},
    lambda x, y, z: frozenset([x]) == {y},
    lambda x, y, z: deque([x, y]) == deque([y, x]),
    lambda x, y, z: deque([x, y]) < deque([y, x]),
    lambda x, y, z: sorted([x, y, z]),
    lambda x, y, z: sorted((x, y, z), reverse=True),
    lambda x, y, z: sorted([x, y, z], key=lambda v: -v),
    lambda x, y, z: sorted([x, y, z], key=abs),
    lambda x, y, z: sorted([(x, 1), (y, 2), (z, 3)]),
    lambda x, y, z: sorted([[x, 1], [y, 2], [z, 3]]),
    lambda x, y, z: sorted([(1, x), (2, y), (3, z)], key=operator.itemgetter(1)),
    lambda x, y, z: sorted([(1, x), (2, y), (3, z)], key=lambda p: p[1]),
    lambda x, y, z: sorted([(1, x), (2, y), (3, z)], key=lambda p: (p[1], p[0])),
    lambda x, y, z: sorted({"a": x, "b": y, "c": z}.items(), key=lambda kv: kv[1]),
    lambda x, y, z: sorted(d := {"a": x, "b": y, "c": z}, key=d.get),
    lambda x, y, z: sorted(d := {"a": x, "b": y, "c": z}, key=d.__getitem__),
    lambda x, y, z: sorted([x, y, z], key=functools.cmp_to_key(lambda p, q: (p > q) - (p < q))),
    lambda x, y, z: sorted(range(3), key=[x, y, z].__getitem__),
    lambda x, y, z: sorted(v for v in (x, y, z)),
    lambda x, y, z: sorted({x, y, z}),
    lambda x, y, z: sorted({x: 1, y: 2, z: 3}),
    lambda x, y, z: sorted([Ordered(x, 1.0), Ordered(y, 2.0), Ordered(z, 3.0)])[0].b,
    lambda x, y, z: sorted([Total(x), Total(y), Total(z)])[0].a,
    lambda x, y, z: sorted([Pair(x, 1.0), Pair(y, 2.0), Pair(z, 3.0)])[0].b,
    lambda x, y, z: sorted([ByFirst(x, 1), ByFirst(y, 2), ByFirst(z, 3)])[0].b,
    lambda x, y, z: min([x, y, z]),
    lambda x, y, z: min(x, y, z),
    lambda x, y, z: max(x, y, key=abs),
    lambda x, y, z: max([x, y, z], key=lambda v: -v),
    lambda x, y, z: max((x, 1), (y, 2), (z, 3)),
    lambda x, y, z: max([x, y], default=0),
    lambda x, y, z: min([(x, 1), (y, 2)]),
    lambda x, y, z: min([[x, 1], [y, 2]]),
    lambda x, y, z: min([(1, x), (2, y)], key=operator.itemgetter(1)),
    lambda x, y, z: min({"a": x, "b": y}, key={"a": x, "b": y}.get),
    lambda x, y, z: max(range(3), key=[x, y, z].__getitem__),
    lambda x, y, z: max(enumerate([x, y, z]), key=lambda p: p[1]),
    lambda x, y, z: max(zip([x, y, z], "abc")),
    lambda x, y, z: min(Pair(x, 1.0), Pair(y, 2.0)).b,
    lambda x, y, z: max(Ordered(x, 1.0), Ordered(y, 2.0)).b,
    lambda x, y, z: min(Total(x), Total(y)).a,
    lambda x, y, z: [x, y, z].index(max([x, y, z])),
    lambda x, y, z: [x, y, z].index(min(x, y, z)),
    lambda x, y, z: len({x, y, z}),
    lambda x, y, z: len(set([x, y, z])),
    lambda x, y, z: len(frozenset((x, y, z))),
    lambda x, y, z: sorted(set([x, y]) | {z}),
    lambda x, y, z: len({x, y} & {y, z}),
    lambda x, y, z: len({x, y} - {z}),
    lambda x, y, z: len({x, y}.union([z])),
    lambda x, y, z: len({x} ^ {y}),
    lambda x, y, z: {x, y}.isdisjoint({z}),
    lambda x, y, z: {x}.issubset([y, z]),
    lambda x, y, z: mutate(s := {x, y}, s.add, z) == {x, y, z},
    lambda x, y, z: len(mutate(s := {x, y}, s.discard, z)),
    lambda x, y, z: len(mutate(s := {0.1, 0.2}, s.update, [x, y])),
    lambda x, y, z: list({x: 1, y: 2, z: 3}.items()),
    lambda x, y, z: len({x: 1, y: 2}),
    lambda x, y, z: {x: 1, y: 2}[y],
    lambda x, y, z: {0.1: 1, 0.2: 2, 0.3: 3}.get(x),
    lambda x, y, z: {0.1: 1, 0.2: 2}.get(x, y),
    lambda x, y, z: {x: 1}.get(y, 2),
    lambda x, y, z: {x: 1}.get(0.3, 2),
    lambda x, y, z: {x: 1, y: 2}.pop(z, 3),
    lambda x, y, z: {x: 1}.setdefault(y, 2),
    lambda x, y, z: {0.1: 1}.setdefault(x, 2),
    lambda x, y, z: len(dict.fromkeys([x, y, z])),
    lambda x, y, z: list(dict.fromkeys([x, y, z])),
    lambda x, y, z: dict([(x, 1), (y, 2)])[y],
    lambda x, y, z: len(dict([(x, 1), (y, 2)])),
    lambda x, y, z: len({v: 1 for v in (x, y, z)}),
    lambda x, y, z: {v: i for i, v in enumerate([x, y, z])}[z],
    lambda x, y, z: len({v for v in (x, y, z)}),
    lambda x, y, z: len({x: 1} | {y: 2}),
    lambda x, y, z: mutate(d := {0.3: 1}, d.update, {x: 2})[0.3],
    lambda x, y, z: mutate(d := {0.3: 1}, d.update, [(x, 2)])[0.3],
    lambda x, y, z: mutate(d := {0.3: 1}, d.__setitem__, x, 2)[0.3],
    lambda x, y, z: mutate(d := {0.3: 1}, operator.setitem, d, x, 2)[0.3],
    lambda x, y, z: {0.3: 1, x: 2}[0.3],
    lambda x, y, z: len(mutate(d := {x: 1, y: 2}, d.pop, z, None)),
    lambda x, y, z: dict(zip([x, y, z], [1, 2, 3]))[x],
    lambda x, y, z: Counter([x, y, z])[x],
    lambda x, y, z: Counter([x, y, z]).most_common(1),
    lambda x, y, z: Counter([x, y])[0.3],
    lambda x, y, z: Counter({"a": x, "b": y}).most_common(1),
    lambda x, y, z: Counter({"a": x, "b": y}).most_common(),
    lambda x, y, z: (Counter(a=x) - Counter(a=y))["a"],
    lambda x, y, z: (Counter(a=x) & Counter(a=y))["a"],
    lambda x, y, z: (Counter(a=x) | Counter(a=y))["a"],
    lambda x, y, z: mutate(c := Counter(), c.update, [x, y])[y],
    lambda x, y, z: Counter(a=x) == Counter(a=y),
    lambda x, y, z: Counter(a=x) <= Counter(a=y),
    lambda x, y, z: statistics.median([x, y, z]),
    lambda x, y, z: statistics.median_low([x, y, z]),
    lambda x, y, z: statistics.median_high([x, y, z, 0.3]),
    lambda x, y, z: statistics.mode([x, y, z]),
    lambda x, y, z: statistics.multimode([x, y, z]),
    lambda x, y, z: statistics.quantiles([x, y, z]),
    lambda x, y, z: statistics.mean([x, y, z]),
    lambda x, y, z: statistics.fmean([x, y, z]),
    lambda x, y, z: statistics.median_grouped([x, y, z]),
    lambda x, y, z: heapq.nlargest(2, [x, y, z]),
    lambda x, y, z: heapq.nsmallest(2, [x, y, z]),
    lambda x, y, z: heapq.nsmallest(1, [x, y, z]),
    lambda x, y, z: heapq.nlargest(1, [(x, 1), (y, 2)]),
    lambda x, y, z: heapq.nlargest(2, [(x, 1), (y, 2), (z, 3)]),
    lambda x, y, z: heapq.nsmallest(2, [x, y, z], key=lambda v: -v),
    lambda x, y, z: heapq.nsmallest(2, d := {"a": x, "b": y, "c": z}, key=d.get),
    lambda x, y, z: mutate(xs := [x, y, z], heapq.heapify, xs),
    lambda x, y, z: mutate(xs := [0.3], heapq.heappush, xs, x),
    lambda x, y, z: mutate(xs := [], lambda: [heapq.heappush(xs, v) for v in (x, y, z)]),
    lambda x, y, z: mutate(xs := [], lambda: [heapq.heappush(xs, (v, k)) for k, v in enumerate((x, y, z))]),
    lambda x, y, z: heapq.heappop([0.2, x, y]),
    lambda x, y, z: heapq.heappushpop([0.2, x], y),
    lambda x, y, z: heapq.heapreplace([0.2, x], y),
    lambda x, y, z: list(heapq.merge([x], [y], [z])),
    lambda x, y, z: list(heapq.merge([(x, 1)], [(y, 2)])),
    lambda x, y, z: list(heapq.merge([x], [y], key=lambda v: -v)),
    lambda x, y, z: bisect.bisect([0.1, 0.2, 0.3, 0.4], x),
    lambda x, y, z: bisect.bisect_left([0.1, 0.2, 0.3, 0.4], x),
    lambda x, y, z: bisect.bisect_right([0.1, x, 0.9], 0.3),
    lambda x, y, z: bisect.bisect([1, 2, 3], x, key=lambda v: v * y),
    lambda x, y, z: bisect.bisect([(0.1, "a"), (0.3, "b")], (x, "z")),
    lambda x, y, z: bisect.bisect_left([0.1, 0.2, 0.3], x, 1),
    lambda x, y, z: "FEDCBA"[bisect.bisect([0.1, 0.2, 0.3, 0.4, 0.5], x)],
    lambda x, y, z: mutate(xs := [0.1, 0.2, 0.3], bisect.insort, xs, x),
    lambda x, y, z: mutate(xs := [0.1, 0.2, 0.3], bisect.insort_left, xs, x),
    lambda x, y, z: mutate(xs := [3, 2, 1], lambda: bisect.insort(xs, x, key=lambda v: -v)),
    lambda x, y, z: mutate(d := deque([x, y, z]), d.remove, z)[0],
    lambda x, y, z: deque([x, y, z]).index(z),
    lambda x, y, z: deque([x, y, z]).count(z),
    lambda x, y, z: 0.3 in deque([x, y]),
    lambda x, y, z: array.array("d", [x, y, z]).index(z),
    lambda x, y, z: array.array("d", [x, y, z]).count(z),
    lambda x, y, z: x in array.array("d", [0.1, 0.2]),
    lambda x, y, z: array.array("d", [x]) == array.array("d", [y]),
    lambda x, y, z: mutate(a := array.array("d", [x, y, z]), a.remove, z)[0],
    lambda x, y, z: cached(x),
    lambda x, y, z: cached2(x, y),
    lambda x, y, z: cached(x) + cached(y),
    lambda x, y, z: sum([x, y], z),
    lambda x, y, z: sum([[x], [y]], []),
    lambda x, y, z: sum([(x, 1), (y, 2)], ()),
    lambda x, y, z: functools.reduce(max, [x, y, z]),
    lambda x, y, z: functools.reduce(lambda p, q: p if p > q else q, [x, y, z]),
    lambda x, y, z: list(itertools.accumulate([x, y, z], max)),
    lambda x, y, z: list(itertools.accumulate([x, y, z], min)),
    lambda x, y, z: [(k, len(list(g))) for k, g in itertools.groupby([x, y, z])],
    lambda x, y, z: [(k, len(list(g))) for k, g in itertools.groupby([x, y, z], key=lambda v: v > 0.3)],
    lambda x, y, z: list(itertools.takewhile(lambda v: v < 0.3, [x, y, z])),
    lambda x, y, z: list(itertools.dropwhile(lambda v: v < 0.3, [x, y, z])),
    lambda x, y, z: list(itertools.filterfalse(lambda v: v < 0.3, [x, y, z])),
    lambda x, y, z: list(itertools.compress("abc", [x > 0.3, y > 0.3, z > 0.3])),
    lambda x, y, z: list(filter(None, [x, y, z])),
    lambda x, y, z: list(filter(lambda v: v > 0.3, [x, y, z])),
    lambda x, y, z: list(filter([0.1, 0.2].__contains__, [x, y])),
    lambda x, y, z: list(filter({0.1, 0.2}.__contains__, [x, y])),
    lambda x, y, z: list(map([0.1, 0.2, 0.3, x].index, [x])),
    lambda x, y, z: operator.countOf([x, y, z], x),
    lambda x, y, z: operator.indexOf([x, y, z], z),
    lambda x, y, z: operator.contains([x, y], z),
    lambda x, y, z: operator.methodcaller("index", z)([x, y, z]),
    lambda x, y, z: operator.methodcaller("count", 0.3)([x, y, z]),
    lambda x, y, z: ([x, y, z]).index(z),
    lambda x, y, z: functools.partial(sorted, reverse=True)([x, y, z]),
    lambda x, y, z: unique([x, y, z]),
    lambda x, y, z: any(v == 0.3 for v in (x, y, z)),
    lambda x, y, z: all(v < 0.3 for v in [x, y, z]),
    lambda x, y, z: any(map(functools.partial(operator.eq, 0.3), [x, y, z])),
    lambda x, y, z: any([x == 0.3, y == 0.3]),
    lambda x, y, z: next((i for i, v in enumerate([x, y, z]) if v == z), None),
    lambda x, y, z: next(filter(lambda v: v >= 0.3, [x, y, z]), -1.0),
    lambda x, y, z: Ordered(x, y) < Ordered(y, x),
    lambda x, y, z: Ordered(x, y) == Ordered(y, x),
    lambda x, y, z: Ordered(x, 1.0) == Ordered(0.3, 1.0),
    lambda x, y, z: Frozen(x) == Frozen(y),
    lambda x, y, z: len({Frozen(x), Frozen(y)}),
    lambda x, y, z: {Frozen(x): 1}.get(Frozen(y)),
    lambda x, y, z: Total(x) == Total(y),
    lambda x, y, z: Total(x) >= Total(y),
    lambda x, y, z: len({Total(x), Total(y)}),
    lambda x, y, z: [Total(x), Total(y), Total(z)].index(Total(z)),
    lambda x, y, z: Total(0.3) in [Total(x), Total(y)],
    lambda x, y, z: Pair(x, y) == Pair(y, x),
    lambda x, y, z: Pair(x, y) < Pair(0.3, 0.3),
    lambda x, y, z: (x, y) == Pair(y, x),
    lambda x, y, z: Point(x, y) == (0.3, 0.3),
    lambda x, y, z: Pair(x, y).index(y),
    lambda x, y, z: mutate(xs := OwnList([x, y, z]), xs.sort)[0],
    lambda x, y, z: mutate(xs := OwnList([x, y, z]), xs.remove, z)[0],
    lambda x, y, z: OwnList([x, y, z]).index(z),
    lambda x, y, z: mutate(xs := UserList([x, y, z]), xs.sort)[0],
    lambda x, y, z: mutate(xs := UserList([x, y, z]), xs.remove, z)[0],
    lambda x, y, z: UserList([x, y, z]).index(z),
    lambda x, y, z: UserList([x, y]) == [y, x],
    lambda x, y, z: UserList([x, y]) < [y, x],
    lambda x, y, z: 0.3 in UserList([x, y]),
    lambda x, y, z: UserDict({"a": x}) == {"a": y},
    lambda x, y, z: UserDict({0.3: 1}).get(x, 2),
    lambda x, y, z: ChainMap({0.3: 1}, {0.2: 2}).get(x, 3),
    lambda x, y, z: len(ChainMap({x: 1}, {y: 2})),
    lambda x, y, z: len(defaultdict(list, {x: 1, y: 2})),
    lambda x, y, z: len(mutate(d := defaultdict(int), lambda: [d.__setitem__(v, d[v] + 1) for v in (x, y, z)])),
    lambda x, y, z: OrderedDict(a=x) == OrderedDict(a=y),
    lambda x, y, z: len(OrderedDict([(x, 1), (y, 2)])),
    lambda x, y, z: mutate(q := queue.PriorityQueue(), lambda: [q.put(v) for v in (x, y, z)]).get(),
    lambda x, y, z: mutate(q := queue.PriorityQueue(), lambda: [q.put((v, k)) for k, v in enumerate((x, y, z))]).get(),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: xs.sort(reverse=True)),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: xs.sort(key=lambda v: -v)),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: xs.sort(key=abs, reverse=True)),
    lambda x, y, z: mutate(xs := [(x, 1), (y, 2), (z, 3)], xs.sort),
    lambda x, y, z: mutate(xs := [(x, 1), (y, 2), (z, 3)], lambda: xs.sort(key=operator.itemgetter(0))),
    lambda x, y, z: mutate(xs := [(x, 1), (y, 2), (z, 3)], lambda: xs.sort(key=lambda p: p[0])),
    lambda x, y, z: mutate(xs := [0, 1, 2], lambda: xs.sort(key=[x, y, z].__getitem__)),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: (xs.sort(), xs.insert(1, x))),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: (xs.sort(), xs.reverse())),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: (xs.sort(), xs.append(0.3), xs.sort(), xs.pop())),
    lambda x, y, z: mutate(xs := [x, y, z], lambda: (xs.sort(), xs.pop(0))),
    lambda x, y, z: mutate(xs := [[x, y], [z, 0.3]], lambda: [v.sort() for v in xs]),
    lambda x, y, z: mutate(xs := [[x, y], [z, 0.3]], xs.sort),
    lambda x, y, z: mutate(xs := [[x, y], [z, 0.3]], xs.remove, [z, 0.3]),
    lambda x, y, z: [[x], [y], [z]].index([z]),
    lambda x, y, z: [(x, 1), (y, 2)].count((0.3, 1)),
    lambda x, y, z: (x, 1) in [(y, 1), (z, 1)],
    lambda x, y, z: [x] in [[y], [z]],
    lambda x, y, z: (x,) in {(0.1,), (0.2,)},
    lambda x, y, z: {(0.1, 0.2): 1}.get((x, y), 2),
    lambda x, y, z: {(x, y): 1}.get((y, x), 2),
    lambda x, y, z: {("a", x): 1}[("a", x)],
    lambda x, y, z: copy.copy([x, y, z]).index(z),
    lambda x, y, z: "abc"[[x, y, z].index(min([x, y, z]))],
    lambda x, y, z: [x, y, z][[0.1, x, 0.3].index(x) % 3],
    lambda x, y, z: range(5)[[x, y, z].index(max(x, y, z))],
    lambda x, y, z: max([x, y, z]) in [x],
    lambda x, y, z: int(x * 10) in range(3),
    lambda x, y, z: range(5).index(int(x * 10) % 5),
    lambda x, y, z: [0, 1, 2, 3].index(int(x * 10) % 4),
    lambda x, y, z: {0: "a", 1: "b", 2: "c"}[int(x * 10) % 3],
    lambda x, y, z: {0: x, 1: y, 2: z}[int(x * 10) % 3],
    lambda x, y, z: ["a", "b", "c"][int(x * 10) % 3],
    lambda x, y, z: [x, y, z][int(x * 10) % 3],
    lambda x, y, z: "abc".index("abc"[int(x * 10) % 3]),
    lambda x, y, z: str(x) in ["0.1", "0.2"],
    lambda x, y, z: str(x) in {"0.1": 1},
    lambda x, y, z: {"0.1": 1}.get(str(x)),
    lambda x, y, z: {str(x): 1}.get("0.3", 2),
    lambda x, y, z: sorted([str(x), str(y)]),
    lambda x, y, z: [str(x), str(y)].index(str(y)),
    lambda x, y, z: mutate(xs := [str(x), str(y)], xs.sort),
    lambda x, y, z: math.isclose(x, y),
    lambda x, y, z: [x, y, z].sort() or x,
    lambda x, y, z: (lambda s: (s(), xs))((xs := [x, y, z]).sort)[1],
    lambda x, y, z: list(map(list.sort, ys := [[x, y], [z, 0.3]])) and ys,
    lambda x, y, z: random.Random(1).choice([x, y, z]),
    lambda x, y, z: random.Random(1).choices([1, 2, 3], [x, y, z]),
    lambda x, y, z: [x, y, z][bool(x > y)],
    lambda x, y, z: (lambda a, *r: min(r) if r else a)(x, y, z),
    lambda x, y, z: [v for _, v in sorted(zip([x, y, z], "abc"))],
    lambda x, y, z: list(zip(*sorted(zip([x, y, z], [1, 2, 3])))),
    lambda x, y, z: [v for v in [x, y, z] if v not in {y}],
    lambda x, y, z: [v for v in [x, y, z] if v != y],
    lambda x, y, z: all(p <= q for p, q in zip([x, y], [y, z])),
    lambda x, y, z: all(p <= q for p, q in itertools.pairwise([x, y, z])),
    lambda x, y, z: [x, y, z] == sorted([x, y, z]),
    lambda x, y, z: min(map(abs, [x, y, z])),
    lambda x, y, z: max(map(lambda v: -v, [x, y, z])),
    lambda x, y, z: max((x, y, z), key=lambda v: {0.1: 5, 0.2: 4}.get(v, 0)),
    lambda x, y, z: range(int(x * 10)) == range(int(y * 10)),
    lambda x, y, z: mutate(xs := [(x, 1), (y, 2), (z, 3)], heapq.heapify, xs),
    lambda x, y, z: mutate(xs := [[x], [y], [z]], heapq.heapify, xs),
    lambda x, y, z: mutate(xs := [Ordered(x, 1), Ordered(y, 2), Ordered(z, 3)], heapq.heapify, xs)[0].a,
    lambda x, y, z: mutate(xs := [(x, 1), (y, 2), (z, 3)], heapq.heapify, xs) and heapq.heapreplace(xs, (0.25, 4)),
    lambda x, y, z: (min(xs := [(x, 1), (y, 2), (z, 3)]), max(xs), xs),
    lambda x, y, z: (sorted(xs := [(x, 1), (y, 2), (z, 3)]), xs[0][0]),
    lambda x, y, z: mutate(ys := (xs := [(x, 1), (y, 2), (z, 3)])[:], ys.sort) and xs[0][0],
    lambda x, y, z: max(xs := [(x, 1), (y, 2), (z, 3)]) is xs[0],
    lambda x, y, z: mutate(min(xs := [[x], [y], [z]]), xs[0].append, 1) and (min(xs), xs),
    lambda x, y, z: [sorted(xs := [[x], [y], [z]])[0] is xs[0], xs],
    lambda x, y, z: [max((xs := {"a": (x, 1), "b": (y, 2)}).values()), xs["a"][0]],
]
# fmt: on
