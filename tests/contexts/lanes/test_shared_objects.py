"""Each lane has its own value in whatever Python code of the standard library holds, or the call is refused."""

import collections
import contextlib
import functools
import operator
import queue
import warnings
from collections.abc import MutableMapping, MutableSequence, MutableSet

import pytest

np = pytest.importorskip("numpy")

from cassette_import.contexts.lanes import vectorize  # noqa: E402  # it needs NumPy
from cassette_import.contexts.lanes.errors import EffectError  # noqa: E402
from cassette_import.errors import CassetteWarning  # noqa: E402


class Store(MutableMapping):
    def __init__(self):
        self.data = {}

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


class Items(MutableSequence):
    def __init__(self):
        self.data = []

    def __getitem__(self, place):
        return self.data[place]

    def __setitem__(self, place, value):
        self.data[place] = value

    def __delitem__(self, place):
        del self.data[place]

    def __len__(self):
        return len(self.data)

    def insert(self, place, value):
        self.data.insert(place, value)


class Bag(MutableSet):
    def __init__(self):
        self.data = []

    def __contains__(self, item):
        return any(item == one for one in self.data)

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def add(self, item):
        self.data.append(item)

    def discard(self, item):
        self.data.remove(item)


class Slotted:
    __slots__ = ("value",)


def changed(made, change):
    change(made)
    return made


def exit_stack(x):
    out = []
    with contextlib.ExitStack() as stack:
        stack.callback(out.append, x)
    return out[0]


def slot(x):
    made = Slotted()
    Slotted.value.__set__(made, x)
    return made.value


# fmt: off
HOLDING = {
    "exit_stack": exit_stack,
    "slot": slot,
    "counter_update": lambda x: changed(collections.Counter(a=1), lambda c: c.update({"b": x}))["b"],
    "counter_add": lambda x: changed(collections.Counter(a=1), lambda c: c.update(a=x))["a"],
    "counter_subtract": lambda x: changed(collections.Counter(), lambda c: c.subtract({"a": -x}))["a"],
    "counter_difference": lambda x: (collections.Counter(a=x) - collections.Counter(a=2.0))["a"],
    "user_list_append": lambda x: changed(collections.UserList([1.0]), lambda u: u.append(x))[1],
    "user_list_extend": lambda x: changed(collections.UserList([1.0]), lambda u: u.extend([x, 2 * x]))[2],
    "user_list_insert": lambda x: changed(collections.UserList([1.0]), lambda u: u.insert(0, x))[0],
    "user_dict": lambda x: changed(collections.UserDict(), lambda u: u.setdefault("a", x))["a"],
    "user_dict_update": lambda x: changed(collections.UserDict(), lambda u: u.update(a=x)).get("a"),
    "chain_map": lambda x: changed(collections.ChainMap({}), lambda u: u.update(a=x))["a"],
    "chain_map_child": lambda x: collections.ChainMap({"a": x}).new_child({"b": 1.0})["a"],
    "mapping_update": lambda x: changed(Store(), lambda m: m.update(a=x))["a"],
    "mapping_setdefault": lambda x: changed(Store(), lambda m: m.setdefault("a", x))["a"],
    "mapping_pop": lambda x: changed(Store(), lambda m: m.update(a=x)).pop("a"),
    "mapping_items": lambda x: dict(changed(Store(), lambda m: m.update(a=x)).items())["a"],
    "unbound_update": lambda x: changed(Store(), lambda m: MutableMapping.update(m, a=x))["a"],
    "sequence_append": lambda x: changed(Items(), lambda m: m.append(x))[0],
    "sequence_extend": lambda x: changed(Items(), lambda m: m.extend([1.0, x]))[1],
    "set_or": lambda x: changed(Bag(), lambda m: m.__ior__([x])).data[0],
    "partial": lambda x: changed([], lambda out: functools.partial(out.append, x)())[0],
    "method_caller": lambda x: changed([], operator.methodcaller("append", x))[0],
    "method_caller_of_store": lambda x: changed(Store(), operator.methodcaller("update", a=x))["a"],
    "reduce": lambda x: changed([], lambda out: functools.reduce(lambda _, one: out.append(one), [x, 2 * x], None))[1],
    "map": lambda x: changed([], lambda out: list(map(out.append, [x])))[0],
    "sort_key": lambda x: changed([], lambda out: sorted([2.0, 1.0], key=lambda one: out.append(x) or one))[0],
    "setattr": lambda x: changed(Store(), lambda m: setattr(m, "extra", x)).extra,
    "cached_property": lambda x: changed(Store(), lambda m: m.__dict__.update(extra=x)).extra,
    "deque": lambda x: changed(collections.deque([1.0], 2), lambda d: d.extend([x, 3.0]))[0],
    "ordered": lambda x: changed(collections.OrderedDict(a=1.0), lambda d: d.update(a=x))["a"],
    "default": lambda x: changed(collections.defaultdict(list), lambda d: d["a"].append(x))["a"][0],
    "queue": lambda x: changed(queue.SimpleQueue(), lambda q: q.put(x)).get(),
}
# fmt: on


@pytest.mark.parametrize("lanes", [1, 3, 64, 300])
@pytest.mark.parametrize("f", HOLDING.values(), ids=HOLDING)
def test_each_lane_has_its_own_value(f, lanes):
    values = np.linspace(1.0, 4.0, lanes)
    try:
        made = vectorize(f)(values)
    except EffectError:
        return
    assert made.tolist() == [f(value) for value in values.tolist()]


def test_most_of_them_are_not_refused():
    values, refused = np.linspace(1.0, 4.0, 64), []
    for name, f in HOLDING.items():
        try:
            vectorize(f)(values)
        except EffectError:
            refused.append(name)
    assert set(refused) <= {"exit_stack", "queue", "counter_difference", "map", "reduce", "sort_key", "cached_property"}


# ---- lists and dicts that stand for those of several lanes


def accepted_steps(x):
    state = {"t": 0.0, "y": [x, 1.0]}
    for _ in range(6):
        step = [value * 0.5 for value in state["y"]]
        if step[0] < 1.0:
            state = {"t": state["t"] + 1.0, "y": step}
    return state["t"], state["y"]


def changed_in_place(x):
    items = [x, 0.0]
    for number in range(5):
        if x > number:
            items = [items[0] + 1, items[1] + x]
        items[0] += 1.0
    return items


def with_an_alias(x):
    first, second = [x, 0.0], [1.0, 2.0]
    alias = first
    if x > 2:
        first = second
    first[0] += 10.0
    return alias[0], second[0], first[0]


def with_a_changed_source(x):
    first, second = [x, 0.0], [1.0, 2.0]
    if x > 2:
        first = second
    second[1] = 7.0
    return first[1]


def with_identity(x):
    first, second = [x], [2.0]
    if x > 2:
        first = second
    return first is second


def with_a_history(x):
    items, history = [x], []
    for number in range(3):
        if x > number:
            items = [items[0] * 2]
        history.append(items)
        items[0] += 1
    return [one[0] for one in history]


def swapped(x):
    one, other = [x], [2 * x]
    if x > 2:
        one, other = other, one
    one[0] += 5
    return one[0], other[0]


def nested(x):
    items = [[x, 1.0], [2.0, x]]
    if x > 2:
        items = [[1.0, x], [x, x]]
    items[0][1] += x
    return items


def of_lane(made, number):
    if isinstance(made, (list, tuple)):
        return type(made)(of_lane(part, number) for part in made)
    return made[number].item() if isinstance(made, np.ndarray) else made


@pytest.mark.parametrize(
    "f",
    [
        accepted_steps,
        changed_in_place,
        with_an_alias,
        with_a_changed_source,
        with_identity,
        with_a_history,
        swapped,
        nested,
    ],
    ids=lambda f: f.__name__,
)
def test_a_list_of_some_lanes_and_one_of_others_are_as_in_a_loop(f):
    values = np.linspace(0.3, 4.7, 101)
    made = vectorize(f)(values)
    assert [of_lane(made, number) for number in range(101)] == [f(value) for value in values.tolist()]


def test_lists_of_one_shape_take_one_run():
    reports = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectorize(accepted_steps, max_paths=1, progress=lambda *found: reports.append(found))(
            np.linspace(0.3, 4.7, 200)
        )
    assert reports == [(200, 200)]


def test_lanes_that_are_run_one_by_one_are_named_with_the_place_once():
    def lengths(x):
        items = []
        for number in range(200):
            if x > number:
                items = [*items, x]
        return len(items)

    made = vectorize(lengths)
    with pytest.warns(CassetteWarning, match=r"split at .*test_shared_objects.py:\d+: each has another list"):
        made(np.arange(200.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(np.arange(200.0))
