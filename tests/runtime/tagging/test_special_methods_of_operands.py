"""Operators of tagged operands call the special methods that they call without tags, as often and in the same order."""

import array
import copy
import datetime
from collections.abc import KeysView
from decimal import Decimal
from fractions import Fraction

import pytest

from cassette_import import Context, overdub, tag

CALLED = []


class Marking(Context, tagging=True):
    pass


def _method(name, result):
    def method(self, other):
        CALLED.append(f"{type(self).__name__}.{name}")
        return result

    return method


def _with_methods(base, name, answering, refusing):
    methods = {f"__{one}__": _method(one, f"{name}.{one}") for one in answering.split()}
    methods |= {f"__{one}__": _method(one, NotImplemented) for one in refusing.split()}
    return type(name, (base,), {**methods, "__repr__": lambda self: name})


Reflecting = _with_methods(object, "Reflecting", "rmod radd rmul ror rsub eq gt", "le ge")
Text = _with_methods(str, "Text", "rmod radd", "mod")
Number = _with_methods(int, "Number", "", "add radd iadd mul eq lt gt ge sub isub pow ror rand")
Items = _with_methods(list, "Items", "", "add radd mul iadd")
Refusing = _with_methods(Reflecting, "Refusing", "rxor", "add mul mod imod lt eq ne pow matmul or ior xor and rand")
Derived = _with_methods(Refusing, "Derived", "rpow", "radd rmod imatmul rsub")

OPERANDS = [
    Reflecting(), Text("%s"), Number(3), Items([1]), Refusing(), Derived(), 1, 2.5, "%s", b"%s", [1], (1,), {1},
    {"a": 1}, Decimal(3), Fraction(1, 3), datetime.timedelta(1), array.array("i", [1]), None, {"a": 1}.keys(),
]  # fmt: skip


def operations():
    yield lambda a, b: a + b
    yield lambda a, b: a - b
    yield lambda a, b: a * b
    yield lambda a, b: a % b
    yield lambda a, b: a**b
    yield lambda a, b: a @ b
    yield lambda a, b: a | b
    yield lambda a, b: a & b
    yield lambda a, b: a ^ b
    yield lambda a, b: a == b
    yield lambda a, b: a != b
    yield lambda a, b: a < b
    yield lambda a, b: a >= b


def added(a, b):
    a += b
    return a


def subtracted(a, b):
    a -= b
    return a


def formatted(a, b):
    a %= b
    return a


def united(a, b):
    a |= b
    return a


def common(a, b):
    a &= b
    return a


def multiplied(a, b):
    a @= b
    return a


OPERATIONS = [*operations(), added, subtracted, formatted, united, common, multiplied]


def copied(value):
    return value if isinstance(value, KeysView) else copy.copy(value)


def observe(run):
    CALLED.clear()
    try:
        result = repr(run())
    except (TypeError, ValueError) as error:
        result = str(error)
    return result, list(CALLED)


def left(value, other, ctx):
    return tag(value, ctx, "m"), other


def right(value, other, ctx):
    return value, tag(other, ctx, "m")


def both(value, other, ctx):
    return tag(value, ctx, "m"), tag(other, ctx, "m")


@pytest.mark.parametrize("tagged", [left, right, both])
@pytest.mark.parametrize("value", OPERANDS, ids=lambda value: type(value).__name__)
def test_operators_of_tagged_operands_call_the_same_special_methods(value, tagged):
    for other in OPERANDS:
        for operation in OPERATIONS:
            expected = observe(lambda: operation(copied(value), other))  # noqa: B023
            ctx = Marking()
            operands = tagged(copied(value), other, ctx)
            assert observe(lambda: overdub(ctx, operation, *operands)) == expected, (other, operation)  # noqa: B023


class Asked:
    def __getattr__(self, name):
        raise AssertionError(name)

    def __index__(self):
        return 1


def sliced(items, bound):
    return items[bound:]


def test_bounds_of_slices_are_asked_for_no_attributes():
    ctx = Marking()
    assert overdub(ctx, sliced, [1, 2], tag(Asked(), ctx, "m")) == [2]
