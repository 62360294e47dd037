from __future__ import annotations
import inspect, typing, functools


def f(a: int, /, b: "str" = "x" * 2, *args: list[int], c: typing.Optional[int] = None, **kw: dict) -> bool:
    """doc
    more"""

    def g(x: A) -> Undefined:
        return x + 1

    return g


class A(typing.Generic[typing.TypeVar("T")]):
    x: int = 1 + 1
    y: A

    def m(self, q: A = None) -> A:
        "mdoc"
        return self

    @property
    def p(self) -> int:
        return len("a")

    @classmethod
    def cm(cls):
        return cls

    @staticmethod
    def sm(a, b=lambda z=1: z + 1):
        return a

    async def co(self):
        return 1

    def ge(self):
        yield 1

    async def ag(self):
        yield 1


def deco(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        return fn(*a, **k)

    return wrapper


@deco
@deco
def decorated(x: int = 3):
    return x + 1


lam = lambda x, *y, z=1: x + z
lam2 = lambda: abs(1)
lam3 = [lambda: i + 1 for i in range(2)]


def main():
    g = f(1)
    g(2)
    A().m()
    A().p
    decorated(1)
    lam(1)
    lam2()
    lam3[0]()
    list(A().ge())
    out = [str(inspect.signature(o)) for o in (f, g, A, A.m, A().m, A.cm, decorated, lam, wrapper_of(decorated))]
    out += [inspect.getsource(o) for o in (f, g, A.m, A, decorated, lam, lam2, lam3[1], A.p.fget)]
    out += [
        inspect.getdoc(f),
        inspect.getdoc(A.m),
        f.__doc__,
        g.__doc__,
        lam.__doc__,
        f.__annotations__,
        g.__annotations__,
        A.__annotations__,
        typing.get_type_hints(A),
        typing.get_type_hints(f),
        f.__defaults__,
        f.__kwdefaults__,
    ]
    out += [
        inspect.iscoroutinefunction(A.co),
        inspect.isgeneratorfunction(A.ge),
        inspect.isasyncgenfunction(A.ag),
        inspect.getsourcelines(g)[1],
        inspect.getfile(f)[-11:],
        inspect.getmodule(f).__name__,
        inspect.unwrap(decorated).__name__,
    ]
    out += [
        sorted(n for n, _ in inspect.getmembers(A, inspect.isfunction)),
        [p.kind.name for p in inspect.signature(f).parameters.values()],
        inspect.getfullargspec(f).args,
        inspect.signature(f).bind(1, 2, 3, c=4, d=5).arguments,
        g.__qualname__,
        g.__module__,
        inspect.getcallargs(decorated, 3),
    ]
    try:
        inspect.signature(f).bind()
    except TypeError as e:
        out.append(str(e))
    return out


def wrapper_of(x):
    return x.__wrapped__
