"""Memoises an unmodified function: an overload returns cached results, and computes missing ones with `recurse`."""

from cassette_import import Context, overdub, recurse


def fib(n):
    return 1 if n < 3 else fib(n - 2) + fib(n - 1)


class Memoise(Context):
    def __init__(self):
        self.cache = {}


@Memoise.overdub.register(fib)
def _(ctx, f, n):
    if n not in ctx.cache:
        ctx.cache[n] = recurse(ctx, f, n)  # runs the body of f; this overload replaces the calls in it, too
    return ctx.cache[n]


memoise = Memoise()
value = overdub(memoise, fib, 40)

print(f"fib(40) = {value}")
print(f"calls:  {len(memoise.cache)}")
print(f"saved:  {2 * value - 1 - len(memoise.cache)}")  # without the context, fib(n) takes 2 * fib(n) - 1 calls
