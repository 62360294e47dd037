"""Tools that inspect functions, classes and frames: inspect, dis, doctest, typing, warnings, logging, mocks."""

PROGRAMS = {
    "inspect_getsource": """
        import functools, inspect

        def decorated(g):
            @functools.wraps(g)
            def wrapper(*args):
                return g(*args)
            return wrapper

        @decorated
        def f(x):
            # a comment
            return abs(x)

        class A:
            def m(self):
                return [len(x) for x in ("a", "b")]

            @property
            def p(self):
                return len("p")

        square = lambda x: x * x

        def main():
            f(-1), A().m(), A().p, square(2)
            objects = f, f.__wrapped__, A, A.m, A().m, A.p.fget, square
            return [inspect.getsource(o) for o in objects], [inspect.getsourcelines(o)[1] for o in objects], [
                inspect.getsourcefile(o) == inspect.getfile(o) == __file__ for o in objects
            ], [inspect.getmodule(o).__name__ for o in objects], inspect.getcomments(f), inspect.getdoc(A.m)
    """,
    "inspect_getclosurevars": """
        import inspect

        scale = 3

        def make(free):
            def closure(x):
                return abs(x) * free + scale + len(undefined if x > 99 else "a")
            return closure

        def main():
            closure = make(2)
            closure(1), closure(2)
            return inspect.getclosurevars(closure), inspect.getclosurevars(make)
    """,
    "inspect_getclosurevars_of_the_program": """
        import inspect

        scale = 3

        def make(free):
            def closure(x):
                return abs(x) * free + scale + len(undefined if x > 99 else "a")
            return closure

        def main():
            closure = make(2)
            closure(1), closure(2)
            found = inspect.getclosurevars(closure)
            builtins = {name for name in found.builtins if name.isidentifier()}
            return found.nonlocals, found.globals, sorted(builtins), "undefined" in found.unbound
    """,
    "inspect_getmembers": """
        import inspect, sys

        class Base:
            shared = 1

            def m(self):
                return len("m")

        class A(Base):
            @property
            def p(self):
                return self.m()

            @staticmethod
            def s():
                return abs(-1)

            @classmethod
            def c(cls):
                return cls.__name__

        def f():
            return A().p, A.s(), A.c()

        def main():
            f()
            members = [name for name, _ in inspect.getmembers(A)]
            kinds = [(a.name, a.kind, a.defining_class.__name__) for a in inspect.classify_class_attrs(A)]
            functions = inspect.getmembers(sys.modules[__name__], inspect.isfunction)
            own = [name for name, _ in inspect.getmembers(f)]
            static = type(inspect.getattr_static(A, "s")).__name__, type(inspect.getattr_static(A(), "p")).__name__
            return members, kinds, [name for name, _ in functions], own, static, sorted(vars(sys.modules[__name__]))
    """,
    "inspect_members_of_code": """
        import inspect

        def f(x):
            return abs(x) + len("a")

        def main():
            f(1)
            return inspect.iscode(f.__code__), dir(f.__code__), inspect.getsource(f.__code__), inspect.getblock(["f()"])
    """,
    "inspect_stack_and_trace": """
        import inspect, sys

        def here():
            return [(i.function, i.lineno, i.code_context, i.index) for i in inspect.stack() if i.filename == __file__]

        class A:
            def m(self, x):
                return [here() for _ in range(1)], here(*[]), sorted([1], key=lambda _: len(here())), here()

        def fail(x):
            return len(A().m(x)) + int("x")

        def main():
            stacks = A().m(abs(-1))
            try:
                fail(1)
            except ValueError:
                trace = [(i.function, i.lineno, i.code_context) for i in inspect.trace() if i.filename == __file__]
            frame = inspect.currentframe()
            return stacks, trace, inspect.getframeinfo(frame)[1:4], inspect.getargvalues(frame).args
    """,
    "inspect_generators_and_coroutines": """
        import inspect

        def numbers(n):
            for i in range(n):
                yield abs(i)

        async def wait():
            return len("a")

        async def many():
            yield abs(1)

        def main():
            g, c = numbers(2), wait()
            states = [inspect.getgeneratorstate(g)]
            next(g)
            states += [inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_frame.f_lineno]
            list(g)
            states += [inspect.getgeneratorstate(g), inspect.getcoroutinestate(c)]
            c.close()
            kinds = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction
            return states, [[kind(f) for kind in kinds] for f in (numbers, wait, many)], g.__name__, c.__qualname__
    """,
    "dis_dis": """
        import dis, io

        def f(x):
            return abs(x) + 1

        def main():
            f(1)
            text = io.StringIO()
            dis.dis(f, file=text)
            return text.getvalue()
    """,
    "dis_finds_lines": """
        import dis

        def f(x):
            y = abs(x)
            return y + 1

        def main():
            f(1)
            lines = {line for _, line in dis.findlinestarts(f.__code__)}
            return sorted(lines - {f.__code__.co_firstlineno, None}), f.__code__.co_firstlineno
    """,
    "typing_get_type_hints": """
        import dataclasses, typing

        T = typing.TypeVar("T")

        class A(typing.Generic[T]):
            x: "list[T]"

            def m(self: "A[T]", y: "int | None" = None) -> "T":
                return abs(1)

        @dataclasses.dataclass
        class D:
            a: "int" = abs(-1)

        def f(x: "A[int]", *ys: int) -> typing.Iterator["str"]:
            return [str(y) for y in ys]

        def main():
            f(A(), 1), A().m(), D()
            return [typing.get_type_hints(o) for o in (A, A.m, D, f)], f.__annotations__, A.__parameters__
    """,
    "warnings_stacklevel": """
        import warnings

        def warn(level):
            warnings.warn(f"level {level}", DeprecationWarning, stacklevel=level)

        class A:
            def m(self, level):
                return [warn(level) for _ in range(1)], warn(*[level]), warn(level=level)

        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for level in (1, 2, 3):
                    A().m(level)
                list(map(warn, [2]))
            return [(str(w.message), w.lineno, w.filename == __file__) for w in caught if w.filename == __file__]
    """,
    "functools_singledispatch": """
        import functools

        @functools.singledispatch
        def show(x):
            return f"object {len(str(x))}"

        @show.register
        def _(x: int):
            return f"int {abs(x)}"

        @show.register(list)
        def _(x):
            return [show(item) for item in x]

        class A:
            @functools.singledispatchmethod
            def m(self, x):
                return len(str(x))

            @m.register
            def _(self, x: int):
                return abs(x)

            @functools.cached_property
            def once(self):
                return len("once")

        def main():
            a = A()
            return show([1, "a", [2.0]]), a.m(-1), a.m("abc"), a.once, vars(a), sorted(
                kind.__name__ for kind in show.registry
            ), show.dispatch(bool).__name__
    """,
}
