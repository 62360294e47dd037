"""Programs that inspect their variables and names, for contexts that tag the values of these."""

PROGRAMS = {
    "frames_seen_by_special_methods": """
        import sys, functools
        def who():
            return [sys._getframe(i).f_code.co_name for i in (1, 2, 3)]
        seen = []
        class A:
            def __iter__(self):
                seen.append(who())
                return iter([1])
            def __add__(self, o):
                seen.append(who())
                return 1
            def __radd__(self, o):
                seen.append(who())
                return 1
            def __lt__(self, o):
                seen.append(who())
                return True
            def __gt__(self, o):
                seen.append(who())
                return True
            def __eq__(self, o):
                seen.append(who())
                return True
            def __hash__(self):
                seen.append(who())
                return 1
            def __len__(self):
                return 1
            def __getitem__(self, k):
                seen.append(who())
                return 1
            def __setitem__(self, k, v):
                seen.append(who())
            def __delitem__(self, k):
                seen.append(who())
            def __contains__(self, k):
                seen.append(who())
                return True
            def __str__(self):
                seen.append(who())
                return "a"
            def __format__(self, s):
                seen.append(who())
                return "a"
            def __index__(self):
                seen.append(who())
                return 0
            def __int__(self):
                seen.append(who())
                return 0
            def __call__(self, *a):
                seen.append(who())
                return 0
            def __getattr__(self, n):
                seen.append(who() + [n])
                return 0
            def __setattr__(self, n, v):
                seen.append(who() + [n])
            def __delattr__(self, n):
                seen.append(who() + [n])
            def __enter__(self):
                seen.append(who())
                return self
            def __exit__(self, *a):
                seen.append(who())
            def __copy__(self):
                seen.append(who())
                return self
            def __bool__(self):
                seen.append(who())
                return True
            def __neg__(self):
                seen.append(who())
                return 1
            def __iadd__(self, o):
                seen.append(who())
                return self
            def __next__(self):
                seen.append(who())
                raise StopIteration
            def __reversed__(self):
                seen.append(who())
                return iter([])
            def __round__(self, n=None):
                seen.append(who())
                return 1
            def keys(self):
                seen.append(who())
                return ["a"]
            @property
            def p(self):
                seen.append(who())
                return 1
            @p.setter
            def p(self, v):
                seen.append(who())
            @classmethod
            def c(cls, x):
                seen.append(who())
        class D:
            def __get__(self, o, t):
                seen.append(who())
                return 1
            def __set__(self, o, v):
                seen.append(who())
            def __set_name__(self, o, n):
                seen.append([n])
        class B:
            d = D()
            def __init__(self, x):
                seen.append(who())
                self.d = x
                self.e = self.d
            def __new__(cls, x):
                seen.append(who())
                return super().__new__(cls)
            def __init_subclass__(cls, **k):
                seen.append(who())
        def f(a, x, k):
            for q in a:
                pass
            [q for q in a]
            [*a]
            k(*a)
            (u,) = a
            list(a)
            set(a)
            sorted(a)
            max(a)
            zip(a)
            dict.fromkeys(a)
            "".join(["a"])
            sum(a)
            map(k, a)
            [].extend(a)
            l = []
            l += a
            a + x
            x + a
            a < x
            x < a
            a == x
            x == a
            {a: 1}[a]
            {a}
            [a].index(x)
            x in [a]
            a[x]
            a[x] = x
            del a[x]
            x in a
            str(a)
            f"{a}{a!s}"
            "%s" % a
            format(a)
            [1][a]
            int(a)
            a(x)
            k(*[x])
            a.z
            a.z = x
            del a.z
            getattr(a, "zz")
            setattr(a, "zz", x)
            a.p
            a.p = x
            a.c(x)
            with a as b:
                pass
            import copy
            copy.copy(a)
            -a
            not a
            bool(a)
            b += x
            next(a, 1)
            reversed(a)
            round(a)
            dict(a)
            k(**a)
            {**a}
            {}.update(a)
            range(a)
            functools.reduce(a, [1, 2])
            functools.partial(a, x)()
            sorted([1, 2], key=a)
            min([a, a])
            isinstance(a, B)
            B(x)
            hasattr(a, "y")
            iter(a)
            len(a)
            enumerate(a)
            abs(x)
            [a, a].sort()
            [a].count(x)
            [a].remove(x)
            {a: x}.get(a)
            {a: x}.pop(a)
            {a: x}.setdefault(a, x)
            {a}.add(a)
            {a} | {x}
            {a}.discard(x)
            (a,) == (x,)
            [a] < [x]
            a if a else x
            a and x
            while_(a)
            class E(B):
                pass
            return len(seen)
        def while_(a):
            while a:
                break
            assert a
        def main():
            seen.clear()
            n = f(A(), 3, lambda *a, **k: 0)
            return sorted(set(map(tuple, seen)))
    """,
    "annotations": """
        import typing

        def make(kind, text):
            def inner(x: kind, *, y: text = text) -> kind:
                return x

            z: kind = 3

            class C:
                a: kind
                b: text = 1

            return (
                inner.__annotations__,
                C.__annotations__,
                [type(v) for v in (*inner.__annotations__.values(), *C.__annotations__.values())],
                typing.get_type_hints(inner),
            )

        def main():
            return make(typing.Optional[int], "int")
    """,
    "asynchronous_protocols": """
        import asyncio, contextlib

        class It:
            def __init__(self, n):
                self.n = n

            def __aiter__(self):
                return self

            async def __anext__(self):
                if self.n == 0:
                    raise StopAsyncIteration
                self.n -= 1
                return self.n

            async def __aenter__(self):
                return self

            async def __aexit__(self, *a):
                return True

        async def loop(it):
            out = []
            async for x in it:
                out.append(x)
            return out

        async def comp(it):
            return [x async for x in it if x], {x: 1 async for x in it}

        async def gen(n):
            for i in range(n):
                got = yield i

        async def wait(task):
            return await task

        async def block(m):
            async with m as x:
                raise ValueError(m)
            return x is m

        async def bad(v):
            try:
                async for x in v:
                    pass
            except TypeError as e:
                return str(e)

        async def gather(*tasks, f=asyncio.gather):
            return await f(*tasks), await asyncio.wait_for(wait(asyncio.sleep(0, 4)), 2)

        async def aw(v):
            try:
                await v
            except TypeError as e:
                return str(e)

        async def ex(stack, m):
            async with stack as s:
                await s.enter_async_context(m)
            return 1

        @contextlib.asynccontextmanager
        async def cm(v):
            yield v

        async def usecm(v):
            async with cm(v) as x:
                return x is v, x

        async def go():
            return [
                await loop(It(3)),
                await comp(It(3)),
                await loop(gen(3)),
                await wait(asyncio.ensure_future(loop(It(1)))),
                await block(It(1)),
                await bad(3),
                await gather(loop(It(2)), wait(loop(gen(1)))),
                await aw(3),
                await ex(contextlib.AsyncExitStack(), It(1)),
                await usecm([3]),
                await anext(It(3)),
                await anext(gen(2), 5),
            ]

        def main():
            return asyncio.run(go())
    """,
    "closures_and_globals": """
        G = 1

        def counter(n):
            def add(k):
                nonlocal n
                n += k
                return n

            return add

        def setg(v):
            global G, H
            G = v
            H = [v]
            G += 1

        def deld(x):
            del x
            try:
                x
            except UnboundLocalError as e:
                return str(e)

        def walrus(xs):
            return [y := x for x in xs], y, (z := xs), z

        def main():
            c = counter(1)
            setg(5)
            import sys

            return (
                c(2),
                c(3),
                c.__closure__[0].cell_contents,
                type(c.__closure__[0].cell_contents),
                G,
                H,
                type(vars(sys.modules[__name__])["G"]),
                deld(2),
                walrus([1, 2]),
            )
    """,
    "delegating_to_iterators": """
        import traceback

        def inner(n):
            try:
                got = yield n
                yield got
            except ValueError as e:
                yield "caught", e.args
            return "end"

        def outer(g):
            r = yield from g
            yield r

        def show(g, o):
            return g.gi_yieldfrom is o

        def main():
            i = inner(3)
            g = outer(i)
            a = [next(g), show(g, i), g.throw(ValueError(3)), next(g)]
            h = outer(inner(1))
            a += [next(h), h.send("x"), next(h)]
            k = outer([1, 2])
            a += [next(k), next(k), next(k)]
            try:
                next(outer(3))
            except TypeError as e:
                a.append(str(e))
            return a
    """,
    "exceptions_that_are_caught": """
        def run(kinds, f):
            try:
                f()
            except kinds as error:
                return type(error).__name__

        def group(kinds):
            try:
                raise ExceptionGroup("g", [KeyError(1)])
            except* kinds as error:
                r = len(error.exceptions)
            return r

        def main():
            return (
                run((KeyError, ValueError), lambda: {}[1]),
                run((ValueError, KeyError), lambda: {}[1]),
                group((KeyError,)),
            )
    """,
    "frames_read_by_an_argument": """
        import sys

        def names(get):
            frame, found = get(), []
            while frame is not None and frame.f_globals is globals():
                found.append(frame.f_code.co_name)
                frame = frame.f_back
            return found, get(0).f_code.co_name, get(1).f_code.co_name

        def main():
            try:
                sys._getframe(-1), names(3)
            except TypeError as error:
                text = str(error)
            return names(sys._getframe), text
    """,
    "names_of_classes": """
        class Entries:
            def __init__(self, base):
                self.base = base

            def __mro_entries__(self, bases):
                return (self.base,)

        class Base:
            def __init_subclass__(cls, flag=None, **kw):
                cls.flag = flag

        def make(entries, flag, bases, default, deco, kw):
            class C(entries, *bases, flag=flag, **kw):
                a = default
                b: int = default
                for i in default:
                    pass
                if w := default:
                    pass
                with deco as m:
                    pass
                (x, *y) = default
                z = y
                u = default
                u += [1]
                s = [default for _ in range(2)]

                @deco.mark
                def method(self, v=default):
                    return v

                def other(self, n: default) -> flag:
                    return n

                del z

            return C

        class Deco:
            def mark(self, f):
                return f

            def __enter__(self):
                return self

            def __exit__(self, *a):
                pass

        def keep(x):
            return x

        def props(doc):
            class P:
                @property
                def x(self):
                    return doc

                @keep
                def y(self):
                    return doc

                @staticmethod
                def z(q=doc):
                    return q

                k = keep(doc)

            return P

        def types_of(ns):
            return sorted(
                (k, type(v).__name__, repr(v)[:20] if not callable(v) and not hasattr(v, "__objclass__") else "")
                for k, v in ns.items()
                if k not in ("__dict__", "__weakref__", "__module__", "x", "__static_attributes__", "__firstlineno__")
            )

        import types

        def check(C):
            for k, v in vars(C).items():
                yield k, object.__getattribute__(v, "__class__") if not isinstance(v, type) else type

        def main():
            d = [1, 2, 3]
            C = make(Entries(Base), {"f": 1}, (), d, Deco(), {})
            P = props("doc")
            return (
                types_of(vars(C)),
                C.flag,
                C.other.__annotations__,
                C.__dict__["method"](0),
                C.method.__defaults__,
                types_of(vars(P)),
                P().x,
                P().y(),
                P.z(),
                P.k,
            )
    """,
    "names_of_modules": """
        def keep(x):
            return x

        @keep
        def f(x):
            return x

        @keep
        class C:
            @keep
            def m(self):
                return 1

            if True:

                @keep
                def n(self):
                    return 2

                a = keep([1])
            b, *c = keep((1, 2, 3))
            (d := keep([3]))
            for e in keep([1, 2]):
                pass
            with open(keep("/dev/null")) as g:
                pass
            h = i = keep(3)
            j = k if (k := keep(None)) else keep([2])
            l = [keep(2)]
            l += keep([3])
            o = 0
            o += keep(5)
            p, q = keep(1), keep(2)
            [r, (s, t)] = keep([1, (2, 3)])
            import os as u

            try:
                raise keep(ValueError(1))
            except Exception as v:
                w = v

        x = keep([1])
        (y := keep([2]))
        for z in keep([[1], [2]]):
            pass
        with open(keep("/dev/null")) as g:
            pass
        g = None
        b, *c = keep(([1], 2, 3))
        o = 0
        o += keep(5)

        def inside(v):
            global late

            @keep
            def late():
                return v

            return late

        def kinds(ns):
            import types

            for k, v in sorted(ns.items()):
                if not k.startswith("__"):
                    yield k, repr(v)[:30] if not callable(v) else v.__qualname__

        def check(f):
            return f

        import gc

        def main():
            inside(3)
            a = [C().m(), C().n(), f(1), late()]
            return a, list(kinds(vars(C))), list(kinds(globals()))
    """,
    "variables_as_a_dict": """
        def f(x, y, *rest, **kw):
            z = x
            return locals()

        def g(x, name="n"):
            return "%(x)s %(name)s" % locals(), "{x}".format(**locals()), sorted(locals())

        def h(x):
            return eval("x"), eval("x is None"), eval("type(x)"), eval("[x]"), vars()

        def k(x):
            ns = {}
            exec("z = [y]", {"y": x}, ns)
            return ns

        def main():
            x = f(1, 2, 3, k=4)
            d = k(1)
            return x, [type(v) for v in x.values()], g(2), h(None), h(2), d, type(d["z"][0])
    """,
    "variables_that_eval_sees": """
        def f(x, y, *rest, **kw):
            z = x
            return locals()

        def h(x):
            a = eval("x"), eval("x is None"), eval("type(x)"), eval("[x]"), [type(v) for v in vars().values()]
            exec("q = [x]")
            return a, locals().get("q"), eval("a[0] is x")

        def sh(x, eval, locals):
            return eval("x"), locals()

        def nested(x):
            def inner(y):
                return eval("y"), eval("y is None"), x

            return (
                inner(x),
                [eval("i is None") for i in [x]],
                (lambda q: eval("q is None"))(x),
                list(eval("i is None") for i in [x]),
            )

        def gen(x):
            yield eval("x is None")

        def d(x):
            return dir(), dir(x) == dir(None)

        def fmt(x):
            import json

            return (
                json.dumps(locals(), default=str),
                eval("__name__") == __name__,
                eval("x", {"x": 7}),
                eval("x", globals(), {"x": 9}),
            )

        def main():
            g = gen(None)
            a = [f(1, 2, 3, k=4), h(None), h(2), sh(1, str, dict), nested(None), next(g), d(None), fmt(1)]
            a += [type(v) for v in a[0].values()]
            return a
    """,
}
