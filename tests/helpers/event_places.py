"""Places in which a statement may stand, and a context that writes down the events it sees there."""

from cassette_import import Context, Events

SETUP = """
    import contextlib
    import functools


    class O:
        def __init__(self, x=0):
            self.x = x

        def m(self, x):
            return x

        def itself(self):
            return self

        def deco(self, f):
            return f


    def f(x=0, **kwargs):
        return x


    def give(x):
        return x


    def make():
        a, b, xs, o, d, part = 1, 2, [1, 2, 3], O(), {"k": 1}, functools.partial(f, 5)
        return a, b, xs, o, d, part
"""

UNPACK = "a, b, xs, o, d, part = made"

# Each place is a definition of `main(made)` in which the statement stands.
PLACES = {
    "function": """
        def main(made):
            {unpack}
            {statement}
    """,
    "nested function": """
        def main(made):
            {unpack}
            def g():
                nonlocal a, b, xs
                {statement}
            g()
    """,
    "method": """
        class M:
            def m(self, made):
                {unpack}
                {statement}
        main = M().m
    """,
    "generator": """
        def main(made):
            def g():
                {unpack}
                yield 1
                {statement}
            for _ in g():
                pass
    """,
    "coroutine": """
        def main(made):
            async def g():
                {unpack}
                {statement}
            try:
                g().send(None)
            except StopIteration:
                pass
    """,
    "asynchronous generator": """
        def main(made):
            async def g():
                {unpack}
                {statement}
                yield 1
            try:
                g().__anext__().send(None)
            except StopIteration:
                pass
    """,
    "class body": """
        def main(made):
            class C:
                {unpack}
                {statement}
    """,
    "function that reads its locals": """
        def main(made):
            {unpack}
            {statement}
            locals()
    """,
    "with block": """
        def main(made):
            {unpack}
            with contextlib.nullcontext():
                {statement}
    """,
    "loop": """
        def main(made):
            {unpack}
            for _ in (1,):
                {statement}
    """,
    "handler": """
        def main(made):
            {unpack}
            try:
                raise KeyError
            except KeyError:
                {statement}
    """,
    "finally block": """
        def main(made):
            {unpack}
            try:
                pass
            finally:
                {statement}
    """,
    "case": """
        def main(made):
            {unpack}
            match 1:
                case 1:
                    {statement}
    """,
}

# The calls of each place other than those of the statement.
OF_THE_PLACE = {
    "nested function": ["g"],
    "generator": ["g"],
    "coroutine": ["g", "send"],
    "asynchronous generator": ["g", "__anext__", "send"],
    "function that reads its locals": ["locals"],
    "with block": ["nullcontext"],
}


def show(x):
    """Return an argument of an event as text, without addresses."""
    if isinstance(x, dict):
        return "{" + ", ".join(f"{key!r}: {show(value)}" for key, value in x.items()) + "}"
    if isinstance(x, list):
        return "[" + ", ".join(map(show, x)) + "]"
    if type(x).__name__ == "O":
        return "o"
    return getattr(x, "__name__", None) or repr(x)


def show_call(f, args, kwargs):
    arguments = "(" + ", ".join(map(show, args)) + ("," if len(args) == 1 else "") + ")"
    return f"{f.__name__} {arguments}" + (f" {show(kwargs)}" if kwargs else "")


class Seen(Context):
    def __init__(self):
        super().__init__()
        self.seen = []

    def prehook(self, f, *args, **kwargs):
        self.seen.append(show_call(f, args, kwargs))


class SeenOperators(Seen, events=Events.OPERATORS):
    pass


class SeenCalls(Seen, events=Events.CALLS):
    pass
