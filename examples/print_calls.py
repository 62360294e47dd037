"""Prints every call and operator inside a function, with a hook that runs before each of them."""

from cassette_import import Context, overdub


class PrintCalls(Context):
    def prehook(self, f, *args):
        print(f.__name__, args)


def divide(a, b):
    return float(a) / float(b)


print(overdub(PrintCalls(), lambda: divide(1, 2)))
