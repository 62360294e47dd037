"""What other tools read of functions, classes and modules: source, signature, pickles, annotations."""

PROGRAMS = {
    "source_of_functions_classes_and_lambdas": '''
        import inspect

        def f(x,   y = 2):  # a comment
            """Docstring."""
            return abs(x) + y   # another


        class A:
            def m(self):
                return max(1, 2)

        double = lambda x: abs(x) * 2

        def main():
            f(1), A().m(), double(1)
            return (
                inspect.getsource(f), inspect.getsource(A), inspect.getsource(A.m), inspect.getsource(double),
                inspect.getsourcelines(f)[1], inspect.getsourcelines(A.m)[1], inspect.getcomments(f),
                inspect.getsource(inspect.getmodule(f))[:20],
            )
    ''',
    "source_of_closures_generators_and_decorated_functions": """
        import functools, inspect

        def deco(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)

            return wrapper

        @deco
        def decorated(x):
            return abs(x)

        def make():
            def closure(x):
                return abs(x)

            return closure

        def generator():
            yield abs(-1)

        def main():
            closure = make()
            closure(1), decorated(1), list(generator())
            return (
                inspect.getsource(closure), inspect.getsource(decorated), inspect.getsource(generator),
                inspect.unwrap(decorated).__code__.co_firstlineno,
            )
    """,
    "signatures": """
        import functools, inspect

        def f(a, b=abs(-2), /, c: int = 3, *args: str, d, e=5, **kwargs) -> float:
            return abs(a)

        class A:
            def __init__(self, x, *, y=1):
                self.x = abs(x)

            def m(self, z="z"):
                return len(z)

            @classmethod
            def c(cls, w): ...

            @staticmethod
            def s(v=None): ...

            def __call__(self, u): ...

        def main():
            f(1, d=2), A(1).m()
            objects = f, A, A.m, A(1).m, functools.partial(f, 1, d=2), functools.partial(A.m, z=1), A.c, A.s, A(1), (
                lambda x, *y, z=1: abs(x)
            )
            return [str(inspect.signature(o)) for o in objects], inspect.getfullargspec(f), inspect.getcallargs(
                f, 1, 2, 3, 4, d=5, z=6
            ), inspect.signature(f).bind(1, d=2).arguments, f.__defaults__, f.__kwdefaults__
    """,
    "attributes_of_functions": '''
        def f(x: int, *, y=1) -> str:
            """The docstring of f."""
            return abs(x)

        f.mark = "kept"

        def main():
            f(1)
            return (
                f.__name__, f.__qualname__, f.__module__, f.__doc__, f.__annotations__, f.__defaults__,
                f.__kwdefaults__, f.__dict__, f.__closure__, f.__globals__ is globals(),
            )
    ''',
    "attributes_of_code": """
        def f(x, /, y, *args, z, **kwargs):
            a = abs(x)
            return a

        def make():
            free = 1

            def closure():
                return abs(free)

            return closure

        def main():
            closure = make()
            f(1, 2, z=3), closure()
            c = f.__code__
            return (
                c.co_name,
                c.co_qualname,
                c.co_firstlineno,
                c.co_argcount,
                c.co_posonlyargcount,
                c.co_kwonlyargcount,
                c.co_flags,
                c.co_freevars,
                c.co_cellvars,
                c.co_filename == __file__,
                closure.__code__.co_freevars,
                c.co_varnames[: c.co_argcount + c.co_kwonlyargcount + 2],
            )
    """,
    "docstrings": '''
        """Docstring of the module."""

        def f():
            """Docstring of f."""
            return abs(-1)

        def only():
            """Only a docstring."""

        def raw():
            r"""Raw \\d."""
            return len("a")

        def joined():
            "one " "two"
            return len("a")

        def no_docstring():
            f"{1}"
            return len("a")

        def bytes_are_none():
            b"bytes"
            return len("a")

        class A:
            """Docstring of A."""

            def m(self):
                """Docstring of m."""
                return abs(-1)

            @property
            def p(self):
                """Docstring of p."""
                return abs(-1)

        async def coroutine():
            """Docstring of the coroutine."""
            return abs(-1)

        def generator():
            """Docstring of the generator."""
            yield abs(-1)

        def main():
            f(), raw(), joined(), A().m(), A().p, only(), no_docstring(), bytes_are_none(), list(generator())
            functions = f, only, raw, joined, no_docstring, bytes_are_none, A, A.m, A.p, coroutine, generator
            return __doc__, [g.__doc__ for g in functions]
    ''',
    "annotations": """
        import typing

        def f(x: int, *args: "str", y: list[int] = None, **kwargs: typing.Any) -> typing.Optional[float]:
            z: int = abs(x)
            w: undefined_name
            return z

        class A:
            a: int = len("ab")
            b: "A"
            c: typing.ClassVar[int] = 3

        value: int = abs(-5)

        def main():
            return (
                f(-1),
                f.__annotations__,
                A.__annotations__,
                typing.get_type_hints(f),
                A.a,
                value,
                __annotations__,
            )
    """,
    "annotations_as_strings": """
        from __future__ import annotations
        import typing

        def make(x):
            return int

        def f(x: make(1) | None, y: list[make(2 + 3)] = ()) -> make(3)[0]:
            z: make(4) = abs(x)
            return z

        class A:
            a: make(5)
            b: int = len("ab")

        def main():
            return f(-1), f.__annotations__, A.__annotations__
    """,
    "pickles_and_copies": """
        import copy, pickle

        def f(x):
            return abs(x)

        class A:
            def __init__(self, x):
                self.x = f(x)

            def __eq__(self, other):
                return self.x == other.x

            def m(self):
                return self.x

            @classmethod
            def c(cls):
                return cls.__name__

        class State:
            def __init__(self, x):
                self.x = abs(x)
                self.cache = len("cache")

            def __getstate__(self):
                return {"x": self.x}

            def __setstate__(self, state):
                self.__dict__.update(state, cache=None)

        class Reduced:
            def __init__(self, x):
                self.x = abs(x)

            def __reduce__(self):
                return Reduced, (-self.x,)

        def again(x):
            return pickle.loads(pickle.dumps(x))

        def main():
            a = A(-1)
            return (
                again(f) is f,
                again(A) is A,
                again(a) == a,
                again(a.m)(),
                again(A.c)(),
                vars(again(State(-3))),
                again(Reduced(-2)).x,
                copy.copy(f) is f,
                copy.deepcopy([a, f])[0] == a,
                pickle.dumps(f),
                pickle.dumps(a),
                pickle.dumps(a.m),
            )
    """,
    "what_cannot_be_pickled": """
        import copy, pickle

        def make():
            def closure():
                return abs(-1)
            return closure

        def attempt(x):
            try:
                pickle.dumps(x)
            except Exception as error:
                return type(error).__name__
            return "pickled"

        def main():
            closure = make()
            closure()
            function = copy.deepcopy(closure) is closure is copy.copy(closure)
            return attempt(closure), attempt(lambda: abs(1)), attempt(x for x in [1]), attempt(make.__code__), function
    """,
    "module_level_getattr_and_dir": """
        import sys

        def __getattr__(name):
            if name == "lazy":
                return abs(-42)
            raise AttributeError(f"no {name}")

        def __dir__():
            return ["a", "b"]

        def main():
            module = sys.modules[__name__]
            try:
                module.missing
            except AttributeError as error:
                return module.lazy, dir(module), str(error)
    """,
    "type_hints_and_overloads": """
        import typing

        @typing.overload
        def f(x: int) -> int: ...
        @typing.overload
        def f(x: str) -> str: ...
        def f(x):
            return abs(x) if isinstance(x, int) else x.upper()

        @typing.final
        class A:
            def m(self) -> typing.Self:
                return typing.cast(A, self)

        def main():
            return (
                f(-1),
                f("a"),
                len(typing.get_overloads(f)),
                isinstance(A().m(), A),
                typing.get_type_hints(A.m),
            )
    """,
    "doctests": """
        import contextlib, doctest, io, sys

        def f(x):
            '''
            >>> f(-1)
            1
            >>> f(2)
            3
            >>> f(None)
            Traceback (most recent call last):
                ...
            TypeError: bad operand type for abs(): 'NoneType'
            '''
            return abs(x)

        class A:
            def m(self):
                '''
                >>> A().m()
                [1, 2]
                '''
                return [abs(x) for x in (-1, 2)]

        def main():
            f(1), A().m()
            with contextlib.redirect_stdout(io.StringIO()) as said:
                result = doctest.testmod(sys.modules[__name__], verbose=True)
            return result, said.getvalue().replace(__file__, "FILE")
    """,
    "mocks_patch_functions_and_methods": """
        from unittest import mock

        class A:
            def m(self, x):
                return helper(x) + len(open(__file__).name[:1])

        def helper(x):
            return abs(x)

        def main():
            before = helper(-1)
            with mock.patch(f"{__name__}.helper", return_value=40) as mocked:
                with mock.patch("builtins.open", mock.mock_open(read_data="")) as opened:
                    opened.return_value.name = "name"
                    during = A().m(-2)
            with mock.patch.object(A, "m", autospec=True, side_effect=lambda self, x: x * 2) as method:
                patched = A().m(4)
            spec = mock.create_autospec(helper)
            try:
                spec(1, 2)
            except TypeError as error:
                text = str(error)
            return before, during, mocked.call_args_list, opened.call_count, patched, method.call_count, text
    """,
    "constants_are_the_same_objects_in_each_call": """
        import sys

        def f():
            return (1, 2, 3), "interned", 3.14, frozenset({1}), b"x", ..., None

        def main():
            return f(), f()[0] is f()[0], f()[1] is sys.intern("interned")
    """,
    "modules_can_be_reloaded": """
        import importlib, sys

        counter = globals().get("counter", 0) + 1

        def f(x):
            return abs(x) + counter

        def main():
            before = f(-1)
            old = f
            module = importlib.reload(sys.modules[__name__])
            return before, module.f(-1), old(-1), module is sys.modules[__name__]
    """,
}
