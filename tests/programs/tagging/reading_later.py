"""An unmodified program whose functions make a view or an iterator first, and store a value in what it reads then.

Each function returns the value of `source()`, or a number whose derivative with respect to it is one.
"""

# ruff: noqa: B007, RUF015, B905

import collections
import copy
import functools
import itertools
import math
import operator
import types


def add(a, b=0.0):
    return a + b


def by_values(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return sum(v)


def by_values_for(source):
    d = {}
    v = d.values()
    d["a"] = source()
    t = 0.0
    for a in v:
        t += a
    return t


def by_values_list(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return list(v)[0]


def by_values_tuple(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return tuple(v)[0]


def by_values_comp(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return sum([a for a in v])


def by_values_star(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return add(*v)


def by_values_unpack(source):
    d = {}
    v = d.values()
    d["a"] = source()
    (a,) = v
    return a


def by_values_max(source):
    d = {}
    v = d.values()
    d["a"] = source()
    return max(v)


def by_values_iter(source):
    d = {"a": 0.0}
    v = iter(d.values())
    d["a"] = source()
    return next(v)


def by_values_rev(source):
    d = {"b": 0.0, "a": 0.0}
    v = reversed(d.values())
    d["a"] = source()
    return next(v)


def by_items(source):
    d = {}
    v = d.items()
    d["a"] = source()
    return sum(b for a, b in v)


def by_items_for(source):
    d = {}
    v = d.items()
    d["a"] = source()
    for k, b in v:
        pass
    return b


def by_items_list(source):
    d = {}
    v = d.items()
    d["a"] = source()
    return list(v)[0][1]


def by_items_dict(source):
    d = {}
    v = d.items()
    d["a"] = source()
    return dict(v)["a"]


def by_items_iter(source):
    d = {"a": 0.0}
    v = iter(d.items())
    d["a"] = source()
    return next(v)[1]


def by_items_rev(source):
    d = {"b": 0.0, "a": 0.0}
    v = reversed(d.items())
    d["a"] = source()
    return next(v)[1]


def by_keys(source):
    d = {}
    v = d.keys()
    d["a"] = source()
    return sum(d[k] for k in v)


def by_keys_iter(source):
    d = {"a": 0.0}
    v = iter(d)
    d["a"] = source()
    return sum(d[k] for k in v)


def by_od_values(source):
    d = collections.OrderedDict()
    v = d.values()
    d["a"] = source()
    return sum(v)


def by_od_iter(source):
    d = collections.OrderedDict(b=1.0, a=2.0)
    v = iter(d.values())
    next(v)
    d["a"] = source()
    return sum(v)


def by_od_items(source):
    d = collections.OrderedDict(b=1.0, a=2.0)
    v = iter(d.items())
    next(v)
    d["a"] = source()
    return sum(b for a, b in v)


def by_dd_values(source):
    d = collections.defaultdict(float)
    v = d.values()
    d["a"] += source()
    return sum(v)


def by_mapping_proxy(source):
    d = {}
    v = types.MappingProxyType(d).values()
    d["a"] = source()
    return sum(v)


def by_list_iter(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return sum(it)


def by_list_iter_next(source):
    items = [0.0, 1.0]
    it = iter(items)
    next(it)
    items[1] = source()
    return next(it)


def by_list_iter_append(source):
    items = [0.0]
    it = iter(items)
    next(it)
    items.append(source())
    return next(it)


def by_list_for_append(source):
    items = [0.0]
    t = 0.0
    for a in items:
        if len(items) < 3:
            items.append(source())
        t += a
    return t / 2


def by_list_for_set(source):
    items = [0.0, 0.0, 0.0]
    t = 0.0
    for i, a in enumerate(items):
        if i == 0:
            items[2] = source()
        t += a
    return t


def by_list_rev(source):
    items = [0.0, 1.0]
    it = reversed(items)
    items[0] = source()
    next(it)
    return next(it)


def by_tuple_of_list(source):
    items = [0.0]
    t = (items,)
    it = iter(t)
    items[0] = source()
    return sum(next(it))


def by_deque_iter(source):
    items = collections.deque([0.0])
    it = iter(items)
    items[0] = source()
    return sum(it)


def by_deque_rev(source):
    items = collections.deque([0.0, 1.0])
    it = reversed(items)
    items[0] = source()
    next(it)
    return sum(it)


def by_set_iter(source):
    s = set()
    items = [s]
    s.add(source())
    return next(iter(items[0]))


def by_map(source):
    items = [0.0]
    it = map(lambda v: v * 1.0, items)
    items[0] = source()
    return sum(it)


def by_map_c(source):
    items = [0.0]
    it = map(float, items)
    items[0] = source()
    return sum(it)


def by_map_two(source):
    items = [0.0]
    it = map(operator.mul, items, [2.0])
    items[0] = source()
    return sum(it) / 2


def by_map_iter(source):
    items = [0.0]
    it = map(lambda v: v * 1.0, iter(items))
    items[0] = source()
    return sum(it)


def by_map_values(source):
    d = {"a": 0.0}
    it = map(lambda v: v * 1.0, d.values())
    d["a"] = source()
    return sum(it)


def by_zip(source):
    items = [0.0]
    it = zip(items, [1.0])
    items[0] = source()
    return sum(a * b for a, b in it)


def by_zip_second(source):
    items = [0.0]
    it = zip([1.0], items)
    items[0] = source()
    return sum(a * b for a, b in it)


def by_zip_next(source):
    items = [0.0]
    it = zip([1.0], items)
    items[0] = source()
    return next(it)[1]


def by_zip_for(source):
    items = [0.0]
    it = zip([1.0], items)
    items[0] = source()
    for a, b in it:
        pass
    return b


def by_zip_dict(source):
    items = [0.0]
    it = zip(["k"], items)
    items[0] = source()
    return dict(it)["k"]


def by_enumerate(source):
    items = [0.0]
    it = enumerate(items)
    items[0] = source()
    return sum(b for a, b in it)


def by_enumerate_rev(source):
    items = [0.0, 0.0]
    it = enumerate(reversed(items))
    items[0] = source()
    return sum(b for a, b in it)


def by_filter(source):
    items = [0.0]
    it = filter(lambda v: v > 0, items)
    items[0] = source()
    return sum(it)


def by_filter_none(source):
    items = [0.0]
    it = filter(None, items)
    items[0] = source()
    return sum(it)


def by_tee(source):
    items = [0.0]
    it, _ = itertools.tee(items)
    items[0] = source()
    return sum(it)


def by_tee2(source):
    items = [0.0]
    a, b = itertools.tee(items)
    items[0] = source()
    return (sum(a) + sum(b)) / 2


def by_starmap(source):
    items = [(0.0, 1.0)]
    it = itertools.starmap(operator.mul, items)
    items[0] = (source(), 1.0)
    return sum(it)


def by_starmap2(source):
    items = [[0.0, 1.0]]
    it = itertools.starmap(operator.mul, items)
    items[0][0] = source()
    return sum(it)


def by_pairwise(source):
    items = [0.0, 0.0]
    it = itertools.pairwise(items)
    items[1] = source()
    return sum(b for a, b in it)


def by_batched(source):
    if not hasattr(itertools, "batched"):
        return source()
    items = [0.0, 0.0]
    it = itertools.batched(items, 2)
    items[1] = source()
    return sum(b for a, b in it)


def by_chain(source):
    items = [0.0]
    it = itertools.chain(items, [1.0])
    items[0] = source()
    return sum(it)


def by_chain_from(source):
    items = [0.0]
    it = itertools.chain.from_iterable([items, [1.0]])
    items[0] = source()
    return sum(it)


def by_chain_from2(source):
    items = []
    it = itertools.chain.from_iterable(items)
    items.append([source()])
    return sum(it)


def by_islice(source):
    items = [0.0]
    it = itertools.islice(items, 1)
    items[0] = source()
    return sum(it)


def by_takewhile(source):
    items = [0.0]
    it = itertools.takewhile(lambda v: v < 100, items)
    items[0] = source()
    return sum(it)


def by_dropwhile(source):
    items = [0.0]
    it = itertools.dropwhile(lambda v: v > 100, items)
    items[0] = source()
    return sum(it)


def by_filterfalse(source):
    items = [0.0]
    it = itertools.filterfalse(lambda v: v > 100, items)
    items[0] = source()
    return sum(it)


def by_compress(source):
    items = [0.0]
    it = itertools.compress(items, [1])
    items[0] = source()
    return sum(it)


def by_accumulate(source):
    items = [0.0, 0.0]
    it = itertools.accumulate(items)
    items[0] = source()
    return list(it)[-1]


def by_zip_longest(source):
    items = [0.0]
    it = itertools.zip_longest(items, [1.0, 2.0], fillvalue=0.0)
    items[0] = source()
    return sum(a for a, b in it)


def by_cycle(source):
    items = [0.0]
    it = itertools.cycle(items)
    items[0] = source()
    next(it)
    return next(it)


def by_groupby(source):
    items = [0.0]
    it = itertools.groupby(items, lambda v: 1)
    items[0] = source()
    return sum(sum(g) for k, g in it)


def by_genexpr(source):
    items = [0.0]
    it = (v for v in items)
    items[0] = source()
    return sum(it)


def by_iter_in_attr(source):
    class A:
        pass

    o = A()
    items = [0.0]
    o.it = iter(items)
    items[0] = source()
    return next(o.it)


def by_iter_default(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return next(it, None)


def by_iter_loop_two(source):
    items = [0.0, 0.0, 0.0]
    it = iter(items)
    t = 0.0
    items[2] = source()
    for a in it:
        for b in it:
            t += b
    return t


def by_iter_list(source):
    items = [0.0, 0.0, 0.0]
    it = iter(items)
    next(it)
    items[2] = source()
    return list(it)[1]


def by_iter_copy(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return sum(copy.copy(it))


def by_iter_dunder(source):
    items = [0.0]
    it = items.__iter__()
    items[0] = source()
    return it.__next__()


def by_iter_fsum(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return math.fsum(it)


def by_iter_yield_from(source):
    items = [0.0]
    it = iter(items)

    def g():
        yield from it

    h = g()
    items[0] = source()
    return sum(h)


def by_extend(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    m = []
    m.extend(it)
    return m[0]


def by_sorted(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return sorted(it)[0]


def by_reduce(source):
    items = [0.0, 1.0]
    it = iter(items)
    items[0] = source()
    return functools.reduce(operator.mul, it)


def by_merge_shrink(source):
    items = [0.0, 1.0]
    it = iter(items)
    next(it)
    items.insert(0, 5.0)
    items[1] = source()
    return next(it)


def by_nested(source):
    items = [0.0]
    it = enumerate(zip(map(float, items), iter([1.0])))
    items[0] = source()
    return sum(a for i, (a, b) in it)


def by_dict_sub(source):
    class D(dict):
        pass

    d = D()
    v = d.values()
    d["a"] = source()
    return sum(v)


def by_list_sub(source):
    class L(list):
        pass

    d = L([0.0])
    v = iter(d)
    d[0] = source()
    return sum(v)


def by_vars_values(source):
    class A:
        pass

    o = A()
    v = vars(o).values()
    o.a = source()
    return sum(v)


def by_dunder_dict_values(source):
    class A:
        pass

    o = A()
    v = o.__dict__.values()
    o.a = source()
    return sum(v)


def by_dunder_dict_items(source):
    class A:
        pass

    o = A()
    v = o.__dict__.items()
    o.a = source()
    return [b for a, b in v][0]


def by_counter_values(source):
    d = collections.Counter()
    v = d.values()
    d["a"] = source()
    return sum(v)


def by_values_update(source):
    d = {}
    v = d.values()
    d.update(a=source())
    return sum(v)


def by_values_setdefault(source):
    d = {}
    v = d.values()
    d.setdefault("a", source())
    return sum(v)


def by_values_two(source):
    d = {"a": source()}
    v = d.values()
    d["b"] = source()
    return sum(v) / 2


def by_values_replace(source):
    d = {"a": source()}
    v = d.values()
    s = sum(v)
    d["a"] = 1.0
    return s + sum(v)


def by_values_iter_stale(source):
    d = {"a": 1.0, "b": 2.0}
    v = iter(d.values())
    next(v)
    d["b"] = source()
    return next(v)


def by_values_shared(source):
    one = 1.0
    d = {"a": one, "b": one, "c": one}
    v = iter(d.values())
    d["b"] = source()
    return sum(v)


def by_iter_max_default(source):
    items = [0.0]
    it = iter(items)
    items[0] = source()
    return max(it, default=1.0)


def by_reversed_tuple(source):
    t = (source(), 0.0)
    it = reversed(t)
    next(it)
    return next(it)


def by_map_filter_chain(source):
    items = [0.0]
    it = filter(None, map(lambda v: v, itertools.chain(items)))
    items[0] = source()
    return sum(it)


def by_dict_reversed(source):
    d = {"a": 0.0}
    it = reversed(d)
    d["a"] = source()
    return d[next(it)]


def by_islice_step(source):
    items = [0.0] * 5
    it = itertools.islice(items, 0, None, 2)
    items[4] = source()
    items[1] = source()
    return sum(it)


def by_memory(source):
    items = [0.0]
    it = iter(items)
    items[:] = [source()]
    return next(it)


def by_callable_iter(source):
    items = [0.0]
    it = iter(items.pop, None)
    items[0] = source()
    return next(it)


def by_getitem_iter(source):
    class S:
        def __init__(self):
            self.items = [0.0]

        def __getitem__(self, i):
            return self.items[i]

    s = S()
    it = iter(s)
    s.items[0] = source()
    return sum(it)


READERS = [function for name, function in list(globals().items()) if name.startswith("by_")]
