import functools


def deco(arg):
    def outer(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            """wrapper doc"""
            calls.append((arg, fn.__name__, args, kwargs))
            return fn(*args, **kwargs)

        return wrapper

    return outer


calls = []


@deco(1)
@deco("b")
def f(x, *, y=2):
    "f doc"
    return x + y


class A:
    @deco("m")
    def m(self, z):
        return z * 2

    @staticmethod
    @deco("s")
    def s(z):
        return z * 3

    @classmethod
    @deco("c")
    def c(cls, z):
        return cls.__name__, z

    @property
    @deco("p")
    def p(self):
        return 7


def main():
    a = A()
    r = f(1), f(1, y=5), a.m(2), a.s(2), A.s(3), a.c(1), A.c(2), a.p
    return r, [(c[0], c[1], len(c[2])) for c in calls], f.__doc__, f.__name__, f.__wrapped__.__wrapped__.__doc__
