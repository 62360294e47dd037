"""Programs that inspect their arguments, for contexts that tag these."""

PROGRAMS = {
    "containers_that_have_methods_of_the_program": """
        import copy, collections

        log = []

        class L(list):
            def __len__(self):
                return list.__len__(self) * 2

            def __iter__(self):
                log.append("iter")
                return iter([7, 8])

            def __getitem__(self, k):
                log.append("get")
                return k if isinstance(k, str) else super().__getitem__(k)

            def __setitem__(self, k, v):
                log.append("set")
                if not isinstance(k, str):
                    super().__setitem__(k, v)

            def __delitem__(self, k):
                log.append("del")
                if not isinstance(k, str):
                    super().__delitem__(k)

            def __contains__(self, k):
                log.append("in")
                return True

            def __eq__(self, o):
                log.append("eq")
                return True

            __hash__ = None

            def append(self, v):
                log.append("append")
                super().append(v)

            def extend(self, v):
                log.append("extend")
                super().extend(v)

            def pop(self, *a):
                log.append("pop")
                return super().pop(*a)

        class T(tuple):
            def __new__(cls, *a):
                return super().__new__(cls, a)

            def __len__(self):
                return 9

            def __iter__(self):
                log.append("iter")
                return iter((1,))

            def __getitem__(self, k):
                log.append("get")
                return k if isinstance(k, str) else super().__getitem__(k)

            def __getattr__(self, n):
                log.append("attr")
                return n

        class D(dict):
            def __getitem__(self, k):
                log.append("get")
                return super().__getitem__(k)

            def __setitem__(self, k, v):
                log.append("set")
                super().__setitem__(k.lower(), v)

            def __missing__(self, k):
                log.append("missing")
                return k

            def __iter__(self):
                log.append("iter")
                return super().__iter__()

            def __contains__(self, k):
                log.append("in")
                return super().__contains__(k.lower())

            def get(self, k, d=None):
                log.append("get_")
                return super().get(k.lower(), d)

            def keys(self):
                log.append("keys")
                return super().keys()

            def items(self):
                log.append("items")
                return super().items()

            def values(self):
                log.append("values")
                return [1]

            def __len__(self):
                return super().__len__()

            def update(self, *a, **k):
                log.append("update")
                super().update(*a, **k)

            def setdefault(self, k, d=None):
                log.append("default")
                return super().setdefault(k, d)

        class S(set):
            def __contains__(self, k):
                log.append("in")
                return super().__contains__(k)

            def add(self, k):
                log.append("add")
                super().add(k)

            def __iter__(self):
                log.append("iter")
                return super().__iter__()

            def __len__(self):
                return super().__len__()

            def __or__(self, o):
                log.append("or")
                return super().__or__(o)

        def note():
            r = list(log)
            log.clear()
            return r

        def lists(x, y):
            keep = [x, y]
            l = L([x, y])
            a = note()
            l.append(x)
            l[0] = x
            l["a"] = x
            b = l["a"], l[0], l[-1], l[0:2], note()
            del l["a"]
            del l[0]
            c = note()
            d = len(l), x in l, l == [1], note()
            e = [*l], list(l), tuple(l), sorted(l), max(l), note()
            l.extend([x])
            l += [y]
            f = l.pop(), note()
            g = l.index(x), l.count(y), note()
            h = l + [x], [x] + l, l * 2, note()
            l.insert(0, x)
            l.reverse()
            l.sort()
            i = note()
            j = copy.copy(l), copy.deepcopy(l), l.copy(), note()
            (p, q) = l
            m = p, q, note()
            l.remove(x)
            n = repr(l), note(), list.__len__(l)
            return a, b, c, d, e, f, g, h, i, j, m, n, keep

        def tuples(x, y):
            keep = [x, y]
            t = T(x, y)
            return (
                t["a"],
                t[0],
                t[-1],
                t[0:1],
                t.name,
                note(),
                list(t),
                len(t),
                t + (x,),
                sorted(t),
                note(),
                [*t],
                note(),
                dict([(1, 2)]),
                copy.copy(t) is t,
                note(),
                keep,
            )

        def dicts(x, y):
            keep = [x, y]
            d = D({"a": x})
            a = note()
            d["B"] = y
            b = d["b"], d["zz"], note()
            c = d.get("A"), d.get("Q", x), "B" in d, note()
            e = list(d), list(d.items()), list(d.values()), note()
            d.update({"c": x}, e=y)
            f = note()
            g = dict(d), {**d}, note()
            h = d.setdefault("c", 1), d.pop("c"), note(), len(d), note()
            i = copy.copy(d), dict.copy(d), d | {"q": x}, note()
            j = repr(d), note(), d == {"a": x}, note()
            del d["a"]
            k = d.popitem(), note()
            return a, b, c, e, f, g, h, i, j, k, keep

        def sets(x, y):
            keep = [x, y]
            s = S([x, y])
            a = note()
            s.add(x)
            b = x in s, note()
            c = sorted(s), len(s), s | {3}, {3} | s, note()
            s.update([x])
            s |= {y}
            s.discard(y)
            d = s.pop(), note()
            return a, b, c, d, keep

        def main():
            return *lists(1000, 2000), *tuples(1000, 2000), *dicts([1], [2]), *sets(1000, 2000)
    """,
    "containers_that_are_filled_until_an_error": """
        class It:
            def __init__(self):
                self.n = 0

            def __iter__(self):
                return self

            def __next__(self):
                self.n += 1
                if self.n > 2:
                    raise ValueError
                return self.n

        def two(it):
            out = []
            try:
                for x in it:
                    out.append(x)
            except ValueError:
                out.append("end")
            return out

        def three(xs):
            out = []
            try:
                out.extend(xs)
            except ValueError:
                pass
            return out

        def gen(n):
            yield 1
            yield 2
            raise ValueError(n)

        def four(n):
            out = []
            for f in (out.extend, out.__iadd__):
                try:
                    f(gen(3))
                except ValueError:
                    pass
            try:
                out += gen(2)
            except ValueError:
                pass
            return out

        def five(n):
            d, s = {}, set()
            try:
                d.update((x, x) for x in gen(n))
            except ValueError:
                pass
            try:
                s.update(gen(n))
            except ValueError:
                pass
            try:
                s |= {4}
                s.update([5], gen(n))
            except ValueError:
                pass
            out = [9]
            try:
                out[:] = gen(n)
            except ValueError:
                pass
            return d, s, out

        def main():
            return two(It()), three(It()), three(gen(2)), four(1), five(1)
    """,
    "arguments_of_exceptions": """
        def fail(error, cause):
            raise error from cause

        def fail2(a):
            raise ValueError(a, [a], {"k": a})

        class E(Exception):
            def __init__(self, a, b=None):
                self.a = a
                super().__init__(a, b)

        def main():
            out = []
            for f in (
                lambda: fail(ValueError(1), None),
                lambda: fail(KeyError, TypeError(2)),
                lambda: fail2(4),
                lambda: fail(E(1, 2), None),
                lambda: fail(3, None),
            ):
                try:
                    f()
                except Exception as e:
                    out.append((type(e), [type(x) for x in e.args], e.args, e.__cause__, type(e.__cause__)))
            return out
    """,
    "copies_and_serialised_objects": """
        import copy, pickle, json, dataclasses, collections, functools, operator, struct

        @dataclasses.dataclass(order=True, frozen=True)
        class D:
            a: int
            b: list = dataclasses.field(default_factory=list)

            def up(self, n):
                return dataclasses.replace(self, a=self.a + n)

        N = collections.namedtuple("N", "x y")

        class S:
            __slots__ = ("a", "b")

            def __init__(self, a, b):
                self.a, self.b = a, b

            def __reduce__(self):
                return S, (self.a, self.b)

            def __eq__(self, o):
                return isinstance(o, S) and (self.a, self.b) == (o.a, o.b)

            def __hash__(self):
                return hash((self.a, self.b))

            def __lt__(self, o):
                return self.a < o.a

        def f(x, xs, d):
            D1 = D(x, xs)
            n = N(x, y=xs)
            s = S(x, "b")
            return (
                D1,
                D1.up(x),
                D(x) < D(2 * x),
                hash(D(x, ())),
                dataclasses.asdict(D1),
                dataclasses.astuple(D1),
                n,
                n._replace(x=2),
                n._asdict(),
                pickle.loads(pickle.dumps((n, s))) == (n, s) if True else 0,
                copy.copy(s) == s,
                copy.deepcopy([s, d])[0] == s,
                json.dumps({"a": x, "l": xs, **d}, sort_keys=True),
                {s: x}[s],
                sorted([s, S(0, 1)])[0].a,
                struct.pack("i", x),
                functools.reduce(operator.add, xs),
                functools.partial(f2, x)(y=xs),
                collections.Counter(xs)[x],
                collections.ChainMap(d, {"z": x})["z"],
                collections.OrderedDict(a=x),
                collections.defaultdict(list, a=xs),
                list(collections.deque(xs, maxlen=x)),
            )

        def f2(x, y):
            return x, y

        def main():
            return f(1, [1, 2, 3], {"q": 4})
    """,
    "formatted_text": """
        import string, decimal

        class F:
            def __format__(self, spec):
                return f"<{spec}>"

            def __str__(self):
                return "str"

            def __repr__(self):
                return "repr"

        def f(x, w, o, t):
            return (
                f"{x:>{w}}|{x!r:>{w}}|{o}|{o!s}|{o!r:{w}}|{o:{t}}",
                t % x,
                t % (x,),
                "{:{}}".format(x, w),
                "{0.real}".format(x),
                format(x, "03"),
                "%s %r" % (o, o),
                str(o),
                repr(o),
                "%(a)s" % {"a": x},
                t.join([t, t]),
                string.Template("$a").substitute(a=x),
                str.format("{}", x),
                f"{x=}",
                f"{t!a}",
                type(f"{t}"),
                f"{t}" is t,
            )

        def main():
            return f(3, 5, F(), "%d")
    """,
    "identity_and_equality": """
        def f(x, y, z, t):
            d = {x: y, "k": x}
            s = {x, y}
            return (
                x is y,
                x is z,
                x is not z,
                y == z,
                x in [z],
                x in d,
                x in s,
                id(x) == id(z),
                hash(x) == hash(z),
                type(x) is type(z),
                isinstance(x, int),
                x is t[0],
                t[0] is x,
                d["k"] is x,
                [x][0] is z,
                (lambda: x)() is z,
                not x,
                bool(x),
                callable(x),
                hasattr(x, "real"),
                list(s),
                sorted([y, x]),
                [x, y].index(z),
                [x, y].count(x),
                x.__class__,
                x.__class__ is int,
                vars(t[1])["a"] is x if False else 0,
                issubclass(type(x), int),
                x.__eq__(z),
                x.__add__(1),
                int.__add__(x, 1),
                x.real is x,
                operator_is(x, z),
            )

        import operator

        def operator_is(a, b):
            return (
                operator.is_(a, b),
                operator.is_not(a, b),
                operator.eq(a, b),
                operator.contains([a], b),
                operator.index(a),
                operator.truth(a),
            )

        def main():
            a = 1000
            return f(a, 2000, a, [a, lambda: 1])
    """,
    "iterators_of_all_kinds": """
        import itertools, functools

        def f(xs, n, g, key):
            return (
                list(zip(xs, xs)),
                list(enumerate(xs, n)),
                list(map(key, xs)),
                list(filter(key, xs)),
                list(filter(None, xs)),
                list(itertools.chain(xs, xs)),
                list(itertools.islice(xs, n)),
                list(itertools.islice(g(), 0, n)),
                list(itertools.groupby(xs, key)) and [(k, list(v)) for k, v in itertools.groupby(xs, key)],
                list(itertools.accumulate(xs)),
                list(itertools.accumulate(xs, max)),
                list(itertools.accumulate(xs, initial=n)),
                list(itertools.product(xs, repeat=n)),
                list(itertools.combinations(xs, n)),
                list(itertools.permutations(xs, n)),
                list(itertools.repeat(n, n)),
                list(itertools.starmap(pow, zip(xs, xs))),
                list(itertools.takewhile(key, xs)),
                list(itertools.tee(xs, n)[0]),
                list(itertools.zip_longest(xs, [1], fillvalue=n)),
                list(itertools.cycle([])),
                sum(xs),
                sum(xs, n),
                max(xs),
                max(xs, key=key),
                min(xs, default=n),
                max([], default=n),
                sorted(xs, key=key, reverse=True),
                any(xs),
                all(xs),
                list(reversed(xs)),
                next(iter(xs)),
                next(iter([]), n),
                list(iter(iter(xs).__next__, n)),
                functools.reduce(lambda a, b: a + b, xs, n),
                list(range(n)),
                dict.fromkeys(xs, n),
                set(xs),
                frozenset(xs),
                tuple(xs),
                bytes(xs),
                bytearray(xs),
                list(itertools.count(n).__next__() for _ in range(2)),
                itertools.chain.from_iterable([xs]).__next__(),
                list(itertools.pairwise(xs)),
                [*itertools.compress(xs, [1, 0, 1])],
                list(itertools.filterfalse(key, xs)),
                list(itertools.dropwhile(key, xs)),
            )

        def main():
            return f([1, 2, 3], 2, lambda: iter([5, 6, 7]), lambda v: v % 2)
    """,
    "messages_of_assertions": """
        def check(x, message):
            try:
                assert x == 2, message
            except AssertionError as error:
                return type(error.args[0]), error.args

        def main():
            return check(1, "text"), check(1, [1])
    """,
    "messages_of_errors": """
        def t(f, *a):
            try:
                return f(*a)
            except Exception as e:
                return (
                    type(e).__name__,
                    str(e),
                    [type(x).__name__ for x in e.args],
                    getattr(e, "name", 0),
                    type(getattr(e, "obj", 0)).__name__,
                )

        def main():
            return [
                t(lambda x, y: x + y, 1, "a"),
                t(lambda x: x.foo, 3),
                t(lambda x: x(), 3),
                t(lambda x: x[0], 3),
                t(lambda d, k: d[k], {}, "k"),
                t(lambda l, i: l[i], [], 3),
                t(lambda x: -x, "a"),
                t(lambda x: x < None, 3),
                t(lambda x: len(x), 3),
                t(lambda x: iter(x), 3),
                t(lambda x: next(x), 3),
                t(lambda x: int(x), "a"),
                t(lambda x: {x: 1}, []),
                t(lambda x: {x}, []),
                t(lambda x, **k: x, 1, 2),
                t(lambda x: x(1, 2), lambda: 1),
                t(lambda x: x(a=2), len),
                t(lambda x: "%d" % x, "a"),
                t(lambda x: setattr(x, "a", 1), 3),
                t(lambda x: x.__setitem__(1, 1), ()),
                t(lambda x: x.update(3), {}),
                t(lambda x: [].extend(x), 3),
                t(lambda x: sum([x]), "a"),
                t(lambda x: "".join(x), [1]),
                t(lambda x: isinstance(1, x), 3),
                t(lambda x: x in 3, 3),
                t(lambda x: 3 in x, 3),
                t(lambda x: exec(x), 3),
                t(lambda x: open(x), "/nonexistent"),
                t(lambda x: [][x], "a"),
                t(lambda x: [].pop(x), 0),
                t(lambda x: {}.pop(x), 0),
                t(lambda x: next(iter(x)), []),
                t(lambda x: f"{x:d}", "a"),
                t(lambda x: float(x), "a"),
                t(lambda x: x @ x, 3),
                t(lambda x: abs(x), "a"),
                t(lambda x: max(x), []),
                t(lambda x: dict(x), [1]),
                t(lambda x: zip(x), 3),
                t(lambda x: map(x), 3),
                t(lambda x: list(map(x, [1])), 3),
                t(lambda x: sorted(x), [1, "a"]),
                t(lambda x: x.__getattr__, 3),
                t(lambda x: super(int, x).foo, 3),
                t(lambda x: getattr(3, x), 3),
                t(lambda x: range(x), "a"),
                t(lambda x: slice(x).indices(3), "a"),
                t(lambda x: ([1, 2, 3])[x:], "a"),
                t(lambda x: print(file=x), 3),
            ]
    """,
    "methods_of_all_kinds": """
        class A:
            v = 1

            def __init__(self, x):
                self.x = x

            def m(self, y):
                return self, y

            @classmethod
            def c(cls, y):
                return cls, y

            @staticmethod
            def s(y):
                return y

            @property
            def p(self):
                return self.x

            @p.setter
            def p(self, v):
                self.x = v

            def __call__(self, z):
                return z

            def __getattr__(self, n):
                if n.startswith("dyn"):
                    return n
                raise AttributeError(n)

            def __setattr__(self, n, v):
                object.__setattr__(self, n, v)

            def __contains__(self, v):
                return v == 1

            def __iter__(self):
                return iter([self.x])

            def __len__(self):
                return 3

            def __add__(self, o):
                return ("add", o)

            def __radd__(self, o):
                return ("radd", o)

            def __eq__(self, o):
                return self is o

            def __hash__(self):
                return 5

            def __bool__(self):
                return False

            def __index__(self):
                return 2

            def __enter__(self):
                return self

            def __exit__(self, *a):
                return True

            def __getitem__(self, k):
                return k

            def __lt__(self, o):
                return NotImplemented

        class B(A):
            def m(self, y):
                return super().m(y)

            def __init__(self, x):
                super(B, self).__init__(x)

            @classmethod
            def c(cls, y):
                return super().c(y)

        def f(a, o, n, cls):
            m = a.m
            a.p = o
            out = [
                m(o)[0] is a,
                m.__self__ is a,
                a.c(o),
                a.s(o),
                a.p is o,
                a(o),
                a.dyn,
                getattr(a, n, o),
                o in a,
                list(a),
                len(a),
                a + o,
                o + a,
                a == a,
                a == o,
                hash(a),
                bool(a),
                [1, 2, 3][a],
                a[o],
                {a: 1}[a],
                type(a).m(a, o)[1],
                A.m(a, o)[0] is a,
                cls(o).x,
                isinstance(a, cls),
                a.__class__,
                vars(a),
                a.__dict__ is vars(a),
                dir(a) == dir(a),
                callable(a),
                "%d" % len(a),
                range(10)[a:],
                m == a.m,
                m.__func__ is type(a).m,
                hasattr(a, n),
                setattr(a, n, o),
                getattr(a, n),
                delattr(a, n),
                hasattr(a, n),
                iter(a).__next__(),
                sorted([a], key=lambda q: q.x)[0] is a,
            ]
            with a as b:
                raise ValueError
            out.append(b is a)
            try:
                a < o
            except TypeError as e:
                out.append(str(e))
            try:
                a.nope
            except AttributeError as e:
                out.append((str(e), type(e.obj), e.name, e.args))
            return out

        def main():
            return f(A(1), 3, "zz", A), f(B(1), 3, "zz", B)
    """,
    "patterns": """
        class P:
            __match_args__ = ("x", "y")

            def __init__(self, x, y):
                self.x = x
                self.y = y

        def f(v, K):
            match v:
                case {"a": a, **rest}:
                    return "map", a, rest
                case [x, *y] if x > 1:
                    return "seq", x, y
                case P(x=1, y=z):
                    return "cls", z
                case P(a, b):
                    return "pos", a, b
                case str() as s:
                    return "str", s
                case None:
                    return "none"
                case K.c:
                    return "value"
                case int(n) | float(n):
                    return "num", n
                case _:
                    return "other", v

        class K:
            c = 77

        def main():
            return [
                f(v, K()) for v in ({"a": 1, "b": 2}, [2, 3], P(1, 2), P(3, 4), "s", None, 77, 3, 2.5, (1,), b"x")
            ]
    """,
    "slices": """
        KS = []

        class S:
            def __getitem__(self, k):
                KS.append(k)
                return k, type(k)

            def __setitem__(self, k, v):
                self.k = k, v

            def __delitem__(self, k):
                self.d = k

        def f(s, a, b, xs):
            s[a:b] = xs
            del s[a:b:1]
            k = s[a:b]
            e = s[a:b, ..., a]
            sl = slice(a, b)
            return (
                k,
                e,
                s.k,
                s.d,
                type(k[0].start),
                xs[a:b],
                xs[sl],
                type(sl.start),
                [type(v) for v in e[0]],
                type(e[0][0].stop),
                "abc"[a:b],
                range(10)[a:b],
                memoryview(b"abc")[a:b].tobytes(),
            )

        def main():
            return f(S(), 1, 3, [1, 2, 3, 4])
    """,
    "what_is_unpacked": """
        def one(v):
            try:
                a, b = v
                return a, b
            except Exception as e:
                return type(e).__name__, str(e)

        def two(v):
            try:
                a, *b = v
                return a, b
            except Exception as e:
                return type(e).__name__, str(e)

        def three(v):
            try:
                return [*v], len({*v}), (*v,), one(v), max(*v)
            except Exception as e:
                return type(e).__name__, str(e)

        def four(v):
            try:
                for (a, b), c in v:
                    pass
                return a, b, c
            except Exception as e:
                return type(e).__name__, str(e)

        def five(v):
            try:
                return {**v}, dict(**v)
            except Exception as e:
                return type(e).__name__, str(e)

        def ident(*a):
            return a

        def six(t):
            return ident(*t) is t, (*t,) is t

        def seven(v):
            try:
                for x in v:
                    pass
                return [x for x in v]
            except Exception as e:
                return type(e).__name__, str(e)

        def eight(v):
            try:
                return ident(*v), ident(1, *v)
            except Exception as e:
                return type(e).__name__, str(e)

        def main():
            vs = [
                3,
                None,
                (1, 2),
                [1, 2, 3],
                "ab",
                "abc",
                {"a": 1, "b": 2},
                {1, 2},
                (x for x in (1,)),
                object,
                [((1, 2), 3)],
                [(1, 2)],
                iter([1, 2]),
            ]
            return [
                *[
                    (f.__name__, v if not hasattr(v, "__next__") else 0, f(v))
                    for f in (one, two, three, four, five, seven, eight)
                    for v in vs
                ],
                six((1, 2)),
                six(()),
            ]
    """,
}
