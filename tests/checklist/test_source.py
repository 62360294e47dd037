"""Checklist, S and R: the forms of source text, and syntax that needs care in rewriting.

The programs run plain, installed and inactive, after a context, and in contexts; their module level is also
executed in a context. S4 to S7 are also in `test_finder.py` and `test_odd_programs.py`.
"""

import ast
import importlib
import sys

import pytest
from helpers.contexts import ReadsArguments
from helpers.same_program import WAYS, assert_same, assert_same_when_imported_in

from cassette_import import Context, install
from cassette_import.contexts import Noop

PROGRAMS = {
    "S2_docstring_and_future_imports": '''
        """The docstring."""
        from __future__ import annotations
        from __future__ import generator_stop

        def f(x: int):
            return abs(x)

        def main():
            return __doc__, f(-1), f.__annotations__, f.__code__.co_flags, sorted(globals())
    ''',
    "S2_no_docstring_before_future_imports": """
        from __future__ import annotations

        "no docstring"

        def main():
            "The docstring of main."
            return __doc__, main.__doc__, len("a")
    """,
    "S2_decorated_functions_keep_their_first_line": """
        import functools

        def twice(g):
            @functools.wraps(g)
            def wrapper(*args):
                return g(*args) * 2
            return wrapper

        @twice
        @functools.lru_cache(
            maxsize=None,
        )
        def f(x):
            '''Doc.'''
            return abs(x)

        def main():
            return f(-1), f.__doc__, f.__wrapped__.__wrapped__.__code__.co_firstlineno, f.__code__.co_firstlineno
    """,
    "R1_annotations_are_left_alone": """
        from __future__ import annotations
        import typing

        def make(x):
            return int

        def define():
            def f(x: make(1) | None, *ys: list[make(2 + 3)]) -> make(3)[0]:
                z: make(4) = abs(x)
                return z

            class A:
                a: make(5)
                b: make("six") = 1

            return f, A

        def main():
            f, A = define()
            return f(-1), f.__annotations__, A.__annotations__
    """,
    "R1_annotations_that_are_evaluated": """
        import typing

        def make(x):
            return [int, str][x]

        def define():
            def f(x: make(0), y: "undefined" = 1) -> typing.Optional[make(1)]:
                z: undefined_too
                return abs(x)

            class A:
                a: make(1) = len("a")

            return f, A

        def main():
            f, A = define()
            return f(-1), f.__annotations__, A.__annotations__, typing.get_type_hints(A)
    """,
    "R2_walrus_in_comprehensions_and_conditions": """
        def f(x):
            return x * 2

        def main():
            last = [y := f(x) for x in (1, 2)]
            found = [z for x in (1, 2, 3) if (z := f(x)) > 2]
            while (n := f(y)) < 9:
                y = n
            return last, y, found, z, n, (lambda: (w := f(3)) + w)()
    """,
    "R2_comprehensions_in_class_bodies": """
        def f(x):
            return x * 2

        class A:
            items = [f(x) for x in range(3)]
            nested = [[f(y) for y in range(x)] for x in items]
            generated = list(f(x) for x in items if x)
            mapped = {f(x): (lambda v: f(v))(x) for x in items}

        def main():
            class B(A):
                own = [f(x) + y for x, y in zip(A.items, range(9))]
            return A.items, A.nested, A.generated, A.mapped, B.own, sorted(n for n in vars(A) if n[0] != "_")
    """,
    "R3_each_part_is_evaluated_once_and_in_order": """
        import io

        log = []

        def note(x, value=None):
            log.append(x)
            return value if value is not None else x

        class Stream:
            def __init__(self, text):
                self.file = io.BytesIO(text)

            @property
            def read(self):
                log.append("read")
                return self.file.read

        def show(*args, **kwargs):
            return args, kwargs

        def main():
            log.clear()
            stream = Stream(b"abcdef")
            found = stream.read(2).decode(), stream.read(2).decode().upper()
            items = iter(range(9))
            called = note("callee", show)(*[next(items), next(items)], note("a"), *note("splat", [1]), k=note("k"))
            sums = note(1) + note(2) * note(3) ** note(1) - note(4)
            d = {note("key"): note("value"), **note("more", {"x": 1})}
            return found, called, sums, d, log
    """,
    "R4_targets_of_assignments_and_deletions": """
        class Box:
            def __init__(self):
                self.items, self.a, self.log = [0, 1, 2], 1, []

        box = Box()

        def f(x):
            box.log.append(x)
            return box

        def main():
            f("store index").items[len("a")] = f("value").a
            f("store attribute").a = abs(-5)
            f("add attribute").a += abs(-1)
            f("add index").items[abs(-2)] += f("increment").a
            del f("delete index").items[abs(0)]
            f("other").b = 1
            del f("delete attribute").b
            (f("unpack").c, *f("rest").items), f("d").d = ([1, 2, 3], 4)
            for f("loop").e in (1, 2):
                pass
            with open(__file__) as f("with").file:
                box.file = box.file.name == __file__
            return vars(box)
    """,
    "R5_patterns_are_no_calls": """
        import enum

        class Colour(enum.Enum):
            RED = 1

        class Point:
            __match_args__ = ("x", "y")

            def __init__(self, x, y):
                self.x, self.y = abs(x), y

        def f(x):
            match x:
                case Point(0, y=0):
                    return "origin"
                case Point(x, y) if abs(y) > x:
                    return "steep", x
                case Point(x=x):
                    return "flat", x
                case [Colour.RED, -1, *rest] | (None, *rest):
                    return rest
                case {"k": int(v), **others}:
                    return v, others
                case str() as text:
                    return len(text)
                case 1 + 2j | True:
                    return "number"
            return "nothing"

        def main():
            xs = Point(0, 0), Point(1, -3), Point(5, 1), [Colour.RED, -1, 7], [None], {"k": 1, "l": 2}, "ab", 1 + 2j, 0
            return [f(x) for x in xs]
    """,
    "R6_super_stays_super": """
        class A:
            def m(self, x):
                return ["A", abs(x)]

            @classmethod
            def c(cls):
                return [cls.__name__]

            def __getattr__(self, name):
                return f"no {name}"

        class B(A):
            def m(self, x):
                return ["B", *super().m(x), *(lambda: super(B, self).m(x))(), __class__.__name__]

            @classmethod
            def c(cls):
                return [*super().c(), len("b")]

            def nested(self):
                def inner():
                    return super(__class__, self).m(-2)
                return inner(), [super(B, self).m(i) for i in (-1,)]

            def __init_subclass__(cls, **kwargs):
                super().__init_subclass__(**kwargs)
                cls.made = abs(-1)

        class C(B): ...

        def main():
            return B().m(-1), C().m(-1), C.c(), B().nested(), C.made, B().missing
    """,
    "R7_private_names_are_mangled_as_without_a_context": """
        class A:
            __slots__ = ("__x",)
            __shared = [len("a")]

            def __init__(self, __parameter=1):
                self.__x = abs(__parameter)

            def __private(self):
                return self.__x

            def m(self):
                __local = self.__private()
                def inner():
                    nonlocal __local
                    __local += self.__x
                    return __local
                return inner(), [__local for __i in self.__shared], sorted(locals())

            def errors(self):
                import os.path as __path
                try:
                    raise ValueError(__path.sep)
                except ValueError as __error:
                    return str(__error)

        def main():
            return A(-2).m(), A(_A__parameter=5)._A__private(), A().errors(), sorted(n for n in vars(A) if "_A" in n)
    """,
    "R8_await_yield_and_asynchronous_comprehensions": """
        import asyncio

        async def give(x):
            await asyncio.sleep(0)
            return abs(x)

        async def numbers(n):
            try:
                for i in range(n):
                    got = yield await give(i)
                    if got:
                        yield got
            finally:
                log.append("closed")

        log = []

        def delegate():
            got = yield from iter([len("a"), len("bc")])
            return (yield got)

        async def work():
            comprehension = [await give(x) async for x in numbers(2) if await give(x)]
            mapping = {x: [y async for y in numbers(x)] async for x in numbers(2)}
            generator = numbers(3)
            sent = [await generator.asend(None), await generator.asend(len("sent"))]
            await generator.aclose()
            return comprehension, mapping, sent, (await give(-1)) + await give(await give(-2))

        def main():
            log.clear()
            return asyncio.run(work()), list(delegate()), log
    """,
    "R9_namespaces_of_classes_get_no_names": """
        import enum

        class Strict(dict):
            def __setitem__(self, key, value):
                if key in self:
                    raise TypeError(f"{key} twice")
                super().__setitem__(key, value)

        class Meta(type):
            @classmethod
            def __prepare__(meta, name, bases, **kwargs):
                return Strict()

            def __new__(meta, name, bases, namespace, **kwargs):
                return super().__new__(meta, name, bases, dict(namespace))

        def define():
            class A(metaclass=Meta, option=len("o")):
                x = abs(-1)
                y = x + len("a")
                z = [x, *map(abs, (-1,))]
                def m(self):
                    return self.x

            class Colour(enum.Enum):
                RED = abs(-1)
                BLUE = RED + len("a")

            class Slots:
                __slots__ = tuple(f"s{i}" for i in range(abs(-2)))

            return A, Colour, Slots

        def main():
            A, Colour, Slots = define()
            return list(vars(A)), list(Colour), Slots.__slots__, A().m(), list(vars(Colour))
    """,
    "R10_decorators_run_in_order": """
        log = []

        def note(x):
            log.append(x)
            def decorate(g):
                log.append(f"{x} gets {g.__name__}")
                return g
            return decorate

        def main():
            log.clear()

            @note("outer")
            @(lambda g: note("middle")(g))
            @note("inner")
            def f(): ...

            @note("class")
            class A:
                @staticmethod
                @note("method")
                def m(): return abs(-1)

            return log, A.m(), f()
    """,
    "R11_f_strings": """
        def g(x, spec=">5"):
            return x * 2

        def main():
            width, x = 6, 3.14159
            return (
                f"{g(1)=}", f"{g( 2 ) = !r:>5}", f"{g('a')!r:>{g(3)}}", f"{x:{width}.{len('ab')}f}", f"{{{g(1)}}}",
                f"{g(1):{'>' + str(g(2))}}", f"{'n' if g(1) else 'm'}{g('ä')!a}", f"{x!s:^9}|{(lambda y: g(y))(2)}",
                f"a" "b" f"{g(1)}" rf"\\{g(1)}",
            )
    """,
    "R13_constants_and_conditions_of_the_compiler": """
        import typing

        if typing.TYPE_CHECKING:
            import nowhere

        def f():
            if __debug__:
                found = ["debug"]
            else:
                found = []
            if 0:
                found.append(undefined())
            while 1:
                break
            assert True, undefined()
            return found, 1 + 2, "a" * 3, -1, (1, 2)[0], not None, 2 ** 10

        def main():
            return f(), f()[1] is f()[1]
    """,
    "R14_parameters_of_any_name": """
        def g(f=1, self=2, *args, ctx=3, result=4, **kwargs):
            return f, self, args, ctx, result, kwargs

        class A:
            def m(this, self, f, context=None, *, function=0, exception=None):
                return self, f, context, function, exception

        def only(a, /, b, *, c, **a_too):
            return a, b, c, a_too

        def main():
            return (
                g(f=5, self=6, ctx=7, result=8, x=9, callee=1, args=2, kwargs=3, activation=4),
                A().m(self=1, f=2, context=3, function=4, exception=5),
                only(1, b=2, c=3, a=4, variant=5),
                dict(f=1, self=2, context=3),
                dict({"a": 1}, **{"self": 2, "function": 3}),
                "{self} {f}".format(self=1, f=2),
            )
    """,
    "R15_comments_of_tools_are_where_they_were": """
        import inspect

        def f(x):  # pragma: no cover
            y = x  # type: ignore[assignment]
            # noqa: E501
            return abs(y)  # fmt: skip

        def main():
            return f(-1), inspect.getsource(f), f.__code__.co_firstlineno
    """,
}
SINCE_3_12 = {
    "R2_type_parameters_and_aliases": """
        import typing

        def bound(x):
            return int

        def define():
            def f[T: bound(1), *Ts, **P](x: T) -> T:
                return abs(x)

            class A[T: (bound(1), str)](list[T]):
                def m[U](self, x: U) -> "tuple[T, U]":
                    return super().__len__(), x, [y for y in self]

            type Alias[T] = dict[str, bound(2) | T]
            return f, A, Alias

        def main():
            f, A, Alias = define()
            T = f.__type_params__[0]
            return f(-1), T.__bound__, A([1]).m(2), A.__type_params__[0].__constraints__, str(Alias.__value__), Alias
    """,
    "R11_nested_f_strings": """
        def g(x):
            return x * 2

        def main():
            return f"{f"{f"{g("a")}"}"}", f"{'\\n'.join(g(x) for x in "ab")}", f"{
                g(1)  # a comment
            }"
    """,
}
SINCE_3_14 = {
    "R1_annotations_in_every_format": """
        import annotationlib

        def make(x):
            return int

        def define():
            def f(x: make(1) | undefined, y: make(2)[0] = abs(-1)) -> "text":
                return abs(x)

            class A:
                a: make(1 + 2) | None
                b: undefined.attribute

            return f, A

        def main():
            f, A = define()
            f(-1)
            formats = annotationlib.Format.STRING, annotationlib.Format.FORWARDREF
            return [str(annotationlib.get_annotations(o, format=x)) for o in (f, A) for x in formats]
    """,
    "R11_template_strings": """
        def g(x):
            return x * 2

        def main():
            template = t"a {g(1)} b {g( 'c' )!r:>{g(2)}} {g(3) = }"
            parts = [(i.value, i.expression, i.conversion, i.format_spec) for i in template.interpolations]
            return template.strings, parts
    """,
}
if sys.version_info >= (3, 12):
    PROGRAMS |= SINCE_3_12
if sys.version_info >= (3, 14):
    PROGRAMS |= SINCE_3_14


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_is_what_it_was(program, way, make_package):
    assert_same(way, PROGRAMS[program], make_package)


@pytest.mark.parametrize("context_type", [Noop, ReadsArguments])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_whose_module_level_runs_in_a_context_is_what_it_was(program, context_type, make_package):
    assert_same_when_imported_in(context_type(), PROGRAMS[program], make_package)


SOURCES = {
    "S1_latin_1": "# coding: latin-1\ndef main():\n    return 'äöü', len('ß'), (lambda é: é)(1)\n".encode("latin-1"),
    "S1_byte_order_mark": b"\xef\xbb\xbf" + "def main():\n    return 'ä', len('ß')\n".encode(),
    "S1_carriage_returns": b"def main():\r\n    x = '''a\r\nb'''\r\n    return x, len(x)\r\n",
    "S1_old_carriage_returns": b"def main():\r    x = [\r 1]\r    return x, len(x)\r",
    "S1_form_feeds_and_tabs": b"\x0c\ndef main():\n\tx = 1\n\x0c\n\treturn len('a'), x\n\x0c",
    "S1_no_newline_at_the_end": b"def main():\n    return len('a') # end",
    "S3_docstring_and_one_function": b"'''Only a docstring.'''\ndef main(): return __doc__\n",
    "S3_function_without_anything": b"def main(): ...\n",
    "S3_function_with_a_docstring_only": b"def main():\n    '''Nothing else.'''\n",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("source", SOURCES)
def test_source_may_be_written_in_any_way(source, way, make_package, tmp_path):
    name = make_package("")
    (tmp_path / name / "__init__.py").write_bytes(SOURCES[source])
    importlib.invalidate_caches()
    expected = importlib.import_module(name).main()
    del sys.modules[name]
    main = importlib.import_module(name).main
    install([name])
    assert way(main) == expected


@pytest.mark.parametrize("text", ["", "\n", "# comment\n", "'''docstring'''\n", "pass\n"])
def test_S3_modules_without_functions_are_imported_in_a_context(text, make_package):
    name = make_package(text)
    plain = {key for key in vars(importlib.import_module(name)) if key != "__cached__"}
    del sys.modules[name]
    install([name])
    with ReadsArguments():
        assert {key for key in vars(importlib.import_module(name)) if key != "__cached__"} == plain


def test_S8_nothing_is_parsed_until_a_function_is_entered_in_a_context(make_package, monkeypatch):
    def refuse(*args, **kwargs):
        raise SystemError("parsed")

    name = make_package("def f(x):\n    return abs(x)\nfound = f(-1)\n")
    install([name])
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", refuse)
        module = importlib.import_module(name)
        assert module.f(-2) == 2
        with ReadsArguments():
            pass
    with ReadsArguments() as context:
        module.f(-3)
    assert context.seen == 1


def test_R10_decorators_are_events(make_package):
    seen = []

    class Seen(Context):
        def prehook(self, f, *args, **kwargs):
            seen.append(f.__name__)

    name = make_package("def deco(g):\n    return g\ndef main():\n    @deco\n    def f(): ...\n    return f\n")
    install([name])
    module = importlib.import_module(name)
    with Seen():
        module.main()
    assert seen == ["deco"]


def test_R12_nodes_are_found_by_their_positions(make_package):
    """A callee that asks `executing` for its call expression gets the same text with and without events."""
    executing = pytest.importorskip("executing")
    source = """
        import ast, sys

        def here(*args, **kwargs):
            frame = sys._getframe(1)
            node = find(frame).node
            return node and ast.unparse(node)

        class A:
            def m(self, x=0):
                return here()

            def __getitem__(self, key):
                return here(key)

        def main():
            a = A()
            found = [here(1), here( *[1] ), here(k=here(2)), [here(x) for x in (1,)], (here)(3), a.m()]
            if here(4) and (here(5), here(
                6,
            )):
                found.append(here(7) + here(8))
            return found, a[1], (lambda: here(9))(), [*map(str, [here(10)])]
    """
    name = make_package(source)
    module = importlib.import_module(name)
    module.find = executing.Source.executing
    expected = module.main()
    assert "here(*[1])" in expected[0]
    install([name])
    for context in (Noop(), ReadsArguments()):
        with context:
            assert module.main() == expected
