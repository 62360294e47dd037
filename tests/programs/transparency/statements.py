"""Statements and expressions: each of them keeps its semantics."""

PROGRAMS = {
    "targets_in_comprehensions": """
        class D(dict):
            def __setitem__(self, k, v):
                log.append(("set", k, v)); super().__setitem__(k, v)
        class O: pass
        log = []
        def main():
            log.clear()
            xs = [0, 0]; o = O(); d = D()
            a = [xs[0] + 1 for xs[0] in (3, 4, 5)]
            b = [o.x for o.x in "ab"]
            c = {k: d[k] for k, d[k] in [(1, 2), (3, 4)]}
            e = list((xs[1], *rest) for xs[1], *rest in [(1, 2, 3), (4, 5)])
            pairs = [(1, (2, (3, 4)))]
            f = [(x, y) for x in range(2) for d[x] in "ab" if d[x] > "a" for y, (o.y, [z, *xs[0:1]]) in pairs]
            g = lambda: [0 for xs[0] in range(2)]
            class A:
                v = [1]
                w = [q for v_ in [v] for v_[0] in (7, 8) for q in v_]
            try:
                [0 for xs[5] in (1,)]
            except IndexError as err:
                import traceback
                h = traceback.format_exc().splitlines()[-4:]
            return a, b, c, e, f, g(), A.w, log, h, xs, vars(o), [*("a" for o.x in [1])]
    """,
    "assignments_of_all_kinds": """
        log = []

        def note(x):
            log.append(x)
            return x

        class O:
            pass

        def main():
            o, d = O(), {}
            a = b = note(1)
            (c, [e, *f]), g = (note(2), [3, 4, 5]), note(6)
            d[note("k")] = o.x = note(7)
            d["k"] += note(8)
            o.x -= note(1)
            x: int = note(9)
            (y) = abs(-1)
            o.z: int = len("ab")
            d["new"], o.w = note(10), note(11)
            *h, = map(abs, [-1, -2])
            for d["loop"], o.loop in [(1, 2), (3, 4)]:
                pass
            with open(__file__) as o.stream:
                o.stream.close()
            return a, b, c, e, f, g, d, o.x, x, y, o.z, o.w, h, o.loop, log
    """,
    "order_of_assignments_to_subscripts_and_attributes": """
        log = []

        class Noisy:
            def __init__(self, name):
                object.__setattr__(self, "name", name)

            def __setitem__(self, k, v):
                log.append(("set", self.name, k, v))

            def __getitem__(self, k):
                log.append(("get", self.name, k))
                return 1

            def __delitem__(self, k):
                log.append(("del", self.name, k))

            def __setattr__(self, k, v):
                log.append(("setattr", self.name, k, v))

        def note(x):
            log.append(x)
            return x

        def noisy(name):
            log.append(name)
            return Noisy(name)

        def main():
            noisy("a")[note(1)] = note(2)
            noisy("b").x = note(3)
            noisy("c")[note(4)] += note(5)
            noisy("d")[note(6)], noisy("e")[note(7)] = note(8), note(9)
            noisy("f")[note(10):note(11), note(12)] = noisy("g")[note(13)] = note(14)
            del noisy("h")[note(15)], noisy("i")[note(16)]
            return [str(x) for x in log]
    """,
    "in_place_operators_fall_back": """
        class Plain:
            def __init__(self, v):
                self.v = v

            def __add__(self, other):
                return Plain(self.v + other)

            def __repr__(self):
                return f"Plain({self.v})"

        class Declines(Plain):
            def __iadd__(self, other):
                return NotImplemented

        def main():
            a = b = Plain(1)
            a += 5
            c = Declines(1)
            c += 2
            xs = ys = [1]
            xs += (2,)
            t = u = (1,)
            t += (2,)
            s = "a"
            s += "b"
            return a, b, c, xs, ys is xs, t, u, s
    """,
    "famous_tuple": """
        def main():
            t = ([],)
            try:
                t[0] += [1]
            except TypeError as error:
                return t, str(error)
    """,
    "chained_comparisons": """
        log = []

        def note(x):
            log.append(x)
            return x

        class Truthy:
            def __init__(self, value):
                self.value = value

            def __lt__(self, other):
                log.append(("lt", self.value))
                return Truthy(self.value)

            def __bool__(self):
                log.append(("bool", self.value))
                return self.value

        def main():
            t, f = Truthy(True), Truthy(False)
            return (
                note(1) < note(2) < note(3),
                note(3) < note(2) < note(1),
                note(1) < note(2) > note(0) != note(5) == note(5),
                (t < t < t).value,
                (f < t < t).value,
                1 in [1] is not None,
                1 < 2 in [2] not in [[3]],
                not 1 < 2 < 3,
                log,
            )
    """,
    "boolean_operators_give_operands": """
        log = []

        def note(x):
            log.append(x)
            return x

        def main():
            return (
                note(0) or note("") or note([]),
                note(1) and note(2) and note(0) and note(3),
                note(1) or note(9),
                not note(0),
                (note(0) and note(1)) or note(2),
                log,
            )
    """,
    "conditional_expressions_evaluate_one_branch": """
        log = []

        def note(x):
            log.append(x)
            return x

        def main():
            return (
                note("yes") if note(True) else note("no"),
                note("a") if note(0) else note("b") if note(1) else 3,
                log,
            )
    """,
    "loops_with_else_break_and_continue": """
        def find(xs, x):
            for i, y in enumerate(xs):
                if y == x:
                    break
                elif y is None:
                    continue
            else:
                return -1
            return i

        def halve(n):
            steps = 0
            while n > 1:
                n //= 2
                steps += 1
                if steps > 10:
                    break
            else:
                return steps
            return None

        def main():
            return find([1, None, 3], 3), find([], 1), halve(100), halve(10**9)
    """,
    "pattern_matching": """
        import dataclasses, enum

        class Color(enum.Enum):
            RED = 1

        @dataclasses.dataclass
        class Point:
            x: int
            y: int = 0

        class Limits:
            LOW = 5

        def kind(value):
            match value:
                case -1 | -2.5:
                    return "negative literal"
                case 1 + 2j:
                    return "complex"
                case Limits.LOW:
                    return "dotted"
                case Color.RED:
                    return "enum"
                case True | None:
                    return "singleton"
                case int(n) if abs(n) > 100:
                    return "large", n
                case int() | float():
                    return "number"
                case "ab":
                    return "joined"
                case str(s) if s.startswith("x") and len(s) < 3:
                    return "x-string"
                case Point(x=0, y=0):
                    return "origin"
                case Point(x, y=yy) if x == yy:
                    return "diagonal", x
                case Point():
                    return "point"
                case []:
                    return "empty"
                case [first, *rest] if first == 0:
                    return "starts with zero", rest
                case (Point() as p, _):
                    return "pair", p
                case {"type": "circle", "r": float() | int() as r, **others}:
                    return "circle", r, sorted(others)
                case {}:
                    return "mapping"
                case _:
                    return "else"

        def main():
            return [
                kind(v)
                for v in (
                    -1,
                    -2.5,
                    1 + 2j,
                    5,
                    Color.RED,
                    True,
                    None,
                    101,
                    7,
                    2.0,
                    "ab",
                    "x1",
                    "xyz",
                    Point(0),
                    Point(3, 3),
                    Point(1, 2),
                    [],
                    [0, 1, 2],
                    (Point(1), 2),
                    {"type": "circle", "r": 2, "c": 3},
                    {},
                    {1},
                    [1],
                )
            ]
    """,
    "subjects_and_guards_are_evaluated_once": """
        log = []

        def note(x):
            log.append(x)
            return x

        def main():
            match note([1, note(2)]):
                case [a] if note("never"):
                    pass
                case [a, b] if note(False):
                    pass
                case [a, b] if note("yes"):
                    return a, b, log
    """,
    "f_strings": """
        def f(x):
            return x

        class A:
            def __str__(self):
                return "str"

            def __repr__(self):
                return "repr"

            def __format__(self, spec):
                return f"<{spec}>"

        def main():
            a, width, value = A(), 10, 3.14159
            return (
                f"{f(1)} {f('x')!r:>5} {a} {a!s} {a!r} {a:spec} {value:{width}.{f(2)}f}",
                f"{f(1) + 1=} {a=} {f(2)= }",
                f"{{{f(1)}}}" f"{'nested'!r:{'>'}{f(12)}}",
                f"{f(1):>{f(3)}}|{[x for x in range(f(2))]}",
                f"{(lambda x: x + 1)(1)} {1 if f(0) else 2} {f(1) < f(2) < f(3)}",
            )
    """,
    "walrus": """
        def f(x):
            return x

        def main():
            if (n := f(3)) > 2 and (m := n + 1):
                pass
            found = [y for x in range(5) if (y := f(x) * 2) > 4]
            while (n := n - 1) > 0:
                pass
            return n, m, found, y, (z := abs(-1)) + z, f(w := 5), w
    """,
    "star_expressions": """
        def f(*args, **kwargs):
            return args, kwargs

        def main():
            a, d = [1, 2], {"x": 1}
            return (
                [*a, 3, *map(abs, [-4])],
                (*a,),
                {*a, *a},
                {**d, "y": 2, **dict(z=3)},
                f(*a, *a, **d, **{"y": 2}),
                [*range(2)][0],
            )
    """,
    "displays_and_slices": """
        log = []

        def note(x):
            log.append(x)
            return x

        class S:
            def __getitem__(self, key):
                return key

        def main():
            s = S()
            return (
                {note("k"): note("v"), note("k2"): note("v2")},
                {note(1), note(1)},
                [note(2), note(3)],
                (note(4),),
                s[note(1) : note(2) : note(3)],
                s[:],
                s[1:, ..., None],
                s[()],
                s[1, *[2, 3]],
                s[note(5),],
                log,
            )
    """,
    "lambdas_and_defaults": """
        def main():
            fs = [lambda x, i=i, *a, k=abs(-i), **kw: (x, i, a, k, kw) for i in range(2)]
            return (
                [f(9) for f in fs],
                fs[0](1, 2, 3, k=4, z=5),
                (lambda: (yield))().send(None),
                (lambda *a: a)(*[1]),
            )
    """,
    "constant_conditions_and_dead_code": """
        import typing

        def f():
            if 0:
                unknown()
            if typing.TYPE_CHECKING:
                import nothing_of_that_name
            while False:
                unknown()
            if __debug__:
                x = abs(-1)
            return x
            unknown()

        def main():
            return f(), 1 + 2 * 3, "a" "b" * 2, -5, not None, 2**10, (1, 2) + (3,), "abc"[1], 1_000, 0x10
    """,
    "arithmetic_of_literals_and_big_numbers": """
        def main():
            x = 10**30
            return (
                -x,
                ~x,
                x // 7,
                x % 7,
                x << 3,
                x >> 3,
                x & 255,
                x | 1,
                x ^ x,
                +x,
                2**-1,
                (-8) ** 2,
                -(8**2),
                7 // -2,
                -7 % 3,
                1e308 * 10,
            )
    """,
    "identity_of_singletons_and_results": """
        def main():
            a = []
            return (
                a is a,
                a is not [],
                None is None,
                (a or None) is a,
                [a][0] is a,
                {"k": a}["k"] is a,
                (a,)[0] is a,
                not a is a,
            )
    """,
    "number_types_are_kept": """
        import decimal, fractions

        def main():
            return (
                [
                    type(x).__name__
                    for x in (
                        True + True,
                        True & False,
                        True ^ 1,
                        -True,
                        not 0,
                        1 / 1,
                        2 // 1.0,
                        3 % 2.0,
                        1j * 1j,
                        2**-1,
                        decimal.Decimal(1) + 1,
                        fractions.Fraction(1, 2) * 2,
                        abs(-1.0),
                        round(2.5),
                        divmod(7, 2),
                        sum([0.1] * 3),
                    )
                ],
                sum([0.1] * 3),
                0.1 + 0.2,
                float("nan") != float("nan"),
            )
    """,
    "global_names_shadow_builtins_in_the_middle_of_a_run": """
        def f(x):
            return abs(x)

        def main():
            before = f(-1)
            globals()["abs"] = lambda x: "shadowed"
            during = f(-1)
            del globals()["abs"]
            return before, during, f(-1)
    """,
    "sorting_and_searching": """
        import bisect, heapq, operator

        class V:
            def __init__(self, x):
                self.x = x

            def __lt__(self, other):
                return self.x < other.x

            def __repr__(self):
                return f"V{self.x}"

        def main():
            vs = [V(3), V(1), V(2)]
            heap = list(vs)
            heapq.heapify(heap)
            return (
                sorted(vs),
                sorted(vs, reverse=True),
                min(vs),
                max(vs, key=lambda v: -v.x),
                heap[0],
                bisect.bisect([1, 3, 5], 4),
                sorted("bca", key=operator.neg if False else None),
                sorted(vs, key=lambda v: (v.x % 2, v.x)),
                list(zip(*[[1, 2], [3, 4]])),
                dict(sorted({"b": 1, "a": 2}.items())),
            )
    """,
    "lines_joined_by_semicolons_and_backslashes": """
        def f(x): y = abs(x); return y + 1

        def g(x):
            if x: return f(x) + \\
                f(x); z = 1
            return 0

        def main(): return f(-1), g(2), g(0), (lambda: f(3))()
    """,
    "tabs_and_form_feeds_and_comments": (
        "def f(x):\n\t# comment\n\tif x:\n\t\treturn abs(x)  # more\n\treturn 0\n"
        "\x0c\ndef main():\n\treturn f(-1), f(0)\n"
    ),
    "a_program_with_everything_nested": """
        def outer(a):
            class Inner:
                factor = a * 2

                def method(self, b):
                    def deep(c):
                        nonlocal b
                        b += c
                        return [self.factor + b + d + a for d in range(2) if (lambda e: e < 1)(d)]

                    return deep(b)[0], b

                @staticmethod
                def twice(f):
                    return lambda *args, **kwargs: f(f(*args, **kwargs))

            return Inner

        def main():
            Inner = outer(3)
            return Inner().method(4), Inner.twice(lambda x: x + Inner.factor)(1)
    """,
}
