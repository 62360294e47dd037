"""Programs in which functions decide by numbers: they order, test, find or hash them, or what callbacks return.

For numbers in an interval around 1.5 some decisions differ. The enclosure is right, or an error.
"""

import asyncio
import bisect
import collections
import dataclasses
import functools
import heapq
import itertools
import operator
import statistics


@dataclasses.dataclass(order=True)
class Ordered:
    value: float
    number: int = 0


class Smaller:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


Named = collections.namedtuple("Named", "value")


def matches(subject):
    match subject:
        case (1, 1.5) | Ordered(1.5):
            return 1
        case {"key": 1.5}:
            return 2
        case _:
            return 0


def runs_in_a_loop(x):
    async def inner():
        return x * 2

    async def outer():
        return await inner()

    return asyncio.run(outer())


def after(change, container):
    """How many items a container has after a change."""
    change(container)
    return len(container)


PROGRAMS = {
    "filter none": lambda x: len(list(filter(None, [x - 1.5]))),
    "filter by None decided": lambda x: next(filter(None, [x - 1.5 + 1, 0, x])) * 2,
    "filter lam": lambda x: len(list(filter(lambda v: v, [x - 1.5]))),
    "filter lam2": lambda x: len(list(filter(lambda v: v - 1.5, [x]))),
    "filter bool": lambda x: len(list(filter(bool, [x - 1.5]))),
    "filterfalse": lambda x: len(list(itertools.filterfalse(None, [x - 1.5]))),
    "filterfalse a": lambda x: len(list(itertools.filterfalse(lambda i: i * (x - 1.5), [1]))),
    "takewhile": lambda x: len(list(itertools.takewhile(lambda v: v - 1.5, [x]))),
    "takewhile2": lambda x: len(list(itertools.takewhile(lambda v: (x - 1.5) * v, [1]))),
    "dropwhile": lambda x: len(list(itertools.dropwhile(lambda v: v - 1.5, [x]))),
    "takewhile bool": lambda x: len(list(itertools.takewhile(bool, [x - 1.5]))),
    "compress": lambda x: len(list(itertools.compress([1], [x - 1.5]))),
    "compress kw": lambda x: len(list(itertools.compress(data=[1], selectors=[x - 1.5]))),
    "compress decided": lambda x: next(itertools.compress([x, 2], [x, 0])),
    "sortkey": lambda x: sorted([1, 2], key=lambda i: (x - 1.5) * i)[0],
    "sortkey2": lambda x: (lambda a: (a.sort(key=lambda i: (x - 1.5) * i), a[0])[1])([1, 2]),
    "sortkeyt": lambda x: sorted([1, 2], key=lambda i: ((x - 1.5) * i,))[0],
    "sortkeytt": lambda x: sorted([(1, x), (2, 1.5)], key=lambda i: i[1])[0][0],
    "sortitem": lambda x: sorted([(1, x), (2, 1.5)], key=operator.itemgetter(1))[0][0],
    "maxkey": lambda x: max([1, 2], key=lambda i: (x - 1.5) * i),
    "maxkey2": lambda x: max(1, 2, key=lambda i: (x - 1.5) * i),
    "minkey": lambda x: min([1, 2], key=lambda i: (x - 1.5) * i),
    "mindict": lambda x: min({1: x, 2: 1.5}.items(), key=lambda i: i[1])[0],
    "mindictget": lambda x: (lambda d: min(d, key=d.get))({1: x, 2: 1.5}),
    "minattr": lambda x: min([Ordered(x, 1), Ordered(1.5, 2)], key=operator.attrgetter("value")).number,
    "mindo": lambda x: min([Ordered(x, 1), Ordered(1.5, 2)]).number,
    "sortdo": lambda x: sorted([Ordered(x, 1), Ordered(1.5, 2)])[0].number,
    "sorted by __lt__": lambda x: sorted([Smaller(x), Smaller(5.0)])[0].value,
    "nlargest": lambda x: heapq.nlargest(1, [1, 2], key=lambda i: (x - 1.5) * i)[0],
    "nlargest2": lambda x: heapq.nlargest(1, [x, 1.5], key=lambda i: i)[0],
    "nsm3": lambda x: heapq.nsmallest(2, [1, 2, 3], lambda i: (x - 1.5) * i)[0],
    "nsm4": lambda x: heapq.nsmallest(1, [(x, 1), (1.5, 2)])[0][1],
    "merge": lambda x: next(heapq.merge([1], [2], key=lambda i: (x - 1.5) * i)),
    "merge2": lambda x: next(heapq.merge([x], [1.5], key=lambda i: i)),
    "merge3": lambda x: next(heapq.merge([(x, 1)], [(1.5, 2)]))[1],
    "heappusht": lambda x: (lambda h: (heapq.heappush(h, (x, 1)), heapq.heappush(h, (1.5, 2)), h[0][1])[2])([]),
    "heapdo": lambda x: (
        lambda h: (heapq.heappush(h, Ordered(x, 1)), heapq.heappush(h, Ordered(1.5, 2)), h[0].number)[2]
    )([]),
    "groupbyk": lambda x: len(list(itertools.groupby([1, 2], key=lambda i: i * x))),
    "bisectk": lambda x: bisect.bisect([1, 2], 1.5, key=lambda i: i * x),
    "bisectl": lambda x: bisect.bisect_left([(1, 1), (1, x)], (1, 1.5)),
    "insortk": lambda x: (lambda a: (bisect.insort(a, 3, key=lambda i: (x - 1.5) * i), a[0])[1])([1, 2]),
    "any": lambda x: int(any(v for v in [x - 1.5])),
    "anyl": lambda x: int(any([x - 1.5])),
    "all": lambda x: int(all([x - 1.5])),
    "anyc": lambda x: int(any((x - 1.5) * i for i in range(1, 2))),
    "allmap": lambda x: int(all(map(lambda v: v - 1.5, [x]))),
    "all decided": lambda x: int(all([x, x * 2])),
    "cmpkey": lambda x: sorted([1, 2], key=functools.cmp_to_key(lambda a, b: (a - b) * (x - 1.5)))[0],
    "cmpkey2": lambda x: max([x, 1.5], key=functools.cmp_to_key(lambda a, b: a - b)),
    "cmpkey3": lambda x: min([(1, x), (2, 1.5)], key=functools.cmp_to_key(lambda a, b: a[1] - b[1]))[0],
    "cmpkey4": lambda x: heapq.nlargest(1, [(1, x), (2, 1.5)], key=functools.cmp_to_key(lambda a, b: a[1] - b[1]))[0][
        0
    ],
    "mode": lambda x: statistics.mode([x, 1.5, 1.5]),
    "index": lambda x: [x].index(1.5) if x == 1.5 else 3,
    "indext": lambda x: [(1, 1.5), (1, x)].index((1, x)),
    "remove": lambda x: (lambda a: (a.remove(1.5), a[0])[1])([x, 1.5, 2]),
    "removet": lambda x: (lambda a: (a.remove((1.5, 1)), len(a[0]))[1])([(x, 1), (1.5, 1), ()]),
    "dequeremove": lambda x: (lambda a: (a.remove(1.5), len(a), a[0])[2])(collections.deque([x, 1.5, 2])),
    "dequeindex": lambda x: collections.deque([x, 1.5]).index(1.5),
    "in": lambda x: int(1.5 in [x]),
    "count": lambda x: [x, x].count(1.5),
    "setop": lambda x: len({1.5} | {x}),
    "setdisc": lambda x: after(lambda s: s.discard(x), {1.5}),
    "setdisct": lambda x: after(lambda s: s.discard((x,)), {(1.5,)}),
    "setrem": lambda x: (lambda s: (s.remove(x), len(s))[1] if x == 1.5 else 5)({1.5}),
    "setupd": lambda x: after(lambda s: s.update([x]), {1.5}),
    "setupd2": lambda x: after(lambda s: s.difference_update([x]), {1.5}),
    "setdisj": lambda x: int({1.5}.isdisjoint([x])),
    "setsub": lambda x: int({1.5}.issubset([x])),
    "setaddt": lambda x: after(lambda s: s.add((x,)), {(1.5,)}),
    "setlit": lambda x: len({(x,), (1.5,)}),
    "setcomp": lambda x: len({(v,) for v in (x, 1.5)}),
    "seto": lambda x: len(set([(x,), (1.5,)])),
    "dictlit": lambda x: len({(x,): 1, (1.5,): 2}),
    "dictcomp": lambda x: len({v: 1 for v in (x, 1.5)}),
    "dictpairs": lambda x: len(dict([(x, 1), (1.5, 2)])),
    "dictupd": lambda x: after(lambda d: d.update([(x, 1)]), {1.5: 1}),
    "dictset": lambda x: after(lambda d: operator.setitem(d, x, 1), {1.5: 1}),
    "dictsett": lambda x: after(lambda d: operator.setitem(d, (x,), 1), {(1.5,): 1}),
    "dictgett": lambda x: {(1.5,): 1}.get((x,), 0),
    "dictsubt": lambda x: {(1.5,): 1}[(x,)] if (x,) in {(1.5,): 1} else 0,
    "dictpop": lambda x: {1.5: 1}.pop(x, 0),
    "dictsd": lambda x: {1.5: 1}.setdefault(x, 0),
    "fromkeys": lambda x: len(dict.fromkeys([x, 1.5])),
    "fromkeyst": lambda x: len(dict.fromkeys([(x,), (1.5,)])),
    "counter": lambda x: len(collections.Counter([x, 1.5])),
    "dictview": lambda x: int(x in {1.5: 1}.keys()),
    "dictvals": lambda x: int(x in {1: 1.5}.values()),
    "delitem": lambda x: (lambda d: (d.__delitem__(x), len(d))[1] if x == 1.5 else 7)({1.5: 1}),
    "frozen": lambda x: len(frozenset([x, 1.5])),
    "rng": lambda x: len(range(int(x * 4))),
    "slice": lambda x: len("abcdefgh"[: int(x * 4)]),
    "quant": lambda x: statistics.quantiles([x, 1.0, 2.0, 3.0])[0],
    "mediant": lambda x: statistics.median_low([x, 1.5, 1.6]),
    "roundx": lambda x: round(x),
    "divm": lambda x: divmod(x, 0.4)[0],
    "fmtw": lambda x: len(f"{x:.1f}"),
    "fmtstar": lambda x: len("%*d" % (int(x * 3), 1)),
    "fmtw2": lambda x: len(f"{1:{int(x * 4)}d}"),
    "ljust": lambda x: len("a".ljust(int(x * 4))),
    "tuplecmp": lambda x: int((1, x) < (1, 1.5)),
    "docmp": lambda x: int(Ordered(x) < Ordered(1.5)),
    "match": lambda x: matches((1, x)),
    "aio": lambda x: runs_in_a_loop(x),
    "nestclosure": lambda x: functools.reduce(lambda a, b: a if (x - 1.5) * a > b else b, [1, 2]),
    "iter sentinel": lambda x: len(list(itertools.islice(iter(lambda: x, 1.5), 3))),
    "zipstrict": lambda x: len(list(zip([x], [1], strict=True))),
    "strmul": lambda x: "a" * int(x * 3),
    "sumkey": lambda x: sum(1 for v in sorted([x, 2.0]) if v),
    "chr": lambda x: chr(int(x * 60)),
    "count of": lambda x: operator.countOf([x], 1.5),
    "index of": lambda x: operator.indexOf([1.5, x], x),
    "eqd": lambda x: int({"a": [x]} == {"a": [1.5]}),
    "user in": lambda x: int(Ordered(x) in [Ordered(1.5)]),
    "user idx": lambda x: [Ordered(0), Ordered(x)].index(Ordered(1.5)) if x == 1.5 else 2,
    "attrhash": lambda x: len({Named(x), Named(1.5)}),
    "ifempty": lambda x: 1 if [x] else 0,
    "is_integer": lambda x: int(float(x).is_integer()),
    "match of an attribute": lambda x: matches(Ordered(x)),
    "match of an item": lambda x: matches({"key": x}),
}
"""Each with one number."""

DECIDED = ("filter by None decided", "compress decided", "all decided", "sorted by __lt__")
"""Programs that any number of the interval decides in the same way."""
