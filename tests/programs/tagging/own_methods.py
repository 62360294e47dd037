"""An unmodified program with containers that have methods of their own: each function makes one of a value."""

import collections
import copy


class Vector(list):
    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other, strict=True))

    def __radd__(self, other):
        return [other]

    def __mul__(self, number):
        return sum(a * b for a, b in zip(self, number, strict=True)) if isinstance(number, list) else [number]

    __rmul__ = __mul__

    def __iadd__(self, other):
        self[:] = [7]
        return self

    def __imul__(self, other):
        return [8, 9]


class Indexed(list):
    def __getitem__(self, index):
        return -5

    def __setitem__(self, index, value):
        list.append(self, value) if index == 0 else list.__setitem__(self, index, value)

    def __delitem__(self, index):
        self.clear()

    def __iter__(self):
        return iter([*list.__iter__(self), 1])

    def __reversed__(self):
        return iter([1, 2, 3])

    def __copy__(self):
        return Indexed([2, 1])


class Row(tuple):
    __slots__ = ()

    def __add__(self, other):
        return Row((other,))

    def __mul__(self, other):
        return (other,)


class Few(collections.deque):
    def __add__(self, other):
        return Few([4])

    def __imul__(self, other):
        return self


class Elements(set):
    def __and__(self, other):
        return Elements([1, 2, 3])

    def __or__(self, other):
        return [other]

    def __ior__(self, other):
        return Elements()

    __rsub__ = __sub__ = __and__


class Table(dict):
    def __or__(self, other):
        return {"own": 1}

    def __ior__(self, other):
        self.clear()
        return self

    __ror__ = __or__


class Adding:
    def __radd__(self, other):
        return [5, 6, 7]

    def __rmul__(self, other):
        return (5,)


class Number(int):
    def __rmul__(self, other):
        return [0]

    def __index__(self):
        return 2


def by_own_add(x):
    return Vector([x, 1]) + Vector([2, 3])


def by_own_add_of_a_list(x):
    return Vector([x, 1]) + [2, 3]


def by_reflected_add(x):
    return [x] + Vector([2, 3])


def by_own_mul(x):
    return Vector([x]) * 2


def by_own_product(x):
    return Vector([x, 2]) * [3, 4]


def by_reflected_mul(x):
    return 2 * Vector([x])


def by_own_iadd(x):
    made = Vector([x, x])
    made += [3]
    return list(made)


def by_own_imul(x):
    made = Vector([x, x])
    made *= 2
    return made


def by_own_getitem(x):
    return Indexed([x])[0]


def by_own_slice(x):
    return Indexed([x])[:1]


def by_own_setitem(x):
    made = Indexed([3])
    made[0] = x
    return list.__getitem__(made, 1)


def by_own_delitem(x):
    made = Indexed([x, x])
    del made[0]
    return len(made)


def by_own_iterator(x):
    return list(Indexed([x]))


def by_own_reversed(x):
    return list(reversed(Indexed([x, 2])))


def by_own_copy(x):
    return copy.copy(Indexed([x, 2]))


def by_own_add_of_tuple(x):
    return Row((x, 2)) + 3


def by_own_mul_of_tuple(x):
    return Row((x, 2)) * 3


def by_own_add_of_deque(x):
    return Few([x, 2]) + Few([3])


def by_own_imul_of_deque(x):
    made = Few([x])
    made *= 3
    return made


def by_short_deque(x):
    return collections.deque([x], 1) * 3


def by_added_short_deque(x):
    return collections.deque([x, 2], 2) + collections.deque([3])


def by_repeated_short_deque(x):
    made = collections.deque([x, 2], 3)
    made *= 2
    return made


def by_own_and(x):
    return Elements([x]) & {2}


def by_own_or(x):
    return Elements([x]) | {2}


def by_own_ior(x):
    made = Elements([x])
    made |= {2}
    return made


def by_reflected_sub(x):
    return {x} - Elements([2])


def by_own_or_of_dict(x):
    return Table(a=x) | {"b": 1}


def by_reflected_or_of_dict(x):
    return {"a": x} | Table(b=1)


def by_own_ior_of_dict(x):
    made = Table(a=x)
    made |= {"b": 1}
    return made


def by_radd_of_another_class(x):
    return [x] + Adding()


def by_rmul_of_another_class(x):
    return (x, x) * Adding()


def by_own_number(x):
    return [x, x] * Number(3)


def by_number_with_index(x):
    class Index:
        def __index__(self):
            return 2

    return [x] * Index()


def by_repeated_list(x):
    made = [x, 2]
    made *= 2
    return made


MAKERS = [found for name, found in list(globals().items()) if name.startswith("by_")]
