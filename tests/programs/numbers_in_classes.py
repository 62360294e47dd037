"""Programs in which classes are made, or make objects, by code that is not theirs: enumerations, dataclasses.

That code calls methods of the program with a number. Each program is differentiable near 3. The derivative and the
enclosure are right, or an error: never silently wrong.
"""

import collections
import copy
import dataclasses
import enum
import functools
import operator
import sys
import threading
import types
from dataclasses import InitVar, dataclass, field

PROGRAMS = {}


def program(function):
    PROGRAMS[f"in classes: {function.__name__}"] = function
    return function


@program
def enum_init(x):
    class E(enum.Enum):
        A = (x, 2.0)

        def __init__(self, a, b):
            self.prod = a * b

    return E.A.prod


@program
def enum_new(x):
    class E(enum.Enum):
        A = x

        def __new__(cls, v):
            o = object.__new__(cls)
            o._value_ = 1
            o.sq = v * v
            return o

    return E.A.sq


@program
def enum_missing(x):
    class E(enum.Enum):
        A = 1

        @classmethod
        def _missing_(cls, v):
            cls.last = v * v
            return cls.A

    E(x)
    return E.last


@program
def enum_value(x):
    class E(enum.Enum):
        A = x

    return E.A.value * 2


@program
def enum_value_func(x):
    E = enum.Enum("E", {"A": x})
    return E.A.value * 2


@program
def enum_generate(x):
    class E(enum.Enum):
        def _generate_next_value_(name, start, count, last):
            return x * 2

        A = enum.auto()

    return E.A.value


@program
def enum_init_subclass(x):
    class E(enum.Enum):
        def __init_subclass__(cls, k=0):
            cls.kk = k * 2

    class F(E, k=x):
        A = 1

    return F.kk


@program
def type_kwargs(x):
    class Base:
        def __init_subclass__(cls, k=0, **kw):
            cls.kk = k * k

    K = type("K", (Base,), {}, k=x)
    return K.kk


@program
def class_kwargs(x):
    class Base:
        def __init_subclass__(cls, k=0, **kw):
            cls.kk = k * k

    class K(Base, k=x):
        pass

    return K.kk


@program
def metaclass_kwargs(x):
    class M(type):
        def __new__(m, name, bases, ns, k=0):
            c = super().__new__(m, name, bases, ns)
            c.kk = k * k
            return c

        def __init__(c, name, bases, ns, k=0):
            c.jj = k * 2

    class K(metaclass=M, k=x):
        pass

    return K.kk + K.jj


@program
def new_class_kwargs(x):
    class Base:
        def __init_subclass__(cls, k=0, **kw):
            cls.kk = k * k

    K = types.new_class("K", (Base,), {"k": x})
    return K.kk


@program
def new_class_body2(x):

    def body(ns):
        ns["a"] = x

    K = types.new_class("K", (), {}, body)
    return K.a * x


@program
def prepare_class(x):
    class M(type):
        @classmethod
        def __prepare__(m, name, bases, k=0):
            return {"a": k * k}

        def __new__(m, name, bases, ns, k=0):
            return super().__new__(m, name, bases, ns)

        def __init__(c, *a, **k):
            pass

    _, ns, _ = types.prepare_class("K", (), {"metaclass": M, "k": x})
    return ns["a"]


@program
def prepare(x):
    class M(type):
        @classmethod
        def __prepare__(m, name, bases, k=0):
            return {"a": k * k}

        def __new__(m, name, bases, ns, k=0):
            return super().__new__(m, name, bases, ns)

        def __init__(c, *a, **k):
            pass

    class K(metaclass=M, k=x):
        pass

    return K.a


@program
def prepare_plain(x):
    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return {"a": x}

    class K(metaclass=M):
        pass

    return K.a * 2


@program
def prepare_missing(x):
    class Names(dict):
        def __missing__(self, name):
            if name == "a":
                return x * x
            raise KeyError(name)

    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return Names()

    class K(metaclass=M):
        b = a * x + a  # noqa: F821

    return K.b


@program
def prepare_getitem(x):
    class Names(dict):
        def __getitem__(self, name):
            return x * x if name == "a" else dict.__getitem__(self, name)

    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return Names()

    class K(metaclass=M):
        b = a * x  # noqa: F821
        c = b + a  # noqa: F821

    return K.c


@program
def prepare_default_of_dict(x):
    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return collections.defaultdict(lambda: x * x, __name__="m")

    class K(metaclass=M):
        b = a * 3 + a  # noqa: F821

    return K.b


@program
def prepare_read_in_body(x):
    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return {"a": x}

    class K(metaclass=M):
        b = a * a  # noqa: F821

    return K.b


@program
def prepare_own_setitem(x):
    class NS(dict):
        def __setitem__(self, k, v):
            if isinstance(v, float):
                v = v * v
            dict.__setitem__(self, k, v)

    class M(type):
        @classmethod
        def __prepare__(m, name, bases):
            return NS()

        def __new__(m, name, bases, ns):
            return super().__new__(m, name, bases, dict(ns))

    class K(metaclass=M):
        a = x

    return K.a


@program
def set_name(x):
    class D:
        def __init__(self, v):
            self.v = v

        def __set_name__(self, owner, name):
            owner.sq = self.v * self.v

    class K:
        a = D(x)

    return K.sq


@program
def replace_initvar(x):

    @dataclass
    class D:
        a: float
        b: InitVar[float] = 1.0
        c: float = field(init=False, default=0.0)

        def __post_init__(self, b):
            self.c = self.a * b

    return dataclasses.replace(D(1.0, 1.0), a=2.0, b=x).c


@program
def replace_post_init(x):

    @dataclass
    class D:
        a: float
        c: float = field(init=False, default=0.0)

        def __post_init__(self):
            self.c = self.a * self.a

    return dataclasses.replace(D(1.0), a=x).c


@program
def replace_own_init(x):

    @dataclass(init=False)
    class D:
        a: float

        def __init__(self, a):
            self.a = a * a

    return dataclasses.replace(D(1.0), a=x).a


@program
def copy_replace(x):
    class D:
        def __init__(self, a):
            self.a = a

        def __replace__(self, **kw):
            return D(kw["a"] * self.a)

    if sys.version_info < (3, 13):
        return D(2.0).__replace__(a=x).a
    return copy.replace(D(2.0), a=x).a


@program
def factory_partial(x):

    def make(v):
        return v * v

    @dataclass
    class D:
        a: float = field(default_factory=functools.partial(make, x))

    return D().a


@program
def factory_partial_c(x):

    @dataclass
    class D:
        a: float = field(default_factory=functools.partial(operator.mul, x, x))

    return D().a


@program
def factory_closure(x):

    @dataclass
    class D:
        a: float = field(default_factory=lambda: x * x)

    return D().a


@program
def factory_frozen(x):

    @dataclass(frozen=True)
    class D:
        a: float = field(default_factory=lambda: x * x)

    return D().a


@program
def factory_method(x):
    class Q:
        def __init__(self, v):
            self.v = v

        def make(self):
            return self.v * self.v

    @dataclass
    class D:
        a: float = field(default_factory=Q(x).make)

    return D().a


@program
def factory_object(x):
    class Q:
        def __init__(self, v):
            self.v = v

        def __call__(self):
            return self.v * self.v

    @dataclass
    class D:
        a: float = field(default_factory=Q(x))

    return D().a


@program
def make_dataclass_default(x):
    D = dataclasses.make_dataclass("D", [("a", float, field(default=x))])
    return D().a * 2


@program
def make_dataclass_factory(x):
    D = dataclasses.make_dataclass("D", [("a", float, field(default_factory=functools.partial(operator.mul, x, x)))])
    return D().a


@program
def local_init(x):
    class L(threading.local):
        def __init__(self, a):
            self.a = a * a

    return L(x).a


@program
def local_init_thread(x):
    class L(threading.local):
        def __init__(self, a):
            self.a = a * a

    local = L(x)
    out = []
    t = threading.Thread(target=lambda: out.append(local.a))
    t.start()
    t.join()
    return out[0]
