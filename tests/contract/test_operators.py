"""`Events.OPERATORS`: all syntax that has a function in `operator`."""

import operator

import pytest

from cassette_import import Context, Events, overdub


class Operators(Context, events=Events.OPERATORS):
    """Records the operators, without calls."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def prehook(self, f, *args):
        self.seen.append((f, args))


class Matrix:
    """Implements `@`."""

    def __matmul__(self, other):
        return "matmul"

    def __eq__(self, other):
        return isinstance(other, Matrix)

    __hash__ = None


class Mutable:
    """Changes in place: the augmented assignments return the left operand itself."""

    def __init__(self):
        self.done = []

    def _note(self, other):
        self.done.append(other)
        return self

    __iadd__ = __isub__ = __imul__ = __imatmul__ = __itruediv__ = __ifloordiv__ = _note
    __imod__ = __ipow__ = __ilshift__ = __irshift__ = __iand__ = __ior__ = __ixor__ = _note


def run(program, *args):
    """Return the value of `program(*args)` and the operators that it used."""
    ctx = Operators()
    return overdub(ctx, program, *args), ctx.seen


BINARY = {
    "+": (operator.add, lambda a, b: a + b, 7, 3),
    "-": (operator.sub, lambda a, b: a - b, 7, 3),
    "*": (operator.mul, lambda a, b: a * b, 7, 3),
    "/": (operator.truediv, lambda a, b: a / b, 7, 2),
    "//": (operator.floordiv, lambda a, b: a // b, 7, 3),
    "%": (operator.mod, lambda a, b: a % b, 7, 3),
    "% on strings": (operator.mod, lambda a, b: a % b, "%s!", "a"),
    "**": (operator.pow, lambda a, b: a**b, 7, 3),
    "@": (operator.matmul, lambda a, b: a @ b, Matrix(), Matrix()),
    "<<": (operator.lshift, lambda a, b: a << b, 7, 3),
    ">>": (operator.rshift, lambda a, b: a >> b, 7, 1),
    "&": (operator.and_, lambda a, b: a & b, 7, 3),
    "|": (operator.or_, lambda a, b: a | b, 4, 3),
    "^": (operator.xor, lambda a, b: a ^ b, 7, 3),
    "==": (operator.eq, lambda a, b: a == b, 7, 3),
    "!=": (operator.ne, lambda a, b: a != b, 7, 3),
    "<": (operator.lt, lambda a, b: a < b, 7, 3),
    "<=": (operator.le, lambda a, b: a <= b, 7, 3),
    ">": (operator.gt, lambda a, b: a > b, 7, 3),
    ">=": (operator.ge, lambda a, b: a >= b, 7, 3),
    "is": (operator.is_, lambda a, b: a is b, None, None),
    "is not": (operator.is_not, lambda a, b: a is not b, None, None),
    "subscript": (operator.getitem, lambda a, b: a[b], [5, 6], 1),
}

UNARY = {
    "-": (operator.neg, lambda a: -a, 7),
    "+": (operator.pos, lambda a: +a, True),
    "~": (operator.invert, lambda a: ~a, 7),
    "not": (operator.not_, lambda a: not a, 7),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_operator_is_an_event_with_both_operands(name):
    f, program, a, b = BINARY[name]
    assert run(program, a, b) == (program(a, b), [(f, (a, b))])


@pytest.mark.parametrize("name", UNARY)
def test_unary_operator_is_an_event_with_its_operand(name):
    f, program, a = UNARY[name]
    assert run(program, a) == (program(a), [(f, (a,))])


@pytest.mark.parametrize("name", BINARY)
def test_overload_replaces_the_value_of_a_binary_operator(name):
    f, program, a, b = BINARY[name]

    class Own(Context):
        pass

    Own.overdub.register(f)(lambda ctx, f, x, y: "replaced")
    assert overdub(Own(), program, a, b) == "replaced"


@pytest.mark.parametrize("name", UNARY)
def test_overload_replaces_the_value_of_a_unary_operator(name):
    f, program, a = UNARY[name]

    class Own(Context):
        pass

    Own.overdub.register(f)(lambda ctx, f, x: "replaced")
    assert overdub(Own(), program, a) == "replaced"


# Membership


def test_in_is_contains_with_the_container_first():
    assert run(lambda a, b: a in b, 1, [1, 2]) == (True, [(operator.contains, ([1, 2], 1))])


def test_not_in_is_contains_and_its_value_is_the_negation():
    # There is no function for `not in`; an event for the negation may follow the one for `contains`.
    value, events = run(lambda a, b: a not in b, 1, [1, 2])
    assert value is False
    assert events[0] == (operator.contains, ([1, 2], 1))


def test_operands_of_in_are_evaluated_from_left_to_right():
    order = []

    def note(x):
        order.append(x)
        return x

    assert overdub(Operators(), lambda: note("a") in note("abc")) is True
    assert order == ["a", "abc"]


def test_overload_of_contains_reaches_in_and_not_in():
    class Own(Context):
        pass

    Own.overdub.register(operator.contains)(lambda ctx, f, container, x: True)
    assert overdub(Own(), lambda x, xs: [x in xs, x not in xs], 1, [2]) == [True, False]


# Subscripts


def test_subscript_with_a_slice_gives_the_slice():
    assert run(lambda xs: xs[1:3], [1, 2, 3, 4]) == (
        [2, 3],
        [(operator.getitem, ([1, 2, 3, 4], slice(1, 3)))],
    )


def test_subscript_with_an_open_slice_gives_the_slice():
    assert run(lambda xs: xs[:], [1]) == ([1], [(operator.getitem, ([1], slice(None)))])


def test_subscript_with_a_step_gives_the_slice():
    assert run(lambda xs: xs[::2], [1, 2, 3]) == (
        [1, 3],
        [(operator.getitem, ([1, 2, 3], slice(None, None, 2)))],
    )


def test_subscript_with_several_indices_gives_a_tuple():
    table = {(1, 2): "x"}
    assert run(lambda d: d[1, 2], table) == ("x", [(operator.getitem, (table, (1, 2)))])


def test_subscript_of_a_class_is_an_event():
    assert run(lambda: list[int]) == (list[int], [(operator.getitem, (list, int))])


def test_store_to_a_subscript_is_setitem():
    def store(xs):
        xs[0] = 5

    xs = [1]
    assert run(store, xs) == (None, [(operator.setitem, (xs, 0, 5))])
    assert xs == [5]


def test_store_to_a_slice_is_setitem():
    def store(xs):
        xs[1:] = [7, 8]

    xs = [1, 2]
    assert run(store, xs) == (None, [(operator.setitem, (xs, slice(1, None), [7, 8]))])
    assert xs == [1, 7, 8]


def test_deletion_of_a_subscript_is_delitem():
    def delete(xs):
        del xs[0]

    xs = [1, 2]
    assert run(delete, xs) == (None, [(operator.delitem, (xs, 0))])
    assert xs == [2]


def test_store_by_unpacking_is_setitem():
    def store(xs):
        xs[0], xs[1] = 8, 9

    xs = [1, 2]
    _, events = run(store, xs)
    assert events == [(operator.setitem, (xs, 0, 8)), (operator.setitem, (xs, 1, 9))]
    assert xs == [8, 9]


def test_store_by_a_loop_is_setitem():
    def store(xs):
        for xs[0] in (1, 2):
            pass

    xs = [0]
    _, events = run(store, xs)
    assert events == [(operator.setitem, (xs, 0, 1)), (operator.setitem, (xs, 0, 2))]


def test_value_of_a_store_is_evaluated_before_container_and_index():
    order = []

    def note(x):
        order.append(x)
        return x

    def store(xs):
        note(xs)[note(0)] = note("value")

    overdub(Operators(), store, ["old"])
    assert order == ["value", ["value"], 0]


def test_chained_assignment_stores_from_left_to_right():
    def store(a, b):
        a[0] = b[0] = 5

    a, b = [1], [2, 3]
    _, events = run(store, a, b)
    assert events == [(operator.setitem, (a, 0, 5)), (operator.setitem, (b, 0, 5))]


def test_overload_of_setitem_replaces_the_store():
    class Own(Context):
        pass

    stored = []
    Own.overdub.register(operator.setitem)(lambda ctx, f, xs, i, x: stored.append((i, x)))

    def store(xs):
        xs[0] = 5
        return xs

    assert overdub(Own(), store, [1]) == [1]
    assert stored == [(0, 5)]


def test_nested_subscripts_are_events_from_the_inside_out():
    table = [[1, 2], [3]]
    assert run(lambda t: t[0][1], table) == (
        2,
        [(operator.getitem, (table, 0)), (operator.getitem, ([1, 2], 1))],
    )


# Comparisons


def test_chained_comparison_is_an_event_for_each_comparison():
    assert run(lambda a, b, c: a < b <= c, 1, 2, 2) == (True, [(operator.lt, (1, 2)), (operator.le, (2, 2))])


def test_chained_comparison_stops_at_the_first_that_is_false():
    assert run(lambda a, b, c: a < b < c, 2, 1, 3) == (False, [(operator.lt, (2, 1))])


def test_chained_comparison_evaluates_each_operand_once():
    order = []

    def note(x):
        order.append(x)
        return x

    assert overdub(Operators(), lambda: note(1) < note(2) < note(3)) is True
    assert order == [1, 2, 3]


def test_chained_comparison_does_not_evaluate_what_comes_after_the_first_that_is_false():
    order = []

    def note(x):
        order.append(x)
        return x

    assert overdub(Operators(), lambda: note(2) < note(1) < note(3)) is False
    assert order == [2, 1]


def test_chained_comparison_of_different_operators():
    value, events = run(lambda x, xs: x == 1 in xs, 1, [1])
    assert value is True
    assert events == [(operator.eq, (1, 1)), (operator.contains, ([1], 1))]


def test_chained_comparison_evaluates_to_the_first_false_value_itself():
    class Empty:
        def __lt__(self, other):
            return []

    assert overdub(Operators(), lambda: Empty() < 1 < 2) == []


def test_chained_comparison_tests_each_value_but_the_last_once():
    asked = []

    class Truth:
        def __bool__(self):
            asked.append(True)
            return True

    class Ordered:
        def __lt__(self, other):
            return Truth()

    ordered = Ordered()
    value = overdub(Operators(), lambda: ordered < ordered < ordered)
    assert isinstance(value, Truth)
    assert asked == [True]


def test_single_comparison_does_not_test_its_value():
    class NoTruth:
        def __bool__(self):
            raise AssertionError("asked")

    class Ordered:
        def __lt__(self, other):
            return NoTruth()

    assert isinstance(overdub(Operators(), lambda: Ordered() < 1), NoTruth)


def test_overload_of_a_comparison_decides_the_chain():
    class Own(Context):
        pass

    Own.overdub.register(operator.lt)(lambda ctx, f, x, y: True)
    assert overdub(Own(), lambda a, b, c: a < b < c, 3, 2, 1) is True


def test_comparison_in_a_condition_is_an_event():
    def program(x):
        if x > 1:
            return "large"
        while x < 1:
            x = 1
        return "small"

    assert run(program, 0) == ("small", [(operator.gt, (0, 1)), (operator.lt, (0, 1)), (operator.lt, (1, 1))])


# Truth and short circuits: not operators


def test_and_and_or_evaluate_only_what_they_need():
    order = []

    def note(x):
        order.append(x)
        return x

    def program():
        return (note(0) and note(1)) or note(2) or note(3)

    assert overdub(Operators(), program) == 2
    assert order == [0, 2]


def test_not_in_a_condition_is_an_event():
    def program(x):
        if not x:
            return "empty"

    assert run(program, []) == ("empty", [(operator.not_, ([],))])


# Augmented assignment


AUGMENTED = {
    "+=": ("x += y", operator.iadd),
    "-=": ("x -= y", operator.isub),
    "*=": ("x *= y", operator.imul),
    "@=": ("x @= y", operator.imatmul),
    "/=": ("x /= y", operator.itruediv),
    "//=": ("x //= y", operator.ifloordiv),
    "%=": ("x %= y", operator.imod),
    "**=": ("x **= y", operator.ipow),
    "<<=": ("x <<= y", operator.ilshift),
    ">>=": ("x >>= y", operator.irshift),
    "&=": ("x &= y", operator.iand),
    "|=": ("x |= y", operator.ior),
    "^=": ("x ^= y", operator.ixor),
}


@pytest.mark.parametrize("name", AUGMENTED)
def test_augmented_assignment_is_the_operation_in_place(name, make_program):
    statement, f = AUGMENTED[name]
    program = make_program(f"def augment(x, y):\n    {statement}\n    return x\n")
    x = Mutable()
    value, events = run(program.augment, x, 3)
    assert value is x
    assert x.done == [3]
    assert events == [(f, (x, 3))]


@pytest.mark.parametrize("name", AUGMENTED)
def test_overload_replaces_what_an_augmented_assignment_assigns(name, make_program):
    statement, f = AUGMENTED[name]
    program = make_program(f"def augment(x, y):\n    {statement}\n    return x\n")

    class Own(Context):
        pass

    Own.overdub.register(f)(lambda ctx, f, x, y: "replaced")
    assert overdub(Own(), program.augment, Mutable(), 3) == "replaced"


def test_augmented_assignment_of_an_immutable_value_rebinds():
    def program(x):
        x += 1
        return x

    assert run(program, 1) == (2, [(operator.iadd, (1, 1))])


def test_augmented_assignment_to_a_subscript_loads_adds_and_stores():
    def program(xs):
        xs[0] += 5

    xs = [1]
    _, events = run(program, xs)
    assert xs == [6]
    assert events == [
        (operator.getitem, (xs, 0)),
        (operator.iadd, (1, 5)),
        (operator.setitem, (xs, 0, 6)),
    ]


def test_augmented_assignment_to_a_subscript_evaluates_container_and_index_once():
    order = []

    def note(x):
        order.append(x)
        return x

    def program(xs):
        note(xs)[note(0)] += note(5)

    xs = [1]
    overdub(Operators(), program, xs)
    assert xs == [6]
    assert order == [[6], 0, 5]


def test_augmented_assignment_to_a_subscript_by_slice():
    def program(xs):
        xs[1:] += [9]

    xs = [1, 2]
    overdub(Operators(), program, xs)
    assert xs == [1, 2, 9]


def test_augmented_assignment_to_an_attribute_is_the_operation_in_place():
    class Holder:
        x = 1

    def program(holder):
        holder.x += 2

    holder = Holder()
    _, events = run(program, holder)
    assert holder.x == 3
    assert Holder.x == 1
    assert events == [(operator.iadd, (1, 2))]


def test_augmented_assignment_to_an_attribute_evaluates_its_object_once():
    class Holder:
        x = 1

    order = []

    def note(x):
        order.append(x)
        return x

    def program(holder):
        note(holder).x += 2

    holder = Holder()
    overdub(Operators(), program, holder)
    assert order == [holder]


def test_augmented_assignment_to_an_element_of_a_tuple_changes_it_and_raises():
    # The famous one: the list is extended, then the store fails.
    def program(t):
        t[0] += [1]

    t = ([],)
    with pytest.raises(TypeError, match="'tuple' object does not support item assignment"):
        overdub(Operators(), program, t)
    assert t == ([1],)


def test_augmented_assignment_to_a_nonlocal_name():
    total = 1

    def program():
        nonlocal total
        total += 2

    assert run(program) == (None, [(operator.iadd, (1, 2))])
    assert total == 3


def test_augmented_assignment_to_a_global_name(make_program):
    program = make_program("total = 1\n\ndef add():\n    global total\n    total += 2\n")
    assert run(program.add) == (None, [(operator.iadd, (1, 2))])
    assert program.total == 3


# Order, precedence, errors


def test_operands_are_evaluated_from_left_to_right():
    order = []

    def note(x):
        order.append(x)
        return x

    assert overdub(Operators(), lambda: note(1) + note(2) * note(3) - note(4)) == 3
    assert order == [1, 2, 3, 4]


def test_precedence_is_that_of_the_source():
    assert run(lambda a, b, c: -a + b * c, 1, 2, 3) == (
        5,
        [(operator.neg, (1,)), (operator.mul, (2, 3)), (operator.add, (-1, 6))],
    )


def test_reflected_methods_are_tried():
    class Right:
        def __radd__(self, other):
            return ("radd", other)

    assert overdub(Operators(), lambda x: 1 + x, Right()) == ("radd", 1)


def test_not_implemented_raises_the_error_of_the_plain_operator():
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+: 'int' and 'str'$"):
        overdub(Operators(), lambda a, b: a + b, 1, "a")


def test_augmented_assignment_raises_the_error_of_the_plain_operator():
    def program(a, b):
        a += b

    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+=: 'int' and 'str'$"):
        overdub(Operators(), program, 1, "a")


def test_power_raises_the_error_of_the_plain_operator():
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \*\* or pow\(\): 'int' and 'str'$"):
        overdub(Operators(), lambda a, b: a**b, 1, "a")


def test_subscript_raises_the_error_of_the_plain_subscript():
    with pytest.raises(TypeError, match=r"^'int' object is not subscriptable$"):
        overdub(Operators(), lambda a: a[0], 1)


def test_deletion_raises_the_error_of_the_plain_deletion():
    def program(a):
        del a[0]

    with pytest.raises(TypeError, match=r"^'tuple' object doesn't support item deletion$"):
        overdub(Operators(), program, (1,))


def test_posthook_of_an_operator_gets_its_value():
    class Own(Context):
        def posthook(self, result, f, *args):
            self.metadata.append((result, f, args))

    ctx = Own([])
    overdub(ctx, lambda a: a + 1, 1)
    assert ctx.metadata == [(2, operator.add, (1, 1))]


# Where operators stand


PLACES = {
    "default value": "def f(x):\n    def g(y=x + 1):\n        return y\n    return g()",
    "lambda": "def f(x):\n    return (lambda y: y + 1)(x)",
    "list comprehension": "def f(x):\n    return [y + 1 for y in (x,)]",
    "condition of a comprehension": "def f(x):\n    return [y for y in (x,) if y + 1]",
    "generator expression": "def f(x):\n    return list(y + 1 for y in (x,))",
    "dict comprehension": "def f(x):\n    return {y: y + 1 for y in (x,)}",
    "class body": "def f(x):\n    class C:\n        y = x + 1\n    return C.y",
    "f-string": "def f(x):\n    return f'{x + 1}'",
    "generator": "def f(x):\n    def g():\n        yield x + 1\n    return list(g())",
    "argument": "def f(x):\n    return str(x + 1)",
    "keyword": "def f(x):\n    return dict(a=x + 1)",
    "assertion": "def f(x):\n    assert x + 1",
    "decorator": "def f(x):\n    @[lambda h: h][x + 1 - 2]\n    def g(): pass",
    "case guard": "def f(x):\n    match x:\n        case 1 if x + 1: return 1",
    "subject": "def f(x):\n    match x + 1:\n        case 2: return 1",
    "walrus": "def f(x):\n    return (y := x + 1)",
    "star argument": "def f(x):\n    return print(*[x + 1][:0], end='')",
    "with": "import contextlib\ndef f(x):\n    with contextlib.nullcontext(x + 1) as y: return y",
    "return in finally": "def f(x):\n    try:\n        pass\n    finally:\n        y = x + 1\n    return y",
    "locals user": "def f(x):\n    y = x + 1\n    return sorted(locals())",
    "conditional expression": "def f(x):\n    return x + 1 if x else 0",
    "index": "def f(x):\n    return [0, 1, 2][x + 1]",
}


@pytest.mark.parametrize("place", PLACES)
def test_operator_is_an_event_wherever_it_stands(place, make_program):
    program = make_program(PLACES[place] + "\n")
    value, events = run(program.f, 1)
    assert value == program.f(1)
    assert events.count((operator.add, (1, 1))) == 1


def test_operators_of_patterns_are_no_events():
    # `-1` and `1 + 2j` in a pattern are literals.
    def program(x):
        match x:
            case -1:
                return "minus one"
            case 1 + 2j:
                return "complex"

    assert run(program, 1 + 2j) == ("complex", [])


def test_operators_of_annotations_stay_as_they_are(make_program):
    program = make_program("def f():\n    x: int | str = 1\n    return x\n")
    assert run(program.f) == (1, [])
