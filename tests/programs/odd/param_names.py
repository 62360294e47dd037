def a(self, ctx, f, result, args, kwargs):
    return self, ctx, f, result, args, kwargs


def b(*, self=1, ctx=2, f=3, function=4, callee=5, context=6, arguments=7, keywords=8, activation=9, number=10):
    return self, ctx, f, function, callee, context, arguments, keywords, activation, number


def c(self, /, **self_):
    return self, self_


def d(*args, **kwargs):
    return args, kwargs


class K:
    def __init__(this, self, f):
        this.v = self, f

    def m(this, self=0, ctx=0, result=0, exception=0, callee=0, function=0, step=0):
        return self, ctx, result, exception, callee, function, step

    def __call__(this, *, self, f):
        return self, f

    @classmethod
    def cm(kls, cls, self):
        return cls, self

    @staticmethod
    def sm(self, f, ctx):
        return self, f, ctx


def main():
    import functools

    k = K(self=1, f=2)
    return (
        a(self=1, ctx=2, f=3, result=4, args=5, kwargs=6),
        b(),
        b(self=10, ctx=20, f=30, function=40, callee=50, context=60, arguments=70, keywords=80),
        c(1, self=2, f=3),
        d(self=1, f=2, ctx=3, args=4, kwargs=5, result=6, exception=7, callee=8),
        d(1, 2, **{"self": 1, "f": 2, "": 3, "a b": 4}),
        k.v,
        k.m(self=1, ctx=2, result=3, exception=4, callee=5, function=6, step=7),
        k(self=1, f=2),
        K.cm(cls=1, self=2),
        k.sm(self=1, f=2, ctx=3),
        dict(self=1, f=2, ctx=3),
        "{self}{f}".format(self=1, f=2),
        functools.partial(d, self=1)(f=2),
        functools.partial(d, self=1)(self=2),
        max(1, 2, key=lambda self: -self),
        sorted([2, 1], key=lambda f, ctx=1: f + ctx),
        type("X", (), dict(self=1))().self,
        print("", end="", sep=""),
        str(object=b"a", encoding="ascii"),
    )
