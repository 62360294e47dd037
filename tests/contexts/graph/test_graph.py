"""`graph`: what a function computes is a graph that computes the same again, or an error says why not."""

import collections
import dataclasses
import enum
import functools
import io
import itertools
import json
import math
import random
import re
import time
import xml.etree.ElementTree as ElementTree

import pytest

from cassette_import.contexts.graph import GuardFailed, NotRepresentable, graph, unknown

np = pytest.importorskip("numpy")

Pair = collections.namedtuple("Pair", "first second")
STATE = {"count": 0}
ITERATOR = itertools.count()
NUMBER = 0
ARRAY = np.zeros(3)


@dataclasses.dataclass
class Sample:
    value: float
    factor: float = 2.0


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    @property
    def norm(self):
        return math.hypot(self.x, self.y)


def arithmetic(x, y):
    return x * y - x / y + x**2, -x, abs(y), x // y, x % y, divmod(x, y), round(x, 1), math.floor(x)


def comparisons(x, y):
    return x < y, x == y, not x, (x > y) + 1, bool(x), int(x), float(y), 0 < x <= y


def containers(x, y):
    items = [x, 2.0]
    items.append(y)
    items[1] = x * y
    items.extend((x, y))
    table = {"a": items.pop(0)}
    table.update(b=y)
    return items, table, (x, [y]), [one + 1 for one in items], dict(enumerate(items)), Pair(x, y)


def generators(x, y):
    def numbers():
        for factor in range(3):
            yield x * factor

    return sum(numbers()), list(numbers()), list(map(lambda one: one + y, numbers())), max(x, y), sorted([y, x])


def objects(x, y):
    moved = Vector(x, 1.0) + Vector(y, y)
    sample = Sample(x)
    sample.factor = y
    return moved.norm, sample.value * sample.factor


def closures(x, y):
    def times(one):
        return one * x

    return times(y) + (lambda one, other=y: one - other)(x)


def tables(x, y):
    index = int(x)
    return [10, 20, 30][index], (1.5, 2.5, 3.5)[index] + y, "abc"[index]


def texts(x, y):
    return f"{x:.2f} {y!r}", "%s-%d" % (x, y), "{}".format([x]), ", ".join([str(x), "b"])


PROGRAMS = [arithmetic, comparisons, containers, generators, objects, closures, tables, texts]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_graph_computes_what_the_function_returns_for_other_numbers(program):
    found = graph(program, 1.25, 2.5)
    for arguments in ((1.25, 2.5), (1.75, 6.5)):
        assert found.run(*arguments) == program(*arguments)


def test_text_is_unknown_as_numbers_are():
    def words(text):
        first, *others = text.split()
        return first.upper() + str(len(text)), [word[::-1] for word in others], [c for c in first]

    assert graph(words, "one two").run("six ten") == words("six ten")
    with pytest.raises(GuardFailed, match=r"the length of str\.split was 2"):
        graph(words, "one two").run("one")


def test_arrays_are_inputs_and_have_types_and_shapes():
    def network(inputs, weights):
        hidden = np.tanh(inputs @ weights)
        return hidden.sum(axis=0) * inputs.shape[0], np.where(hidden > 0, hidden, 0.0)

    found = graph(network, np.ones((2, 3)), np.ones((3, 4)))
    inputs, weights = np.arange(6.0).reshape(2, 3), np.linspace(-1, 1, 12).reshape(3, 4)
    for one, other in zip(found.run(inputs, weights), network(inputs, weights), strict=True):
        assert one.tolist() == other.tolist()
    product = next(node for node in found.nodes if node.label == "matmul")
    assert (product.type, product.shape) == (np.ndarray, (2, 4))


def test_a_node_has_its_function_operands_and_call_site():
    def half(x):
        return math.sin(x) / 2

    sine, quotient = graph(half, 1.0).nodes[1:]
    assert (sine.function, sine.site.source, sine.value) == (math.sin, "math.sin(x)", math.sin(1.0))
    assert quotient.sources == [sine]
    assert quotient.site.function.endswith("half")


def test_inputs_are_named_after_parameters_and_parts():
    def program(point, numbers, *others):
        return point.x + numbers[0] + others[0]

    inputs = graph(program, Vector(1.0, 2.0), [3.0], 4.0).inputs
    assert [node.name for node in inputs] == ["point.x", "point.y", "numbers[0]", "x2"]


def test_known_arguments_leave_no_nodes():
    def horner(coefficients, x):
        total = 0.0
        for coefficient in coefficients:
            total = total * x + coefficient
        return total

    found = graph(horner, [1.0, -3.0, 2.0], unknown("t", 5.0))
    assert {node.label for node in found.nodes} == {"t", "mul", "add"}
    assert found.run(7.0) == horner([1.0, -3.0, 2.0], 7.0)


def test_a_decision_is_a_guard_and_another_path_is_an_error():
    def program(x):
        total = 0.0
        while total < x:
            total += 1.5
        return total

    found = graph(program, 2.0)
    assert [guard.expected for guard in found.guards] == [True, True, False]
    assert found.run(2.5) == program(2.5)
    with pytest.raises(GuardFailed, match="the truth of lt was False"):
        found.run(5.0)


@pytest.mark.parametrize(
    ("program", "example", "other"),
    [
        (lambda n: [n * k for k in range(n)], 3, 4),
        (lambda x: {1.0: [x]}[x], 1.0, 2.0),
        (lambda x: x if isinstance(x * 2, int) else 0, 3, 3.0),
        (lambda xs: sum(xs), [1.0, 2.0], [1.0]),
        (lambda xs: len(xs), [], [1.0]),
        (lambda x: x, 1, True),
    ],
)
def test_sizes_keys_types_and_structures_are_guards(program, example, other):
    found = graph(program, example)
    assert found.run(example) == program(example)
    with pytest.raises(GuardFailed):
        found.run(other)


def test_analyses_find_common_dead_and_critical_nodes():
    found = graph(lambda x, y: ((x + y) * (x + y), x - y)[0], 2.0, 3.0)
    assert [[node.label for node in group] for group in found.common_subexpressions()] == [["add", "add"]]
    assert [node.label for node in found.dead_nodes()] == ["sub"]
    assert [node.label for node in found.critical_path()] == ["add", "mul"]
    assert (found.widths(), found.parallelism) == ([3, 1], 2.0)


def test_every_format_is_written(tmp_path):
    found = graph(objects, 3.0, 4.0)
    for suffix in ("dot", "graphml", "json", "svg", "html"):
        found.write(tmp_path / f"graph.{suffix}")
    data = json.loads((tmp_path / "graph.json").read_text())
    assert len(data["nodes"]) == len(found.nodes)
    assert data["outputs"] == [node.number for node in found.outputs]
    assert len(ElementTree.parse(tmp_path / "graph.graphml").findall(".//{*}node")) == len(found.nodes)
    assert ElementTree.parse(tmp_path / "graph.svg").getroot().tag.endswith("svg")
    assert "math.hypot" in (tmp_path / "graph.html").read_text()
    assert re.search(r"n\d+ -> n\d+;", found.dot())
    with pytest.raises(ValueError, match=r"no format for '\.png'"):
        found.write(tmp_path / "graph.png")


def test_networkx_gets_an_edge_for_each_use():
    networkx = pytest.importorskip("networkx")
    made = graph(lambda x: x * x, 3.0).networkx()
    assert networkx.is_directed_acyclic_graph(made)
    assert made.number_of_edges(0, 1) == 2
    assert made.nodes[1]["label"] == "mul"


# ---- what is refused


def assigns_global(x):
    global NUMBER
    NUMBER = NUMBER + 1
    return x * NUMBER


def fills(array):
    array[0] = 2.0


def changes_array(x):
    made = np.zeros(2)
    places = made.flat
    made[0] = x
    return made, places[0]


def catches(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def changes_class(x):
    Vector.last = x
    return x


def keeps(x, table=[]):  # noqa: B006
    table.append(x)
    return x


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: x * random.random(), "random is called"),
        (lambda x: x + time.time(), "time.time is called"),
        (lambda x: print(x), "print is called"),
        (lambda x: (x, io.FileIO(__file__)), "FileIO is called"),
        (lambda x: STATE.update(count=x), "an object that exists outside of the call is changed"),
        (lambda x: fills(ARRAY[1:]), "an object that exists outside of the call is changed"),
        (keeps, "an object that exists outside of the call is changed"),
        (changes_class, "an object that exists outside of the call is changed"),
        (lambda x: x * next(ITERATOR), "an iterator that exists outside of the call is advanced"),
        (assigns_global, "the global name NUMBER is assigned"),
        (changes_array, "an array with unknown numbers is changed in place"),
        (catches, "the program catches ZeroDivisionError"),
        (lambda x: {x: 1}, "compared or hashed"),
        (lambda x: {x}, "compared or hashed"),
        (lambda x: hash(x), "hash of an unknown value"),
    ],
)
def test_what_is_not_exact_is_refused_with_its_place(program, message):
    with pytest.raises(NotRepresentable, match=message) as caught:
        graph(program, 0.0)
    assert STATE == {"count": 0}
    assert NUMBER == 0
    assert "test_graph.py" in str(caught.value)


def powers(x):
    power = x
    while True:
        yield power
        power *= x


class Swizzled:
    """A vector with slots, whose other attributes come from them."""

    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __getattr__(self, name):
        return tuple((self.x, self.y)["xy".index(letter)] for letter in name)


def test_a_class_computes_attributes_from_its_slots():
    def program(x):
        vector = Swizzled(x, 2.0)
        return vector.yx[0] * vector.x

    assert graph(program, 1.0).run(3.0) == 6.0


def test_a_loop_over_a_generator_may_be_left_early():
    def first_large_power(x):
        holder = Changed(x)
        for power in powers(holder.x):
            if power > 100.0:
                return power
            holder.y = power
        return 0.0

    found = graph(first_large_power, 3.0)
    assert (found.run(3.0), found.run(3.1)) == (243.0, first_large_power(3.1))


def fills_a_table(x):
    if "made" not in TABLE:
        TABLE["made"] = Changed(x)
    return TABLE["made"].x + 1


class Changed:
    def __init__(self, x):
        self.x = x
        self.y = None


TABLE = {}


def test_an_object_that_the_call_puts_into_a_table_is_refused_because_of_the_table():
    with pytest.raises(NotRepresentable, match=r"is changed \(dict\), at .* in fills_a_table"):
        graph(fills_a_table, 3.0)
    assert TABLE == {}


def test_a_closure_that_counts_is_refused():
    calls = 0

    def program(x):
        nonlocal calls
        calls += 1
        return x * calls

    with pytest.raises(NotRepresentable, match="a variable outside of the call is assigned"):
        graph(program, 1.0)


def test_writes_into_known_arguments_are_undone():
    def program(sample, x):
        sample.value = x
        sample.factor += 1.0
        return sample.value * sample.factor

    sample = Sample(1.0)
    found = graph(program, sample, unknown("x", 3.0))
    assert sample == Sample(1.0)
    assert found.run(5.0) == program(Sample(1.0), 5.0)


def test_exceptions_of_the_program_reach_the_caller():
    with pytest.raises(ZeroDivisionError):
        graph(lambda x: 1 / x, 0.0)


class Fragile:
    """Attributes that are not there raise another exception than `AttributeError`."""

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        raise IndexError(name)


class Registry:
    def __init__(self):
        self.functions = {}

    def scaled(self, x):
        self.functions["scale"] = lambda: (self, x)
        return self.functions["scale"]()[1] * 2.0


class Remembering:
    def __init__(self, scale):
        self.scale = scale

    def factor(self):
        return self.__dict__.setdefault("_factor", self.scale * 2.0)


def test_no_code_of_the_program_runs_for_the_former_content_of_an_object():
    assert graph(lambda x: Fragile(x * 2.0).x, 3.0).run(4.0) == 8.0


def test_an_object_and_a_function_of_the_call_may_refer_to_each_other():
    assert graph(lambda x: Registry().scaled(x), 3.0).run(4.0) == 8.0


def test_an_object_and_a_method_in_c_of_its_part_may_refer_to_each_other():
    def f(x):
        items = []
        holder = {"write": items.append}
        items.append(holder)
        holder["write"](x)
        return items[1] * 2.0

    assert graph(f, 3.0).run(4.0) == 8.0


def test_the_namespace_of_a_known_argument_is_restored():
    known = Remembering(3.0)
    found = graph(lambda one, x: one.factor() * x, known, unknown("x", 2.0))
    assert found.run(5.0) == 30.0
    assert vars(known) == {"scale": 3.0}


def test_questions_on_objects_with_unknown_parts_are_known():
    def f(x):
        box = Registry()
        box.value = x
        parts = {"box": box}
        return x if hasattr(box, "value") and "box" in parts and callable(f) and (box, x) else 0.0

    assert [node.label for node in graph(f, 3.0).nodes] == ["x"]


def test_a_number_of_numpy_is_not_changed_in_place():
    def total(rows):
        found, least = 0.0, np.float64(1.0)
        for row in rows:
            for number in row:
                found += number
                least -= number * number
        return found, least

    numbers = np.arange(6.0).reshape(2, 3)
    found = graph(total, numbers)
    assert found.run(numbers + 1.0) == total(numbers + 1.0)
    assert [type(one) for one in found.run(numbers)] == [np.float64, np.float64]


def test_a_called_object_that_has_no_hash_is_refused():
    def ordered(x, y):
        return sorted([x, y, 1.5], key=functools.cmp_to_key(lambda one, other: (one > other) - (one < other)))

    with pytest.raises(NotRepresentable, match="type KeyWrapper is called with unknown values"):
        graph(ordered, 1.0, 2.0)


def makes_a_class(x):
    class Scaled:
        factor = x

        def __init__(self, value):
            self.value = value

    class Kind(enum.Enum):
        SMALL = 2.0

    return Scaled(x).value * Scaled.factor * Kind.SMALL.value


def test_classes_may_be_made_in_a_function():
    assert graph(makes_a_class, 3.0).run(5.0) == 50.0
