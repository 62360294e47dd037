"""Programs that iterate over objects of the old protocol of sequences, which have `__getitem__` and no `__iter__`.

Each is differentiable near 3. Each way to iterate is tried with each kind of object: `PROGRAMS` has all pairs.
"""

import array
import collections
import functools
import heapq
import itertools
import math
import operator
import statistics


class Indexed:
    def __init__(self, x):
        self.items = [x, 2.0, x]

    def __getitem__(self, index):
        return self.items[index]


class Sized(Indexed):
    def __len__(self):
        return len(self.items)


class Computing(Sized):
    def __getitem__(self, index):
        return self.items[index] * (index + 1)


class Mapping(Sized):
    def __getitem__(self, key):
        return self.items[0] if key == "a" else super().__getitem__(key)

    def keys(self):
        return ["a"]


def loop(items):
    total = 0.0
    for item in items:
        total = total + item * item
    return total


def unpacked(items):
    a, b, c = items
    d, *e = items
    return a * b * c * d * e[1]


def extended(items):
    found = []
    found.extend(items)
    found += items
    found[:1] = items
    return found[0] * found[2] * found[-1]


def delegated(items):
    yield from items


WAYS = {
    "sum": sum,
    "list": lambda items: list(items)[2],
    "tuple": lambda items: tuple(items)[-1],
    "max": max,
    "sorted": lambda items: sorted(items)[1],
    "zip": lambda items: sum(a * b for a, b in zip(items, items, strict=True)),
    "enumerate": lambda items: sum(number * item for number, item in enumerate(items)),
    "map": lambda items: sum(map(lambda item: item * item, items)),
    "filter": lambda items: sum(filter(lambda item: item > 1, items)),
    "for": loop,
    "comprehension": lambda items: sum([item * item for item in items]),
    "generator": lambda items: sum(item * item for item in items),
    "unpacking": unpacked,
    "arguments": lambda items: (lambda *given: given[0] * given[2])(*items),
    "display": lambda items: [*items][2],
    "next": lambda items: next(iter(items)),
    "chain": lambda items: sum(itertools.chain(items, items)),
    "islice": lambda items: sum(itertools.islice(items, 2)),
    "cycle": lambda items: next(itertools.cycle(items)),
    "tee": lambda items: next(itertools.tee(items)[1]),
    "zip_longest": lambda items: sum(item for item, _ in itertools.zip_longest(items, [1])),
    "product": lambda items: sum(a * b for a, b in itertools.product(items, [1])),
    "pairwise": lambda items: sum(a * b for a, b in itertools.pairwise(items)),
    "accumulate": lambda items: list(itertools.accumulate(items))[2],
    "starmap": lambda items: sum(itertools.starmap(operator.mul, zip(items, items, strict=True))),
    "prod": math.prod,
    "fsum": math.fsum,
    "fmean": statistics.fmean,
    "median": statistics.median,
    "deque": lambda items: collections.deque(items)[0],
    "set": lambda items: sum(set(items)),
    "extend": extended,
    "reduce": lambda items: functools.reduce(operator.mul, items),
    "nlargest": lambda items: heapq.nlargest(2, items)[1],
    "yield from": lambda items: sum(delegated(items)),
    "dict": lambda items: dict(zip("abc", items, strict=True))["c"],
    "array": lambda items: array.array("d", items)[0],
    "text": lambda items: float(",".join(map(str, items)).split(",")[0]),
}

_OF_SIZED = {
    "reversed": lambda items: list(reversed(items))[0] * next(reversed(items)),  # noqa: RUF015
    "loop over reversed": lambda items: loop(reversed(items)),
}

_MAPPED = {
    "arguments by name": lambda items: (lambda a: a * a)(**items),
    "dict of a mapping": lambda items: dict(items)["a"],
    "dict by names": lambda items: dict(**items)["a"],
    "dict display": lambda items: {**items}["a"],
    "dict update": lambda items: _updated({}, items)["a"],
}


def _updated(found, items):
    found.update(items)
    return found


def _program(kind, way):
    return lambda x: way(kind(x))


PROGRAMS = {
    f"{name} of {kind.__name__}": _program(kind, way)
    for kinds, ways in (
        ((Indexed, Sized, Computing), WAYS),
        ((Sized, Computing), _OF_SIZED),
        ((Mapping,), _MAPPED),
    )
    for kind in kinds
    for name, way in ways.items()
}
