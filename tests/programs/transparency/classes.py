"""Classes: bodies, construction, inheritance, private names."""

PROGRAMS = {
    "classes_that_say_what_their_instances_are": """
        class Lazy:
            def method(self):
                return super().__repr__()

            __class__ = property(lambda self: int)
            after = id(1)
        def main():
            class Late:
                if len("a"):
                    __class__ = property(lambda self: str)
                after = len("ab")
                def method(self): return __class__
            class Written:
                before = len("abc")
                @property
                def __class__(self): return float
                after = len("abcd")
                def method(self): return super().__init__
            kinds = [isinstance(made(), kind) for made, kind in ((Lazy, int), (Late, str), (Written, float))]
            return kinds, Late().method() is Late, sorted(vars(Lazy)), sorted(vars(Late)), sorted(vars(Written))
    """,
    "proxies_that_load_what_they_stand_for": """
        import threading
        class Lazy:
            def __init__(self, load):
                self.load, self.lock = load, threading.Lock()
            def __getattribute__(self, name):
                if name in ("load", "lock"):
                    return object.__getattribute__(self, name)
                if not object.__getattribute__(self, "lock").acquire(timeout=1):
                    return "asked while it loads"
                try:
                    return name, getattr(self.load(), name)
                finally:
                    self.lock.release()
        @Lazy
        def clock():
            return 3
        class Holder:
            @Lazy
            def clock():
                return 4
        def main():
            return clock.real, Holder.clock.real
    """,
    "names_in_class_bodies": """
        import collections, enum, dataclasses
        G = 1
        H = "h"
        class Log(dict):
            def __init__(self): self.log = []
            def __getitem__(self, k):
                self.log.append(k); return super().__getitem__(k)
            def __missing__(self, k):
                if k == "magic": return 42
                raise KeyError(k)
        class Meta(type):
            @classmethod
            def __prepare__(m, name, bases): return Log()
            def __new__(m, name, bases, ns):
                c = super().__new__(m, name, bases, dict(ns)); c.log = ns.log; return c
        def main():
            x = 2
            class A(metaclass=Meta):
                a = G
                b = magic
                c = x
                H = H
                def m(self): return super().__init__, __class__
                d = [G for _ in [a]]
                e = len(H)
                global Z
                Z = G + e
                f = Z
                __p = 1
                q = __p
                try: nope
                except NameError as err: why = str(err)
            G2 = 5
            class B:
                g2 = G2 if False else 0
                try: x = x
                except NameError: x = 9
                locals()["dyn"] = 3
                y = dyn
            class C:
                x = 7
                class D:
                    y = G
                z = x
                w = [x for x in range(x)]
                v = (lambda: x)()
            class Color(enum.Enum):
                RED = G; BLUE = RED + 1
            @dataclasses.dataclass
            class P:
                a: int = G
                b: list = dataclasses.field(default_factory=list)
            try:
                class E:
                    foo = undefined_name
            except NameError as e:
                import traceback
                t = traceback.format_exc(), e.name
            kept = {k: v for k, v in vars(A).items() if k in "abcdefHqwhy"}
            return A.log, kept, A.why, B.x, B.y, C.z, C.w, C.v, C.D.y, list(Color), P(), t, Z
    """,
    "zero_argument_super": """
        class A:
            def __init__(self, x):
                self.x = x

            def m(self):
                return ["A"]

            @classmethod
            def c(cls):
                return [cls.__name__]

            @property
            def p(self):
                return self.x

        class B(A):
            def __init__(self, x):
                super().__init__(x + 1)

            def m(self):
                return ["B"] + super().m()

            @classmethod
            def c(cls):
                return super().c() + ["B"]

            @property
            def p(self):
                return super().p * 10

        class C(B):
            def m(self):
                def inner():
                    return super(C, self).m()

                return ["C"] + inner() + [super().m]

        def main():
            c = C(1)
            return c.m()[:-1], C.c(), c.p, B.c()
    """,
    "super_in_nested_functions_and_comprehensions": """
        class A:
            def m(self, x):
                return x

        class B(A):
            def m(self, x):
                def inner(self):
                    return super().m(x + 1)

                return inner(self), [super(B, self).m(y) for y in range(x)], (lambda self: super().m(5))(self)

        def main():
            return B().m(2)
    """,
    "super_in_diamonds": """
        class Root:
            def m(self):
                return ["Root"]

        class Left(Root):
            def m(self):
                return ["Left", *super().m()]

        class Right(Root):
            def m(self):
                return ["Right", *super().m()]

        class Both(Left, Right):
            def m(self):
                return ["Both", *super().m()]

        def main():
            return Both().m()
    """,
    "super_under_another_name": """
        class A:
            def m(self):
                return "A"

        parent = super

        class B(A):
            def m(self):
                __class__
                return parent().m()

            def n(self):
                return super.__name__, __class__.__name__

        def main():
            return B().m(), B().n()
    """,
    "super_without_a_class_raises": """
        class A:
            def m(self):
                return "A"

        def outside(self):
            return super().m()

        def main():
            try:
                outside(A())
            except RuntimeError as error:
                return str(error)
    """,
    "super_in_generators_and_coroutines": """
        import asyncio

        class A:
            def numbers(self):
                yield 1
                yield 2

            async def number(self):
                return 3

        class B(A):
            def numbers(self):
                yield from super().numbers()
                yield sum(x for x in super().numbers())

            async def number(self):
                return await super().number() + 1

        def main():
            return list(B().numbers()), asyncio.run(B().number())
    """,
    "super_in_new_and_metaclasses": """
        class Meta(type):
            def __new__(mcs, name, bases, namespace, **kwargs):
                cls = super().__new__(mcs, name, bases, namespace)
                cls.made = kwargs
                return cls

            def __init__(cls, name, bases, namespace, **kwargs):
                super().__init__(name, bases, namespace)

            def __call__(cls, *args):
                return super().__call__(*args)

            @classmethod
            def __prepare__(mcs, name, bases, **kwargs):
                return {"prepared": name}

        class A(metaclass=Meta, option=1):
            def __new__(cls, x):
                self = super().__new__(cls)
                self.new = x
                return self

            def __init__(self, x):
                super().__init__()
                self.init = x

        def main():
            a = A(5)
            return a.new, a.init, A.made, A.prepared
    """,
    "private_names": """
        def __outside():
            return "outside"

        class A:
            __x = 1

            def __init__(self):
                self.__y = self.__private(2)
                self.__z__ = 3

            def __private(self, v):
                return v * 10

            def read(self):
                __local = self.__x + self.__y
                return __local, [self.__x for _ in range(2)], (lambda: self.__private(4))()

            def names(self):
                __a = 1
                return sorted(locals()), sorted(vars(self))

            def keyword(self, **kwargs):
                return kwargs

            def call(self):
                return self.keyword(__k=1)

            def outside(self):
                try:
                    return __outside()
                except NameError as error:
                    return str(error)

        class __B:
            __x = 2

            def read(self):
                return self.__x, __class__.__name__

        def main():
            a = A()
            return a.read(), a.names(), a.call(), a.outside(), sorted(vars(A)), globals()["__B"]().read()
    """,
    "private_names_in_nested_classes_and_functions": """
        class A:
            def m(self):
                class B:
                    def n(self):
                        self.__v = 1
                        return sorted(vars(self))

                def inner(o):
                    o.__w = 2
                    return o

                inner(self)
                return B().n(), sorted(vars(self))

        def main():
            return A().m()
    """,
    "namespace_of_a_class_has_only_its_own_names": """
        def make(x):
            return x

        def main():
            class C:
                a = make(1)
                b = a + make(2) * 3
                c = [make(i) + 1 for i in range(3)]
                d = (a < b < 10) and not a
                e = [0]
                e[0] += 1
                f = sorted(locals())

                def m(self):
                    return 1

            return (
                [k for k in vars(C) if k not in ("__firstlineno__", "__static_attributes__")],
                C.f,
                C.b,
                C.c,
                C.e,
            )
    """,
    "class_bodies_read_and_change_names": """
        x = "global"

        def main():
            x = "local"

            class A:
                y = x
                x = "class"
                z = x
                f = lambda self: x
                g = [x for _ in range(1)]
                del y

            class B:
                global x
                x = "changed"

            return A.z, A().f(), A.g, hasattr(A, "y"), globals()["x"]
    """,
    "namespaces_that_refuse_to_be_assigned_twice": """
        class Strict(dict):
            def __setitem__(self, key, value):
                if key in self and not key.startswith("__"):
                    raise KeyError(key)
                super().__setitem__(key, value)

        class Meta(type):
            @classmethod
            def __prepare__(mcs, name, bases):
                return Strict()

        def make(x):
            return x

        def main():
            class A(metaclass=Meta):
                a = make(1)
                b = make(2)
                c = make(a) + make(b)

            return A.c
    """,
    "enumerations": """
        import enum

        class Color(enum.Enum):
            RED = enum.auto()
            GREEN = len("ab")
            BLUE = RED + 5 if isinstance(RED, int) else 7

            @property
            def nice(self):
                return self.name.lower()

            @classmethod
            def first(cls):
                return next(iter(cls))

        class Flag(enum.Flag):
            A = enum.auto()
            B = enum.auto()
            AB = A | B

        Made = enum.Enum("Made", "X Y")

        def main():
            return (
                list(Color),
                Color.GREEN.nice,
                Color.first(),
                Flag.A in Flag.AB,
                Flag.A | Flag.B is Flag.AB,
                list(Made),
                Made.__module__ == __name__,
                Color(2),
            )
    """,
    "dataclasses": """
        import dataclasses

        def default():
            return [1]

        @dataclasses.dataclass(order=True)
        class Point:
            x: int
            y: int = dataclasses.field(default=2)
            tags: list = dataclasses.field(default_factory=default, compare=False)

            def __post_init__(self):
                self.tags.append(self.x + self.y)

        @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
        class Frozen:
            a: int
            b: "Point" = None

            def bump(self):
                return dataclasses.replace(self, a=self.a + 1)

        Made = dataclasses.make_dataclass("Made", [("v", int)])

        def main():
            p = Point(1)
            try:
                Frozen(a=1).a = 2
            except dataclasses.FrozenInstanceError as error:
                text = str(error)
            return p, p < Point(2), dataclasses.asdict(p), Frozen(a=1).bump(), text, Made(3)
    """,
    "named_tuples_and_typing_classes": """
        import collections, typing

        Pair = collections.namedtuple("Pair", "a b", defaults=[5])

        class Typed(typing.NamedTuple):
            x: int
            y: int = 3

            def total(self):
                return self.x + self.y

        T = typing.TypeVar("T")
        Id = typing.NewType("Id", int)

        class Box(typing.Generic[T]):
            def __init__(self, x: T):
                self.x = x

            def get(self) -> T:
                return self.x

        class Proto(typing.Protocol):
            def get(self): ...

        class Config(typing.TypedDict, total=False):
            name: str

        def main():
            return (
                Pair(1),
                Pair.__module__ == __name__,
                Typed(1).total(),
                Box[int](3).get(),
                T.__module__ == __name__,
                Id(4),
                Id.__module__ == __name__,
                Config(name="x"),
                typing.get_type_hints(Typed),
            )
    """,
    "functional_types_made_inside_of_functions_know_their_module": """
        import collections, enum, typing

        def main():
            return (
                collections.namedtuple("P", "a").__module__ == __name__,
                enum.Enum("E", "A").__module__ == __name__,
                typing.TypeVar("T").__module__ == __name__,
                typing.NewType("N", int).__module__ == __name__,
                typing.NamedTuple("Q", [("a", int)]).__module__ == __name__,
                typing.ParamSpec("S").__module__ == __name__,
                type("X", (), {}).__module__ == __name__,
            )
    """,
    "descriptors_slots_and_hooks_of_subclassing": """
        log = []

        class Descriptor:
            def __set_name__(self, owner, name):
                log.append(("set_name", owner.__name__, name))

            def __get__(self, instance, owner):
                return (instance is None, owner.__name__)

            def __set__(self, instance, value):
                log.append(("set", value))

            def __delete__(self, instance):
                log.append("delete")

        class Base:
            def __init_subclass__(cls, **kwargs):
                super().__init_subclass__()
                log.append(("subclass", cls.__name__, kwargs))

            def __class_getitem__(cls, item):
                return (cls.__name__, item)

        class Child(Base, option=len("abc")):
            __slots__ = ("x",)
            d = Descriptor()

        def main():
            c = Child()
            c.d = 5
            c.d += (1,)
            del c.d
            c.x = 1
            return c.d, Child.d, Child[int], c.x, log
    """,
    "properties_and_attribute_hooks": """
        class A:
            def __init__(self):
                self._x = 0
                self.log = []

            @property
            def x(self):
                "the docstring"
                return self._x

            @x.setter
            def x(self, value):
                self._x = value * 2

            @x.deleter
            def x(self):
                self._x = None

            def __getattr__(self, name):
                self.log.append(name)
                return len(name)

        def main():
            a = A()
            a.x = 5
            first = a.x
            a.x += 1
            second = a.x
            del a.x
            return first, second, a.x, a.missing, a.log, A.x.__doc__
    """,
    "special_methods_of_all_kinds": """
        class N:
            def __init__(self, v):
                self.v = v

            def __repr__(self):
                return f"N({self.v!r})"

            def __add__(self, o):
                return N(self.v + getattr(o, "v", o))

            __radd__ = __add__

            def __iadd__(self, o):
                self.v += getattr(o, "v", o)
                return self

            def __neg__(self):
                return N(-self.v)

            def __lt__(self, o):
                return self.v < o.v

            def __eq__(self, o):
                return isinstance(o, N) and self.v == o.v

            def __hash__(self):
                return hash(self.v)

            def __len__(self):
                return abs(self.v)

            def __getitem__(self, i):
                if i >= len(self):
                    raise IndexError(i)
                return self.v * i

            def __contains__(self, x):
                return x == self.v

            def __format__(self, spec):
                return f"<{self.v}:{spec}>"

            def __bool__(self):
                return self.v != 0

            def __index__(self):
                return self.v

            def __call__(self, *args):
                return (self.v, args)

            def __enter__(self):
                return self.v

            def __exit__(self, *exc):
                return True

        def main():
            n = N(2)
            alias = n
            n += 3
            with N(7) as entered:
                raise ValueError
            return (
                n is alias,
                n + 1,
                1 + n,
                -n,
                sorted([N(3), N(1)]),
                {N(1): 1}[N(1)],
                list(n),
                5 in n,
                6 not in n,
                f"{n:x>3}",
                not N(0),
                [10, 20, 30][N(2)],
                n(1, 2),
                entered,
                sum([N(1), N(2)], N(0)),
                N(3) == N(3),
            )
    """,
    "abstract_classes_and_registration": """
        import abc, collections.abc

        class Shape(abc.ABC):
            @abc.abstractmethod
            def area(self): ...

            @classmethod
            def __subclasshook__(cls, other):
                return True if hasattr(other, "area") and cls is Shape else NotImplemented

        class Square(Shape):
            def __init__(self, a):
                self.a = a

            def area(self):
                return self.a ** 2

        class Duck:
            def area(self):
                return 0

        def main():
            try:
                Shape()
            except TypeError as error:
                text = str(error)
            return Square(3).area(), isinstance(Duck(), Shape), isinstance(3, Shape), text
    """,
    "qualified_names_and_modules_of_nested_things": """
        class A:
            class B:
                def m(self):
                    def f():
                        pass

                    return f.__qualname__, (lambda: 0).__qualname__, [g for g in (x for x in ())]

            l = lambda self: 0

        def outer():
            class C:
                def m(self):
                    return type(self).__qualname__

            return C

        def main():
            C = outer()
            return A.B.m.__qualname__, A.B().m(), A.l.__qualname__, C.__qualname__, C().m(), C.m.__qualname__
    """,
    "methods_compare_and_hash_as_plain_ones": """
        class A:
            def m(self):
                return 1

            @classmethod
            def c(cls):
                return 2

            @staticmethod
            def s():
                return 3

        def main():
            a, b = A(), A()
            a.m(), a.c(), a.s()
            return (
                a.m == a.m,
                a.m is a.m,
                a.m == b.m,
                hash(a.m) == hash(a.m),
                a.m.__func__ is A.m,
                a.m.__self__ is a,
                A.c.__self__ is A,
                A.s is A.s,
                A.m is A.__dict__["m"],
            )
    """,
    "methods_added_and_replaced_at_run_time": """
        class A:
            def m(self):
                return "old"

        def new(self):
            return "new"

        def main():
            a = A()
            before = a.m()
            A.m = new
            A.n = lambda self, x: x + 1
            after = a.m(), a.n(1)
            a.m = lambda: "instance"
            return before, after, a.m(), A().m()
    """,
    "classes_made_by_type": """
        def init(self, x):
            self.x = abs(x)

        def main():
            C = type("C", (), {"__init__": init, "double": lambda self: self.x * 2})
            return C(-3).double(), C.__name__
    """,
    "instances_of_subclasses_of_builtins": """
        class D(dict):
            def __missing__(self, key):
                return key * 2

            def get(self, key, default=None):
                return super().get(key, "mine")

        class L(list):
            def append(self, x):
                super().append(x)
                super().append(x)

        class I(int):
            def __add__(self, other):
                return I(super().__add__(other) + 100)

        def main():
            l = L()
            l.append(1)
            return D()["ab"], D().get("x"), l, I(1) + 1, type(I(1) + 1).__name__
    """,
}

SINCE_3_12 = {
    "type_parameters": """
        class Stack[T: (int, str)]:
            def __init__(self) -> None:
                self.items: list[T] = []

            def push(self, item: T) -> "Stack[T]":
                self.items.append(item)
                return self

            def __len__(self):
                return len(self.items)

        def first[T](xs: list[T], default: T | None = None) -> T:
            return xs[0] if len(xs) > 0 else default

        type Pair[A] = tuple[A, A]

        def main():
            return (
                len(Stack[int]().push(1).push(2)), first([5]), first([], 7), Pair.__name__, Pair[int],
                first.__type_params__, Stack.__type_params__, Pair.__value__, first.__qualname__,
            )
    """,
    "type_parameters_of_methods_with_super": """
        class A:
            def m[T](self, x: T) -> T:
                return x

        class B[T](A):
            def m[U](self, x: U, y: T = len("ab")) -> U:
                return super().m(x), y

            def __private[V](self, v: V):
                return v

            def call(self):
                return self.__private(abs(-1))

        def main():
            return B[int]().m(1), B().call(), B.m.__type_params__
    """,
}
