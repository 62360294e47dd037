"""Programs that keep a number in a place that an object of another kind manages, and read it again.

The places are those of descriptors, of memory that C code shares, of caches, and of exit stacks. Each program is
differentiable near 3. The derivative and the enclosure are right, or an error.
"""

import array
import atexit
import contextlib
import ctypes
import dataclasses
import enum
import functools
import pickle
import struct
import threading
import weakref

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__.replace("_", " ")] = function
    return function


# ---- descriptors


class InDict:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return instance.__dict__[self.name] * 2

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value

    def __delete__(self, instance):
        instance.removed = instance.__dict__.pop(self.name)


class InAttribute:
    def __get__(self, instance, owner):
        return 1.0 if instance is None else instance._value * 2

    def __set__(self, instance, value):
        instance._value = value


class BySetattr:
    def __get__(self, instance, owner):
        return getattr(instance, "_value")  # noqa: B009

    def __set__(self, instance, value):
        object.__setattr__(instance, "_value", value * 2)


class InWeakDict:
    def __init__(self):
        self.values = weakref.WeakKeyDictionary()

    def __get__(self, instance, owner):
        return self.values[instance] * 2

    def __set__(self, instance, value):
        self.values[instance] = value


class InOwnDict:
    def __init__(self):
        self.values = {}

    def __get__(self, instance, owner):
        return self.values[id(instance)] * 2

    def __set__(self, instance, value):
        self.values[id(instance)] = value


class InItself:
    def __get__(self, instance, owner):
        return self.value * 2

    def __set__(self, instance, value):
        self.value = value


class Inherited(InItself):
    def __get__(self, instance, owner):
        return super().__get__(instance, owner) * 2


DESCRIPTORS = (InDict, InAttribute, BySetattr, InWeakDict, InOwnDict, InItself, Inherited)


def _assigned(kind):
    class Holder:
        value = kind()

    def assigned(x):
        holder = Holder()
        holder.value = x
        return holder.value * x

    def set_by_function(x):
        holder = Holder()
        setattr(holder, "value", x)  # noqa: B010
        return getattr(holder, "value")  # noqa: B009

    def changed(x):
        holder = Holder()
        holder.value = x
        holder.value *= x
        return holder.value

    def set_by_method(x):
        holder, descriptor = Holder(), Holder.__dict__["value"]
        type(descriptor).__set__(descriptor, holder, x)
        return type(descriptor).__get__(descriptor, holder, Holder)

    return {f"{kind.__name__} {way.__name__}": way for way in (assigned, set_by_function, changed, set_by_method)}


for _kind in DESCRIPTORS:
    PROGRAMS.update(_assigned(_kind))


@program
def descriptor_of_a_local_class(x):
    class Local:
        def __get__(self, instance, owner):
            return instance._slot * x

        def __set__(self, instance, value):
            instance._slot = value

    class Holder:
        __slots__ = ("_slot",)
        value = Local()

    holder = Holder()
    holder.value = x
    return holder.value


@program
def descriptor_that_deletes(x):
    class Holder:
        value = InDict()

    holder = Holder()
    holder.value = x
    del holder.value
    return holder.removed * 2


@program
def descriptor_in_a_dataclass(x):
    @dataclasses.dataclass
    class Holder:
        value: float = InAttribute()

    return Holder(x).value


@program
def descriptor_without_set(x):
    class Local:
        def __get__(self, instance, owner):
            return x * 2

    class Holder:
        value = Local()

    return Holder().value + Holder.value


@program
def descriptor_that_returns_a_function(x):
    class Local:
        def __get__(self, instance, owner):
            return lambda factor: instance._value * factor

        def __set__(self, instance, value):
            instance._value = value

    class Holder:
        value = Local()

    holder = Holder()
    holder.value = x
    return holder.value(x)


# ---- memory that C code shares


class Structure(ctypes.Structure):
    _fields_ = [("number", ctypes.c_double), ("numbers", ctypes.c_double * 2)]


class Union(ctypes.Union):
    _fields_ = [("number", ctypes.c_double), ("bits", ctypes.c_longlong)]


def _with_structure(fill, read):
    def run(x):
        structure = Structure()
        fill(structure, x)
        return read(structure)

    return run


def _fill_number(structure, x):
    structure.number = x


def _fill_item(structure, x):
    structure.numbers[0] = x


def _fill_slice(structure, x):
    structure.numbers[:] = [x, x]


def _fill_view(structure, x):
    memoryview(structure).cast("B").cast("d")[0] = x


PROGRAMS.update(
    {
        "field": _with_structure(_fill_number, lambda s: s.number * 2),
        "item of a field": _with_structure(_fill_item, lambda s: s.numbers[0] * 2),
        "slice of a field": _with_structure(_fill_slice, lambda s: sum(s.numbers)),
        "view of a structure": _with_structure(_fill_view, lambda s: s.number * 2),
        "copy of a structure": _with_structure(_fill_number, lambda s: Structure.from_buffer_copy(bytes(s)).number),
        "field by getattr": _with_structure(_fill_number, lambda s: getattr(s, "number")),  # noqa: B009
        "fields given": lambda x: Structure(x, (x, x)).numbers[1] * Structure(number=x).number,
        "c_double": lambda x: ctypes.c_double(x).value * 2,
        "array of c_double": lambda x: (ctypes.c_double * 2)(x, 1)[0],
        "pointer": lambda x: ctypes.pointer(ctypes.c_double(x))[0],
        "struct": lambda x: struct.unpack("d", struct.pack("d", x))[0],
        "Struct": lambda x: struct.Struct("<d").unpack(struct.Struct("<d").pack(x))[0],
        "iter_unpack": lambda x: list(struct.iter_unpack("d", struct.pack("dd", x, x)))[1][0],
        "array": lambda x: array.array("d", [x]).tolist()[0] * 2,
        "view of an array": lambda x: memoryview(array.array("d", [x]))[0] * 2,
        "sum of an array": lambda x: sum(array.array("d", [x, x])),
        "pickle": lambda x: pickle.loads(pickle.dumps({"a": [x]}))["a"][0],
    }
)


@program
def value_of_c_double(x):
    number = ctypes.c_double()
    number.value = x
    return number.value * 2


@program
def union(x):
    made = Union()
    made.number = x
    return ctypes.c_double.from_buffer(made).value


@program
def array_behind_a_view(x):
    numbers = array.array("d", [0.0])
    memoryview(numbers)[0] = x
    return numbers[0] * 2


@program
def array_with_an_item(x):
    numbers = array.array("d", [0.0])
    numbers[0] = x
    return numbers.pop() * 2


@program
def bytes_behind_a_view(x):
    memory = bytearray(8)
    memoryview(memory).cast("d")[0] = x
    return struct.unpack_from("d", memory)[0]


# ---- caches


@program
def cache_with_a_tagged_argument(x):
    calls = []

    @functools.lru_cache
    def square(value):
        calls.append(value)
        return value * value

    return (square(x) + square(x) + square(2.0)) * len(calls)


@program
def cache_of_a_closure(x):
    @functools.lru_cache(maxsize=None)
    def scaled(value):
        return value * x

    return scaled(2.0) + scaled(2.0) + scaled(x)


@program
def cache_of_a_method(x):
    class Scale:
        @functools.lru_cache  # noqa: B019
        def scaled(self, value):
            return value * x

    scale = Scale()
    return scale.scaled(x) + scale.scaled(2.0) + scale.scaled(2.0)


@program
def cache_of_a_recursion(x):
    @functools.cache
    def fibonacci(number):
        return x if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)

    return fibonacci(6)


@program
def cached_property(x):
    class Holder:
        @functools.cached_property
        def value(self):
            return x * 2

    holder = Holder()
    return holder.value * holder.value


# ---- functions that are called later


@program
def exit_stack(x):
    found = []
    with contextlib.ExitStack() as stack:
        stack.callback(found.append, x)
        stack.callback(lambda value, *, factor: found.append(value * factor), x, factor=x)
    return found[0] * found[1]


@program
def exit_stack_closed(x):
    found = []
    stack = contextlib.ExitStack()
    stack.callback(found.append, x)
    stack.close()
    return found[0] * 2


@program
def exit_stack_that_enters(x):
    with contextlib.ExitStack() as stack:
        return stack.enter_context(contextlib.nullcontext(x)) * 2


@program
def finalizer(x):
    class Holder: ...

    holder, found = Holder(), []
    weakref.finalize(holder, found.append, x)
    del holder
    return found[0]


@program
def function_at_exit(x):
    found = []
    atexit.register(found.append, x)
    atexit.unregister(found.append)
    return x


@program
def timer(x):
    found = []
    timer = threading.Timer(0, found.append, [x])
    timer.start()
    timer.join()
    return found[0]


# ---- objects that the standard library makes of the values in a class body


@program
def members_of_an_enum(x):
    class Members(enum.Enum):
        A = x
        B = x * 2

    return Members.A.value + Members.B.value


@program
def default_of_a_field(x):
    @dataclasses.dataclass
    class Holder:
        value: float = dataclasses.field(default=x)

    return Holder().value
