"""Pickle and copy: everything that can be pickled without cassette_import can be pickled, to the same bytes."""

_AGAIN = """
        import copy, dataclasses, enum, functools, pickle, typing
        from collections import namedtuple

        def again(x):
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                yield pickle.loads(pickle.dumps(x, protocol))
            yield copy.copy(x)
            yield copy.deepcopy(x)

        def bytes_of(x):
            return [pickle.dumps(x, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
"""

_BODIES = {
    "functions_and_classes": """
        def f(x):
            return abs(x)

        class A:
            class Inner:
                def m(self):
                    return len("m")

            def m(self):
                return f(-1)

            @staticmethod
            def s():
                return abs(-2)

        def main():
            f(1), A().m(), A.Inner().m(), A.s()
            things = f, A, A.Inner, A.m, A.s, A.Inner.m
            return [[found is thing for found in again(thing)] for thing in things], list(map(bytes_of, things))
    """,
    "bound_methods": """
        class A:
            def __init__(self, x):
                self.x = abs(x)

            def m(self, y):
                return self.x + y

            @classmethod
            def c(cls, y):
                return cls.__name__, abs(y)

        def main():
            a = A(-1)
            return [m(2) for m in again(a.m)], [m(2) for m in again(a.c)], bytes_of(a.m), bytes_of(A.c), [
                m.__self__ is a for m in again(a.m)
            ]
    """,
    "partial_objects": """
        def f(x, y, *, z=0):
            return abs(x) + y + z

        def main():
            p = functools.partial(f, -1, z=3)
            p.mark = "kept"
            p(1)
            return [(g(2), g.func is f, g.args, g.keywords, g.mark) for g in again(p)], bytes_of(p), p(2)
    """,
    "instances_of_all_kinds": """
        class Plain:
            def __init__(self, x):
                self.x = abs(x)

        class Slots:
            __slots__ = ("x",)

            def __init__(self, x):
                self.x = abs(x)

        class State(Plain):
            def __getstate__(self):
                return {"x": self.x + 1}

            def __setstate__(self, state):
                self.x = abs(state["x"])

        class New(int):
            def __new__(cls, x, y=0):
                self = super().__new__(cls, abs(x))
                self.y = y
                return self

            def __getnewargs__(self):
                return int(self), self.y

        class Copied(Plain):
            def __copy__(self):
                return Copied(self.x + 10)

            def __deepcopy__(self, memo):
                return Copied(self.x + len(memo))

        def main():
            instances = Plain(-1), Slots(-2), State(-3), New(-4, 5), Copied(-6)
            return [[getattr(i, "x", i) for i in again(one)] for one in instances], list(map(bytes_of, instances))
    """,
    "exceptions": """
        class Own(Exception):
            def __init__(self, x, *, y=1):
                super().__init__(x)
                self.y = abs(y)

        def fail(x):
            raise Own(x, y=-2)

        def main():
            try:
                fail(1)
            except Own as error:
                caught = error
            caught.add_note("note")
            return [(str(e), e.y, e.args, e.__notes__, type(e) is Own) for e in again(caught)], bytes_of(caught)
    """,
    "enums_and_flags": """
        class Colour(enum.Enum):
            RED = abs(-1)
            BLUE = 2

            def describe(self):
                return self.name.lower()

        class Right(enum.Flag):
            READ = enum.auto()
            WRITE = enum.auto()

        Made = enum.Enum("Made", ["A", "B"])

        def main():
            things = Colour.RED, Right.READ | Right.WRITE, Made.B
            return [[found is thing for found in again(thing)] for thing in things], list(
                map(bytes_of, things)
            ), Colour.RED.describe(), list(Colour), Made.__module__ == __name__
    """,
    "dataclasses": """
        @dataclasses.dataclass(order=True)
        class Point:
            x: int
            y: int = 0
            tags: list = dataclasses.field(default_factory=list, compare=False)

            def __post_init__(self):
                self.x = abs(self.x)

        @dataclasses.dataclass(frozen=True, slots=True)
        class Frozen:
            x: int

            def m(self):
                return self.x + len("m")

        def main():
            p, f = Point(-1, tags=["a"]), Frozen(2)
            return list(again(p)), list(again(f)), bytes_of(p), bytes_of(f), dataclasses.replace(
                p, x=-5
            ), dataclasses.asdict(p), f.m(), Point(1) < Point(2)
    """,
    "named_tuples_and_typing": """
        Pair = namedtuple("Pair", "a b", defaults=[abs(-1)])
        T = typing.TypeVar("T")
        UserId = typing.NewType("UserId", int)

        class Named(typing.NamedTuple):
            a: int
            b: int = 2

            def total(self):
                return sum(self)

        def made():
            return namedtuple("Inside", "x")

        def main():
            things = Pair(1), Named(3), T, UserId, Pair, Named
            return [[found == thing for found in again(thing)] for thing in things], list(
                map(bytes_of, things)
            ), Named(1).total(), Pair.__module__ == made().__module__ == T.__module__ == UserId.__module__ == __name__
    """,
}

PROGRAMS = {f"pickle_and_copy_{name}": _AGAIN.rstrip(" ") + body for name, body in _BODIES.items()}
