"""Programs that move or compute with one number, by ways that a context may not be able to follow.

Each is differentiable near 3. The derivative and the enclosure are right, or an error: never silently wrong.
"""

import array
import asyncio
import bisect
import cmath
import collections
import contextlib
import contextvars
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import marshal
import math
import operator
import pickle
import queue
import random
import re
import statistics
import string
import struct
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def expression(name, function):
    PROGRAMS[name] = function


# ---- functions of statistics, math, cmath, fractions, decimal, operator

for _name, _function in {
    "fmean": lambda x: statistics.fmean([x, x]),
    "fmean with weights": lambda x: statistics.fmean([x, 2.0], weights=[1.0, x]),
    "mean": lambda x: statistics.mean([x, x * x]),
    "median": lambda x: statistics.median([x, 1.0, 7.0]),
    "median of two": lambda x: statistics.median([x, x * x]),
    "median_low": lambda x: statistics.median_low([x, 1.0, 7.0, 8.0]),
    "median_high": lambda x: statistics.median_high([x, 1.0, 2.0, 7.0]),
    "stdev": lambda x: statistics.stdev([x, 1.0, 7.0]),
    "pstdev": lambda x: statistics.pstdev([x, 1.0, 7.0]),
    "variance": lambda x: statistics.variance([x, 1.0, 7.0]),
    "pvariance": lambda x: statistics.pvariance([x, 1.0, 7.0]),
    "geometric_mean": lambda x: statistics.geometric_mean([x, 1.0, 7.0]),
    "harmonic_mean": lambda x: statistics.harmonic_mean([x, 1.0, 7.0]),
    "harmonic_mean with weights": lambda x: statistics.harmonic_mean([x, 1.0, 7.0], weights=[x, 1.0, 2.0]),
    "covariance": lambda x: statistics.covariance([x, 1.0, 7.0], [1.0, 5.0, x]),
    "correlation": lambda x: statistics.correlation([x, 1.0, 7.0], [1.0, 5.0, x]),
    "linear_regression": lambda x: statistics.linear_regression([1.0, 2.0, 4.0], [x, x * x, 1.0]).slope,
    "quantiles": lambda x: statistics.quantiles([x, 1.0, 7.0, 9.0])[1],
    "mode": lambda x: statistics.mode([x, x, 1.0]),
    "NormalDist": lambda x: statistics.NormalDist(x, 1.0).mean,
    "NormalDist.pdf": lambda x: statistics.NormalDist(2.0, 1.5).pdf(x),
    "NormalDist.cdf": lambda x: statistics.NormalDist(2.0, 1.5).cdf(x),
    "dist": lambda x: math.dist([x, 1.0], (2.0, x * x)),
    "modf": lambda x: math.modf(x + 0.25)[0],
    "frexp": lambda x: math.frexp(x)[0],
    "sumprod": lambda x: math.sumprod([x, 2.0], [x, x]) if hasattr(math, "sumprod") else x,
    "hypot": lambda x: math.hypot(x, 1.0, x),
    "hypot of one": lambda x: math.hypot(x),
    "fsum": lambda x: math.fsum(iter([x, x])),
    "prod": lambda x: math.prod([x, x], start=x),
    "prod of a generator": lambda x: math.prod(v for v in (x, x)),
    "nextafter": lambda x: math.nextafter(x, 10.0),
    "ulp": lambda x: math.ulp(x),
    "ldexp": lambda x: math.ldexp(x, 3),
    "copysign": lambda x: math.copysign(x, -1.0),
    "copysign of minus zero": lambda x: math.copysign(x, -0.0),
    "fmod": lambda x: math.fmod(x + 0.5, 2.0),
    "remainder": lambda x: math.remainder(x + 0.3, 2.0),
    "log with base": lambda x: math.log(x, 2.0),
    "log of base": lambda x: math.log(7.0, x),
    "pow": lambda x: math.pow(x, x),
    "trunc": lambda x: math.trunc(x + 0.5) * x,
    "floor": lambda x: math.floor(x + 0.5) * x,
    "isqrt": lambda x: math.isqrt(int(x + 0.5)) * x,
    "comb": lambda x: math.comb(int(x + 0.5), 2) * x,
    "gcd": lambda x: math.gcd(int(x + 0.5), 2) * x,
    "factorial": lambda x: math.factorial(int(x + 0.5)) * x,
    "divmod": lambda x: divmod(x + 0.25, 2.0)[1],
    "divmod quotient": lambda x: divmod(x + 0.25, 2.0)[0] * x,
    "floordiv": lambda x: (x + 0.5) // 2.0 * x,
    "round": lambda x: round(x + 0.2) * x,
    "round to digits": lambda x: round(x + 0.0123, 1) * x,
    "sum of strings": lambda x: float("".join([str(x)])),
    "Fraction": lambda x: float(Fraction(x) * 2),
    "Fraction of parts": lambda x: float(Fraction(*x.as_integer_ratio())),
    "Fraction parts": lambda x: Fraction(x).numerator / Fraction(x).denominator,
    "Fraction.from_float": lambda x: float(Fraction.from_float(x)),
    "Fraction limit": lambda x: float(Fraction(x).limit_denominator(1000)),
    "Decimal": lambda x: float(Decimal(x) * 2),
    "Decimal of text": lambda x: float(Decimal(str(x))),
    "Decimal sqrt": lambda x: float(Decimal(x).sqrt()),
    "Decimal exp": lambda x: float(decimal.Context().exp(Decimal(x))),
    "Decimal.from_float": lambda x: float(Decimal.from_float(x)),
    "complex": lambda x: complex(x, 1.0).real,
    "complex imag": lambda x: complex(1.0, x).imag,
    "complex abs": lambda x: abs(complex(x, 1.0)),
    "complex mul": lambda x: (complex(x, 2.0) * complex(1.0, x)).real,
    "complex mul j": lambda x: (x * 1j).imag,
    "complex conjugate": lambda x: (complex(x, 2.0).conjugate() * 1j).real,
    "cmath.exp": lambda x: cmath.exp(x * 1j).real,
    "cmath.sqrt": lambda x: cmath.sqrt(x).real,
    "cmath.phase": lambda x: cmath.phase(complex(x, 1.0)),
    "cmath.polar": lambda x: cmath.polar(complex(x, 1.0))[0],
    "cmath.rect": lambda x: cmath.rect(x, 1.0).imag,
    "real": lambda x: x.real * 2,
    "imag": lambda x: x.imag + x,
    "conjugate": lambda x: x.conjugate(),
    "as_integer_ratio": lambda x: operator.truediv(*x.as_integer_ratio()),
    "hex": lambda x: float.fromhex(x.hex()),
    "is_integer": lambda x: x * (2 if (x + 0.5).is_integer() else 3),
    "float.real.__get__": lambda x: float.real.__get__(x),
    "__round__": lambda x: x.__round__(2) * x if False else x.__add__(1.0),
    "__mul__": lambda x: x.__mul__(2.0),
    "__rmul__": lambda x: x.__rmul__(2.0),
    "float.__mul__": lambda x: float.__mul__(x, x),
    "__abs__": lambda x: x.__abs__(),
    "__pow__": lambda x: x.__pow__(2),
    "__rpow__": lambda x: x.__rpow__(2.0),
    "__rsub__": lambda x: x.__rsub__(1.0),
    "__truediv__": lambda x: x.__truediv__(3.0),
    "__rtruediv__": lambda x: x.__rtruediv__(3.0),
    "__divmod__": lambda x: (x + 0.25).__divmod__(2.0)[1],
    "__neg__": lambda x: x.__neg__(),
    "__pos__": lambda x: x.__pos__(),
    "__float__": lambda x: x.__float__(),
    "__mod__": lambda x: (x + 0.25).__mod__(2.0),
    "__rmod__": lambda x: x.__rmod__(7.0),
    "__getnewargs__": lambda x: x.__getnewargs__()[0],
    "pow of three": lambda x: pow(x, 2, None),
    "operator.call": lambda x: (operator.call if hasattr(operator, "call") else lambda f, *a: f(*a))(math.sin, x),
    "operator.pos": lambda x: operator.pos(x),
    "operator.index": lambda x: [0.0, x, 1.0][operator.index(1)],
    "operator.methodcaller": lambda x: operator.methodcaller("__mul__", x)(x),
    "operator.itemgetter": lambda x: operator.itemgetter(1, 0)([1.0, x])[0],
    "operator.attrgetter": lambda x: operator.attrgetter("value")(types.SimpleNamespace(value=x)),
    "operator.countOf": lambda x: operator.countOf([x, 1.0], x) * x,
    "operator.indexOf": lambda x: operator.indexOf([1.0, x], x) * x,
    "operator.matmul": lambda x: x,
    "int.from_bytes": lambda x: x,
    # ---- through text and bytes
    "json": lambda x: json.loads(json.dumps({"a": [x]}))["a"][0],
    "json file": lambda x: json.load(_dumped(x)),
    "json default": lambda x: json.loads(json.dumps([x, {"b": x}]))[1]["b"],
    "str and float": lambda x: float(str(x)),
    "repr and eval": lambda x: eval(repr(x)),
    "f-string": lambda x: float(f"{x}"),
    "f-string with specification": lambda x: float(f"{x:.17g}"),
    "percent": lambda x: float("%r" % x),
    "format": lambda x: float("{:.17g}".format(x)),
    "format_map": lambda x: float("{a}".format_map({"a": x})),
    "Template": lambda x: float(string.Template("$a").substitute(a=x)),
    "join and split": lambda x: float(",".join(map(str, [x, x])).split(",")[1]),
    "re": lambda x: float(re.search(r"[-\d.]+", f"at {x}")[0]),
    "StringIO": lambda x: float(_written(x).getvalue()),
    "print": lambda x: float(_printed(x).getvalue()),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "pickle of a list": lambda x: pickle.loads(pickle.dumps([x, {"a": x}]))[1]["a"],
    "marshal": lambda x: marshal.loads(marshal.dumps(x)),
    "struct": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "array": lambda x: array.array("d", [x])[0],
    "array sum": lambda x: sum(array.array("d", [x, x])),
    "array append": lambda x: _appended(array.array("d"), x)[0],
    "memoryview": lambda x: memoryview(array.array("d", [x]))[0],
    "eval": lambda x: eval("v * 2", {"v": x}),
    "ast": lambda x: eval(compile(repr(x), "?", "eval")),
    # ---- containers and functions that move
    "partial": lambda x: functools.partial(lambda a, b: a * b, x)(2.0),
    "partial of mul": lambda x: functools.partial(operator.mul, x)(x),
    "partial keyword": lambda x: functools.partial(lambda a, b: a * b, b=x)(2.0),
    "partialmethod": lambda x: _Methods(x).twice(),
    "lru_cache": lambda x: functools.lru_cache(lambda v: v * 2)(x),
    "cached_property": lambda x: _Methods(x).squared,
    "singledispatch": lambda x: functools.singledispatch(lambda v: v * 2)(x),
    "reduce": lambda x: functools.reduce(lambda a, b: a * b, [x, x]),
    "reduce mul": lambda x: functools.reduce(operator.mul, [x, x], x),
    "cmp_to_key": lambda x: sorted([x, 1.0], key=functools.cmp_to_key(lambda a, b: a - b))[1],
    "accumulate": lambda x: list(itertools.accumulate([x, x]))[1],
    "accumulate mul": lambda x: list(itertools.accumulate([x, x], operator.mul))[1],
    "accumulate initial": lambda x: list(itertools.accumulate([1.0], initial=x))[1],
    "chain": lambda x: sum(itertools.chain([x], [x])),
    "product": lambda x: math.prod(next(itertools.product([x], [x]))),
    "permutations": lambda x: sum(next(itertools.permutations([x, 1.0]))),
    "combinations": lambda x: sum(next(itertools.combinations([x, 1.0, x], 2))),
    "repeat": lambda x: sum(itertools.repeat(x, 2)),
    "cycle": lambda x: sum(itertools.islice(itertools.cycle([x]), 3)),
    "tee": lambda x: sum(itertools.tee([x, x])[1]),
    "zip_longest": lambda x: sum(map(sum, itertools.zip_longest([x], [x, 1.0], fillvalue=x))),
    "groupby": lambda x: sum(sum(group) for _, group in itertools.groupby([x, 1.0])),
    "starmap": lambda x: sum(itertools.starmap(operator.mul, [(x, x)])),
    "starmap pow": lambda x: sum(itertools.starmap(pow, [(x, 2)])),
    "count": lambda x: next(itertools.count(x)),
    "count step": lambda x: list(itertools.islice(itertools.count(1.0, x), 2))[1],
    "takewhile": lambda x: sum(itertools.takewhile(lambda v: v > 0, [x, -1.0])),
    "compress": lambda x: sum(itertools.compress([x, 1.0], [1, 0])),
    "pairwise": lambda x: sum(map(sum, itertools.pairwise([x, 1.0, x]))),
    "islice": lambda x: sum(itertools.islice([x, x, 1.0], 2)),
    "map": lambda x: sum(map(math.sin, [x, x])),
    "map of mul": lambda x: sum(map(operator.mul, [x, x], [x, 1.0])),
    "filter": lambda x: sum(filter(None, [x, 0.0])),
    "zip": lambda x: sum(a * b for a, b in zip([x], [x], strict=True)),
    "zip dict": lambda x: dict(zip("a", [x], strict=True))["a"],
    "reversed": lambda x: list(reversed([x, 1.0]))[1],
    "enumerate": lambda x: sum(v for _, v in enumerate([x])),
    "max": lambda x: max([x, 1.0]),
    "max default": lambda x: max([], default=x),
    "max key": lambda x: max([x, 1.0], key=lambda v: v),
    "min": lambda x: min(x, 10.0),
    "sum start": lambda x: sum([1.0], x),
    "sum nested": lambda x: sum([[x], [x]], [])[1],  # noqa: RUF017
    "sorted": lambda x: sorted([x, 1.0])[1],
    "heapq": lambda x: _heap(x),
    "nlargest": lambda x: heapq.nlargest(1, [x, 1.0])[0],
    "heapq.merge": lambda x: list(heapq.merge([x], [1.0]))[1],
    "insort": lambda x: _insorted(x),
    "deque": lambda x: collections.deque([x, 1.0])[0],
    "OrderedDict": lambda x: collections.OrderedDict(a=x)["a"],
    "Counter": lambda x: collections.Counter({"a": x})["a"],
    "ChainMap": lambda x: collections.ChainMap({"a": x})["a"],
    "defaultdict": lambda x: collections.defaultdict(lambda: x)["a"],
    "namedtuple": lambda x: _Pair(x, 1.0)._replace(second=x).second,
    "namedtuple asdict": lambda x: _Pair(x, 1.0)._asdict()["first"],
    "UserList": lambda x: collections.UserList([x])[0],
    "UserDict": lambda x: collections.UserDict(a=x)["a"],
    "fromkeys": lambda x: dict.fromkeys("a", x)["a"],
    "dict union": lambda x: ({"a": x} | {"b": 1.0})["a"],
    "dict update": lambda x: _updated({}, x)["a"],
    "dict key": lambda x: next(iter({x: 1})),
    "set": lambda x: next(iter({x})),
    "frozenset": lambda x: sum(frozenset([x])),
    "asdict": lambda x: dataclasses.asdict(_Data(x))["value"],
    "astuple": lambda x: dataclasses.astuple(_Data(x))[0],
    "replace": lambda x: dataclasses.replace(_Data(1.0), value=x).value,
    "post_init": lambda x: _Data(x).double,
    "vars": lambda x: vars(_Data(x))["value"],
    "__dict__": lambda x: _Data(x).__dict__["value"],
    "__dict__ update": lambda x: _through_dict(x),
    "setattr": lambda x: _set(x),
    "getattr default": lambda x: getattr(object(), "missing", x),
    "SimpleNamespace": lambda x: types.SimpleNamespace(a=x).a,
    "MappingProxyType": lambda x: types.MappingProxyType({"a": x})["a"],
    "copy": lambda x: copy.copy([x])[0],
    "deepcopy": lambda x: copy.deepcopy({"a": [x]})["a"][0],
    "weakref": lambda x: _weak(x),
    "Queue": lambda x: _queued(queue.Queue(), x),
    "SimpleQueue": lambda x: _queued(queue.SimpleQueue(), x),
    "PriorityQueue": lambda x: _queued(queue.PriorityQueue(), x),
    "thread": lambda x: _in_thread(x),
    "executor": lambda x: _in_executor(x),
    "executor map": lambda x: _mapped_in_executor(x),
    "contextvar": lambda x: _in_contextvar(x),
    "contextmanager": lambda x: _with(x),
    "ExitStack": lambda x: _with_stack(x),
    "nullcontext": lambda x: _with_null(x),
    "exception argument": lambda x: _raised(x),
    "exception attribute": lambda x: _raised_attribute(x),
    "StopIteration": lambda x: _stopped(x),
    "yield from": lambda x: sum(_delegating(x)),
    "send": lambda x: _sent(x),
    "throw": lambda x: _thrown(x),
    "default argument": lambda x: (lambda v=x: v * 2)(),
    "keyword default": lambda x: _with_default(x),
    "class attribute": lambda x: _class_attribute(x),
    "class body computes": lambda x: _class_body(x),
    "match": lambda x: _match(x),
    "match sequence": lambda x: _match_sequence(x),
    "match mapping": lambda x: _match_mapping(x),
    "match class": lambda x: _match_class(x),
    "walrus": lambda x: (y := x) * y,
    "star": lambda x: (lambda *a: a[0])(*[x]),
    "await": lambda x: asyncio.run(_awaited(x)),
    "gather": lambda x: asyncio.run(_gathered(x)),
    "async queue": lambda x: asyncio.run(_async_queued(x)),
    "future": lambda x: asyncio.run(_future(x)),
    "enum": lambda x: _Enumerated.A.value * x,
    "subclass of float": lambda x: _Float(x) * 2,
    "subclass of float moved": lambda x: float(_Float(x)),
    "subclass of list": lambda x: _List([x])[0],
    "subclass of dict": lambda x: _Dict(a=x)["a"],
    "own __new__": lambda x: _New(x).value,
    "own metaclass": lambda x: _Made(x).value,
    "own __add__": lambda x: (_Methods(x) + _Methods(x)).value,
    "own __radd__": lambda x: (1.0 + _Methods(x)).value,
    "own __iadd__": lambda x: _iadd(x),
    "own __call__": lambda x: _Methods(x)(),
    "own __getitem__": lambda x: _Methods(x)[0],
    "own __iter__": lambda x: sum(_Methods(x)),
    "own __float__": lambda x: float(_Methods(x)),
    "own __lt__": lambda x: max(_Methods(x), _Methods(1.0)).value,
    "own __getattr__": lambda x: _Methods(x).anything,
    "own __abs__": lambda x: abs(_Methods(x)),
    "own __eq__": lambda x: x * (2 if _Methods(x) == _Methods(x) else 3),
    "sum of own": lambda x: sum([_Methods(x), _Methods(x)], _Methods(0.0)).value,
    "property": lambda x: _Methods(x).property,
    "staticmethod": lambda x: _Methods.static(x),
    "random.shuffle": lambda x: _shuffled(x),
    "random.choice": lambda x: random.choice([x, x]),
    "random.uniform": lambda x: random.Random(1).uniform(x, 5.0),
    "random.gauss": lambda x: random.Random(1).gauss(x, 1.0),
    "bisect": lambda x: bisect.bisect([1.0, 2.0, 5.0], x) * x,
    "globals": lambda x: _global(x),
    "locals": lambda x: _locals(x),
    "exec": lambda x: _executed(x),
    "slice": lambda x: [1.0, x, 2.0][slice(1, 2)][0],
    "swapped exception": lambda x: _swallowed(x),
    "Protocol": lambda x: abs(x) * 2,
    "closure in a thread": lambda x: _closure_in_thread(x),
    "iter of a callable": lambda x: next(iter(lambda: x, None)),
    "next default": lambda x: next(iter(()), x),
    "divmod of ints": lambda x: divmod(7, 2)[0] * x,
    "constant": lambda x: 7.0 + len([x]),
    "constant by type": lambda x: float(isinstance(x, float)),
    "constant text": lambda x: float(len(str(type(x)))),
    "str is printed": lambda x: (str(x), x)[1],
    "comparison": lambda x: x if x > 1.0 else -x,
    "isclose": lambda x: x * (2 if math.isclose(x, x) else 3),
    "isnan": lambda x: x * (2 if math.isnan(x) else 3),
    "int": lambda x: int(x + 0.5) * x,
    "bool": lambda x: bool(x) * x,
    "not": lambda x: (not x) + x,
    "hash": lambda x: (hash(x) & 0) + x,
    "id": lambda x: (id(x) & 0) + x,
    "range": lambda x: sum(x for _ in range(int(x + 0.5))),
    "list repeated": lambda x: sum([x] * 3),
    "enum auto": lambda x: x * enum.auto().value if isinstance(enum.auto().value, int) else x,
}.items():
    expression(_name, _function)


# ---- what they use


def _dumped(x):
    file = io.StringIO()
    json.dump(x, file)
    file.seek(0)
    return file


def _written(x):
    file = io.StringIO()
    file.write(str(x))
    return file


def _printed(x):
    file = io.StringIO()
    print(x, file=file)
    return file


def _appended(items, x):
    items.append(x)
    return items


def _heap(x):
    items = [5.0]
    heapq.heappush(items, x)
    return heapq.heappop(items)


def _insorted(x):
    items = [1.0, 5.0]
    bisect.insort(items, x)
    return items[1]


def _updated(items, x):
    items.update(a=x)
    return items


def _through_dict(x):
    made = types.SimpleNamespace()
    made.__dict__.update(a=x)
    return made.a


def _set(x):
    made = types.SimpleNamespace()
    name = "a"
    setattr(made, name, x)
    return made.a


class _Weak:
    pass


def _weak(x):
    made = _Weak()
    made.value = x
    return weakref.ref(made)().value


def _queued(items, x):
    items.put(x)
    return items.get()


def _in_thread(x):
    found = []
    thread = threading.Thread(target=lambda v: found.append(v * 2), args=(x,))
    thread.start()
    thread.join()
    return found[0]


def _closure_in_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x * 2))
    thread.start()
    thread.join()
    return found[0]


def _in_executor(x):
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(math.sin, x).result()


def _mapped_in_executor(x):
    with ThreadPoolExecutor(1) as executor:
        return sum(executor.map(lambda v: v * 2, [x]))


_VARIABLE = contextvars.ContextVar("_VARIABLE")


def _in_contextvar(x):
    _VARIABLE.set(x)
    return _VARIABLE.get()


@contextlib.contextmanager
def _manager(x):
    yield x * 2


def _with(x):
    with _manager(x) as y:
        return y


def _with_stack(x):
    with contextlib.ExitStack() as stack:
        y = stack.enter_context(_manager(x))
        return y


def _with_null(x):
    with contextlib.nullcontext(x) as y:
        return y * 2


def _raised(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return error.args[0]


class _Error(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


def _raised_attribute(x):
    try:
        raise _Error(x)
    except _Error as error:
        return error.value


def _swallowed(x):
    try:
        return statistics.NormalDist(0.0, 1.0).inv_cdf(x / 10)
    except Exception:
        return -1.0


def _stopping(x):
    yield 1.0
    return x


def _stopped(x):
    generator = _stopping(x)
    next(generator)
    try:
        next(generator)
    except StopIteration as error:
        return error.value


def _delegating(x):
    y = yield from _stopping(x)
    yield y


def _receiving():
    total = 0.0
    while True:
        total += yield total


def _sent(x):
    generator = _receiving()
    next(generator)
    return generator.send(x)


def _catching():
    try:
        yield
    except ValueError as error:
        yield error.args[0]


def _thrown(x):
    generator = _catching()
    next(generator)
    return generator.throw(ValueError(x))


def _with_default(x):
    def inner(a, *, b=x):
        return a * b

    return inner(2.0)


def _class_attribute(x):
    class Made:
        a = x

    return Made.a


def _class_body(x):
    class Made:
        a = x
        b = a * 2

    return Made().b


def _match(x):
    match x:
        case 100.0:
            return 1.0
        case y:
            return y * 2


def _match_sequence(x):
    match [x, 1.0]:
        case [a, _]:
            return a


def _match_mapping(x):
    match {"a": x}:
        case {"a": a}:
            return a


def _match_class(x):
    match _Data(x):
        case _Data(value=a):
            return a


async def _identity(x):
    return x * 2


async def _awaited(x):
    return await _identity(x)


async def _gathered(x):
    return sum(await asyncio.gather(_identity(x), _identity(x)))


async def _async_queued(x):
    items = asyncio.Queue()
    await items.put(x)
    return await items.get()


async def _future(x):
    future = asyncio.get_running_loop().create_future()
    future.set_result(x)
    return await future


class _Enumerated(enum.Enum):
    A = 2.0


class _Float(float):
    pass


class _List(list):
    pass


class _Dict(dict):
    pass


class _New:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.value = value
        return made

    def __init__(self, value):
        pass


class _Meta(type):
    def __call__(cls, *arguments):
        return super().__call__(*arguments)


class _Made(metaclass=_Meta):
    def __init__(self, value):
        self.value = value


_Pair = collections.namedtuple("_Pair", "first second")


@dataclasses.dataclass
class _Data:
    value: float

    def __post_init__(self):
        self.double = self.value * 2


class _Methods:
    def __init__(self, value):
        self.value = value

    def times(self, factor):
        return self.value * factor

    twice = functools.partialmethod(times, 2.0)

    def square(self):
        return self.value**2

    squared = functools.cached_property(square)
    squared.__set_name__(None, "squared")

    @property
    def property(self):
        return self.value * 2

    @staticmethod
    def static(x):
        return x * 2

    def __add__(self, other):
        return _Methods(self.value + other.value)

    def __radd__(self, other):
        return _Methods(other + self.value)

    def __iadd__(self, other):
        self.value += other
        return self

    def __call__(self):
        return self.value * 2

    def __getitem__(self, index):
        if index:
            raise IndexError
        return self.value

    def __iter__(self):
        yield self.value

    def __float__(self):
        return self.value * 2

    def __abs__(self):
        return abs(self.value) * 2

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return self.value > other.value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None

    def __getattr__(self, name):
        if name == "anything":
            return self.value * 2
        raise AttributeError(name)


def _iadd(x):
    made = _Methods(1.0)
    made += x
    return made.value


def _shuffled(x):
    items = [x, x]
    random.shuffle(items)
    return items[0]


_GLOBAL = 0.0


def _global(x):
    globals()["_GLOBAL"] = x
    return _GLOBAL


def _locals(x):
    return locals()["x"]


def _executed(x):
    namespace = {"x": x}
    exec("y = x * 2", namespace)
    return namespace["y"]


@program
def default_dict_counter(x):
    counts = collections.defaultdict(float)
    counts["a"] += x
    return counts["a"]


@program
def loop_with_arrays(x):
    values = array.array("d", [0.0] * 3)
    values[1] = x
    return values[1]


@program
def fractions_sum(x):
    return float(sum([Fraction(x), fractions.Fraction(1, 2)]))
