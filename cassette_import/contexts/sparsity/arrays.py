"""`Array`: what the program has in the place of an array of NumPy: its values, and a dependence for each element.

Both are arrays of the same shape and order in memory, so a view of one is the same view of the other: what is stored
through one view is seen in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.number import DISPATCH, Number, Proxy, dependence_of, number
from cassette_import.contexts.sparsity.run import VARIES, Run, joined

__all__ = ["METHODS", "Array", "array", "as_array", "dependences_of", "owner_of", "plain", "plain_deep"]

METHODS: Final = frozenset([
    "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal",
    "dot", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel", "repeat", "reshape", "round", "searchsorted",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var",
])  # fmt: skip
"""The methods that are functions of NumPy, too."""
_ATTRIBUTES: Final = frozenset(["shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"])


def array(run: Run, values: Any, dependences: Any) -> Any:
    """An array with dependences, which broadcast to its shape; a number if it has no axes."""
    if not isinstance(values, np.ndarray) or (values.ndim == 0 and not isinstance(dependences, np.ndarray)):
        found = dependences.item() if isinstance(dependences, np.ndarray) else dependences
        return number(run, values[()] if isinstance(values, np.ndarray) else values, found)
    if (
        not isinstance(dependences, np.ndarray)
        or dependences.shape != values.shape
        or dependences.flags.c_contiguous != values.flags.c_contiguous
        or dependences.flags.f_contiguous != values.flags.f_contiguous
    ):
        made = np.empty_like(values, dtype=object)
        made[...] = as_objects(dependences)
        dependences = made
    return Array(run, values, dependences)


def as_objects(dependences: Any) -> Any:
    """Dependences as an array of objects."""
    if isinstance(dependences, np.ndarray):
        return dependences
    made: Any = np.empty((), object)
    made[()] = dependences
    return made


def plain(value: Any) -> Any:
    """The values of an array or number."""
    return value.value if type(value) in (Array, Number) else value


def plain_deep(value: Any) -> Any:
    """A value without dependences, also in lists and tuples."""
    if type(value) in (list, tuple):
        return type(value)(map(plain_deep, value))
    if type(value) is slice:
        return slice(*map(plain_deep, (value.start, value.stop, value.step)))
    return plain(value)


def dependences_of(value: Any) -> Any:
    """The dependences of the elements, as an array of objects."""
    if type(value) is Array:
        return value.dependences
    if type(value) in (list, tuple):
        parts = [dependences_of(part) for part in value]
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise ValueError("rows of several lengths")
        made = np.zeros((len(parts), *(shapes.pop() if shapes else ())), object)
        for place, part in enumerate(parts):
            made[place] = part if part.ndim else part.item()
        return made
    if isinstance(value, np.ndarray) and value.dtype == object:
        found: Any = np.zeros(value.shape, object)
        one: Any
        for place, one in enumerate(value.flat):
            found.flat[place] = dependence_of(one)
        return found
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, object)
    return as_objects(dependence_of(value))


def as_array(run: Run, value: Any, **keywords: Any) -> Array:
    """A value as an array with dependences: a copy, but for an array."""
    if type(value) is Array:
        return value
    dependences = dependences_of(value)
    values = plain_deep(value)
    if isinstance(values, np.ndarray) and values.dtype == object:
        items: Any = values.flat
        values = np.array(values.tolist() and [plain(item) for item in items]).reshape(values.shape)
    made = np.array(values, **keywords)
    matching = np.empty_like(made, dtype=object)
    matching[...] = dependences
    return Array(run, made, matching)


def owner_of(values: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(values.base, np.ndarray):
        values = values.base
    return values


class Array(Proxy):
    """An array with the dependences of its elements."""

    __slots__ = ("dependences", "run", "value")
    __array_priority__ = 1e6

    def __init__(self, run: Run, value: Any, dependences: Any) -> None:
        self.run = run
        self.value = value
        self.dependences = dependences

    def _shown(self) -> Any:
        return self.value if self.is_constant() else super()._shown()

    def __array__(self, *_: Any, **__: Any) -> Any:
        if self.is_constant():
            return self.value.copy()
        name = self.run.leaf or "C code"
        raise self.run.refuse(f"{name} gets an array that depends on the inputs, and there is no rule for it")

    def is_constant(self) -> bool:
        """Whether no element depends on the inputs."""
        return not self.dependences.any()

    @property
    def T(self) -> Any:
        """The transposed array."""
        return Array(self.run, self.value.T, self.dependences.T)

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._part(self.value.real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._part(self.value.imag)

    def _part(self, values: Any) -> Any:
        if self.value.dtype.kind == "c":  # their memory has another order than that of the dependences
            values = values.copy()
            values.flags.writeable = False
        return array(self.run, values, self.dependences)

    @property
    def flat(self) -> Any:
        """The elements."""
        return iter(Array(self.run, self.value.ravel(), self.dependences.ravel()))

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        if name in _ATTRIBUTES:
            return getattr(self.value, name)
        if name in METHODS:
            return DISPATCH["method"](self, name)
        getattr(self.value, name)  # an AttributeError
        raise self.run.refuse(f"the attribute {name} of an array that may depend on the inputs has no rule")

    # ---- elements

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self.value)):
            yield self[place]

    def __getitem__(self, key: Any) -> Any:
        if not _varies(key):
            fixed = _fixed(key)
            return array(self.run, self.value[fixed], self.dependences[fixed])
        if self.run.local:
            key = plain_deep(key)
            return array(self.run, self.value[key], self.dependences[key])
        if _selects(key):
            raise self.run.refuse_branch("which elements of an array are selected depends on the inputs")
        found = self.value[plain_deep(key)]
        return array(self.run, found, joined(self.dependences.flat) | VARIES)

    def __setitem__(self, key: Any, value: Any) -> None:
        run = self.run
        run.stores += 1
        if run.aliased and id(owner_of(self.value)) in run.aliased:
            raise run.refuse_branch("which array this is depends on the inputs, and an element of it is stored")
        value = _storable(run, value)
        new = dependences_of(value)
        varies = _varies(key) and not run.local
        live = run.active.live
        if varies and _selects(key) and new.ndim:
            raise run.refuse_branch("which elements of an array are stored depends on the inputs: use np.where")
        fixed = plain_deep(key) if varies or run.local else _fixed(key)
        if live:
            self.value[fixed] = plain(value)
        if varies:
            self.dependences[...] = self.dependences | (joined(new.flat) | VARIES)
        elif run.is_split:
            self.dependences[fixed] = self.dependences[fixed] | new | VARIES
        else:
            self.dependences[fixed] = new if new.ndim else new.item()

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    def __bool__(self) -> bool:
        if self.value.size == 1:
            return bool(number(self.run, self.value.reshape(-1)[0], joined(self.dependences.flat)))
        return bool(self.value)

    def __float__(self) -> float:
        if self.value.size == 1 and self.is_constant():
            return float(self.value)
        name = self.run.leaf or "C code"
        raise self.run.refuse(f"{name} gets an array that depends on the inputs, and there is no rule for it")

    __complex__ = __float__

    def __index__(self) -> int:
        # For the type checker: the index of a `Number` is an int.
        return number(self.run, self.value[()], joined(self.dependences.flat)).__index__()  # type: ignore[no-any-return]

    __int__ = __index__
    __hash__ = None  # type: ignore[assignment]  # as NumPy's arrays

    # ---- methods that are no functions

    def astype(self, dtype: Any, **_: Any) -> Any:
        """A copy of another type."""
        return DISPATCH["cast"](self, dtype)

    def flatten(self, order: Any = "C") -> Any:
        """A flat copy."""
        return Array(self.run, self.value.flatten(order), self.dependences.flatten(order))

    def tolist(self) -> Any:
        """The elements in lists."""
        return [one.tolist() if type(one) is Array else _python(one) for one in self]

    def item(self, *place: Any) -> Any:
        """One element."""
        return _python(number(self.run, self.value.item(*place), self.dependences.item(*place)))

    def fill(self, value: Any) -> None:
        """Store a number in all elements."""
        self[...] = value

    def sort(self, axis: int = -1) -> None:
        """Sort in place."""
        self[...] = DISPATCH["function"](self.run, np.sort, (self,), {"axis": axis})

    def view(self, *_: Any) -> Any:
        """The same array."""
        if _:
            raise self.run.refuse("the view of an array as another type has no rule")
        return self[...]

    def __copy__(self) -> Any:
        return Array(self.run, self.value.copy(), self.dependences.copy())

    def __deepcopy__(self, _: Any) -> Any:
        return self.__copy__()

    def __reduce_ex__(self, _: Any) -> Any:
        self.__array__()
        return self.value.__reduce_ex__(2)


Array.__name__ = Array.__qualname__ = "array that may depend on the inputs"  # errors of C code show it


def _python(one: Any) -> Any:
    """A number of NumPy as one of Python."""
    value = plain(one)
    value = value.item() if isinstance(value, np.generic) else value
    return number(one.run, value, one.dependence) if type(one) is Number else value


def _storable(run: Run, value: Any) -> Any:
    return as_array(run, value) if type(value) in (list, tuple) else value


def _parts(key: Any) -> list[Any]:
    return list(key) if type(key) is tuple else [key]


def _varies(key: Any) -> bool:
    for part in _parts(key):
        if type(part) is Number or (type(part) is Array and not part.is_constant()):
            return True
        if type(part) is list and any(map(_varies, part)):
            return True
        if type(part) is slice and any(type(one) is Number for one in (part.start, part.stop, part.step)):
            return True
    return False


def _selects(key: Any) -> bool:
    """Whether a key selects elements by truth values, or by a range: their number depends on it."""
    return any(
        (type(part) is slice and _varies(part))
        or getattr(getattr(plain(part), "dtype", None), "kind", "") == "b"
        or type(part) is list
        for part in _parts(key)
    )


def _fixed(key: Any) -> Any:
    return plain_deep(key)


def _operator(ufunc: Any, reflected: bool = False) -> Any:
    def method(self: Array, other: Any) -> Any:
        if isinstance(other, (str, bytes)) or other is None:
            return NotImplemented
        return DISPATCH["ufunc"](self.run, ufunc, "__call__", (other, self) if reflected else (self, other), {})

    return method


def _in_place(ufunc: Any) -> Any:
    def method(self: Array, other: Any) -> Any:
        made = DISPATCH["ufunc"](self.run, ufunc, "__call__", (self, other), {})
        if not np.can_cast(made.dtype, self.value.dtype, "same_kind"):
            raise TypeError(f"cannot cast the result from {made.dtype} to {self.value.dtype}")
        self[...] = made
        return self

    return method


_BINARY: Final = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
for _name, _ufunc in _BINARY.items():
    setattr(Array, f"__{_name}__", _operator(_ufunc))
    setattr(Array, f"__r{_name}__", _operator(_ufunc, reflected=True))
    setattr(Array, f"__i{_name}__", _in_place(_ufunc))
_COMPARISONS: Final = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
for _name, _ufunc in _COMPARISONS.items():
    setattr(Array, f"__{_name}__", _operator(_ufunc))
for _name, _ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}.items():
    setattr(Array, f"__{_name}__", lambda self, f=_ufunc: DISPATCH["ufunc"](self.run, f, "__call__", (self,), {}))
