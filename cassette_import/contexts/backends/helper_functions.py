"""The functions that the expressions of operations call, as the text of modules."""

from typing import Final

__all__ = ["ARRAY_HELPERS", "HELPERS"]

HELPERS: Final = '''
import math


def _not(truth):
    return not truth


def _both(one, other):
    return one and other


def _modulo(x, y):
    return x % y


def _floor_division(x, y):
    return x // y


def _float(truth):
    return 1.0 if truth else 0.0


def _integer(truth):
    return 1 if truth else 0


def _least(one, other):
    return other if other < one else one


def _greatest(one, other):
    return other if other > one else one


def _inexact(number):
    """Whether a float may be another number."""
    return number > 9007199254740992 or number < -9007199254740992


def _huge(number):
    return number > 4611686018427387903 or number < -4611686018427387903


def _no_integer(number):
    """Whether a float has no integer of 64 bits."""
    return not (-4611686018427387904.0 < number < 4611686018427387904.0)


def _fitting(number):
    """The float, or zero if it has no integer of 64 bits."""
    return number if -4611686018427387904.0 < number < 4611686018427387904.0 else 0.0


def _nearest(number):
    """The nearest integer, of two the even one."""
    whole = float(math.floor(number))
    rest = number - whole
    up = rest > 0.5 or (rest == 0.5 and whole % 2.0 != 0.0)
    return whole + 1.0 if up else whole


def _product_huge(one, other):
    return not (-4611686018427387904.0 < float(one) * float(other) < 4611686018427387904.0)


def _not_finite(number):
    return not (-math.inf < number < math.inf)


def _outside(index, length):
    """Whether a table has no item with an index."""
    return index < -length or index >= length


def _within(index, length):
    """The place of the item with an index, which counts from the end if it is negative; zero if there is none."""
    if index < -length or index >= length:
        return 0
    return index + length if index < 0 else index


def _sum(numbers):
    """The sum of floats as `sum` computes it: with what the additions have lost."""
    total = 0.0
    lost = 0.0
    for number in numbers:
        after = total + number
        lost += (total - after) + number if math.fabs(total) >= math.fabs(number) else (number - after) + total
        total = after
    return total + lost if lost != 0.0 and -math.inf < lost < math.inf else total


def _fmod(x, y):
    if y == 0.0:
        return math.nan
    return math.copysign(math.fabs(x) % math.fabs(y), x)


def _remainder(x, y):
    if y == 0.0 or not (-math.inf < x < math.inf and -math.inf < y < math.inf):
        return math.nan
    whole, divisor = math.fabs(x), math.fabs(y)
    rest = whole % divisor
    other = divisor - rest
    if rest < other:
        result = rest
    elif rest > other:
        result = -other
    else:
        result = rest - 2.0 * ((0.5 * (whole - rest)) % divisor)
    return math.copysign(1.0, x) * result
'''
"""The functions that expressions call, as the text of a module for numba."""

ARRAY_HELPERS: Final = '''
import numpy


def _any_outside(index, length):
    """Whether an axis has no item with some index."""
    return bool(numpy.any((index < -length) | (index >= length)))


def _any_zero(numbers):
    return bool(numpy.any(numbers == 0))


def _any_below_zero(numbers):
    return bool(numpy.any(numbers < 0))


def _any_not_finite(numbers):
    return not numpy.all(numpy.isfinite(numbers))


def _any_without_integer(numbers):
    """Whether some float has no integer of 64 bits."""
    return not numpy.all(numpy.abs(numbers) < 4611686018427387904.0)


def _with_item(array, key, value):
    """A copy of an array with other items."""
    made = numpy.array(array)
    made[key] = value
    return made


def _where_item(array, mask, value):
    """A copy of an array with one number where a mask is true."""
    return numpy.where(mask, numpy.asarray(value, array.dtype), array)
'''
"""The functions that tests call, as the text of a module."""
