"""Memoises a function from outside: an overload answers what is known, and recurses for what is not."""

from cassette_import import Context, overdub, recurse


def fib(n):
    return 1 if n < 3 else fib(n - 2) + fib(n - 1)


class Memoise(Context):
    def __init__(self):
        self.known = {}


@Memoise.overdub.register(fib)
def _(ctx, f, n):
    if n not in ctx.known:
        ctx.known[n] = recurse(ctx, f, n)  # the body of f; the calls in it come here again
    return ctx.known[n]


memoise = Memoise()
value = overdub(memoise, fib, 40)

print(f"fib(40) = {value}")
print(f"calls:  {len(memoise.known)}")
print(f"saved:  {2 * value - 1 - len(memoise.known)}")  # plain, fib(n) takes 2 * fib(n) - 1 calls
