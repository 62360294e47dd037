"""NumPy's temporary arrays take the memory of earlier ones that nothing refers to any more, in unmodified programs.

A result of an operator or of a ufunc goes into an array of an earlier result (`out=`) if only the context still refers
to that array. The reference count proves it: views, buffers, closures and containers all refer to what they use.

    python examples/reuse_arrays.py 160000     # the number of elements

It does not pay beside two variables of glibc, which keep freed memory in the process; see docs/how-to-speed.md. So this
is an example, and no ready-made context.

What a program can notice: a RuntimeWarning of NumPy names a line of this file, and `array.resize` refuses arrays that
the context refers to. An array to which a container of `weakref` refers lives until the context drops it. A program
must not use the address of an array that it no longer has, as `array.ctypes.data` gives it: that is wrong anyway.
"""

import operator
import os
import statistics
import subprocess
import sys
import threading
import time
import weakref

import numpy as np

from cassette_import import Context, fallback, overdub

UFUNCS = {f: f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nout == 1}
UFUNCS |= {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.matmul: np.matmul,
    operator.neg: np.negative,
    operator.lt: np.less,
    operator.gt: np.greater,
}
BUILTIN_TYPES = {id(np.dtype(char)): char for char in "?bhilqBHILQefdFD"}  # NumPy has one object for each of them
SCALARS = {bool, int, float, complex, *(np.dtype(char).type for char in "?bhilqBHILQefdFD")}
ONLY_IN_THE_POOL = 2  # references: of the pool, and of the argument of `sys.getrefcount`
VARIABLES = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}


class Reuse(Context):
    """Reuses the memory of arrays; `smallest` is their least size in bytes, `most` how many of a kind are kept."""

    def __init__(self, smallest=65536, most=8):
        super().__init__()
        if int(np.__version__.split(".")[0]) < 2:
            raise RuntimeError("the type of a result depends on the values of scalars before NumPy 2")
        self.smallest = smallest
        self.most = most
        self.results = {}  # by operation and operands: the layout of the result, or None if it is not reused
        self.local = threading.local()  # another thread must not take an array between the check and its use
        self.made = self.reused = 0

    def pool(self, layout):
        """The arrays of one layout that this thread has made."""
        return self.local.__dict__.setdefault("pools", {}).setdefault(layout, [])

    def forget(self, array):
        """Let an array die when the program drops it."""
        for pool in self.local.__dict__.get("pools", {}).values():
            pool[:] = [one for one in pool if one is not array]

    def free(self, pool, index):
        """Whether only the pool refers to an array that it has."""
        return sys.getrefcount(pool[index]) == ONLY_IN_THE_POOL and not weakref.getweakrefcount(pool[index])


def layout_of(array):
    """Shape, strides and type of an array; None for subclasses and for types that hold objects or metadata."""
    char = BUILTIN_TYPES.get(id(array.dtype)) if type(array) is np.ndarray else None
    return None if char is None else (array.shape, array.strides, char)


def described(f, operands):
    """What decides over the layout of a result; None if the operands do not."""
    key = [f]
    for operand in operands:
        key.append(type(operand) if type(operand) in SCALARS else layout_of(operand))
        if key[-1] is None:
            return None
    return tuple(key)


def compute(ctx, f, *args, **kwargs):
    """The overload of all operators and ufuncs: the first call of a kind tells what its result looks like."""
    key = None if kwargs or len(args) != UFUNCS[f].nin else described(f, args)
    if key is None:
        return fallback(ctx, f, *args, **kwargs)
    layout = ctx.results.get(key)
    if layout is None:
        result = fallback(ctx, f, *args)
        if key not in ctx.results:
            large = isinstance(result, np.ndarray) and result.nbytes >= ctx.smallest and result.base is None
            ctx.results[key] = layout_of(result) if large else None
        return result
    return into_a_free_array(ctx, UFUNCS[f], args, layout)


def into_a_free_array(ctx, ufunc, args, layout):
    pool = ctx.pool(layout)
    for index in range(len(pool)):
        unchanged = pool[index].flags.writeable and layout_of(pool[index]) == layout  # the program may set both
        if unchanged and ctx.free(pool, index):
            ctx.reused += 1
            return ufunc(*args, out=pool[index])
    result = ufunc(*args)
    ctx.made += 1
    pool.append(result)
    del pool[: -ctx.most]
    return result


def release(ctx, f, *args, **kwargs):
    """The hook before what tells whether an array lives."""
    for argument in args:
        if type(argument) is np.ndarray:
            ctx.forget(argument)


for function in UFUNCS:
    Reuse.overdub.register(function)(compute)
for function in (weakref.ref, weakref.proxy, weakref.finalize):
    Reuse.prehook.register(function)(release)


def heat(field, steps=20):
    """The heat equation on a square; nothing in it knows of reuse."""
    for _ in range(steps):
        inner = field[1:-1, 1:-1]
        change = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4.0 * inner
        after = field.copy()
        after[1:-1, 1:-1] = inner + 0.1 * change
        field = after
    return field


def option_prices(spot, strike, years, volatility, rate=0.1):
    """Black and Scholes, with an approximation of the normal distribution."""
    d1 = (np.log(spot / strike) + (rate + volatility * volatility / 2.0) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    below1, below2 = 1.0 / (1.0 + np.exp(-1.702 * d1)), 1.0 / (1.0 + np.exp(-1.702 * d2))
    return spot * below1 - strike * np.exp(-rate * years) * below2


def polynomial(x):
    """NumPy computes this in place of its temporary arrays by itself."""
    return 1.0 + x * (2.0 + x * (3.0 + x * (4.0 + x * 5.0)))


def milliseconds(call):
    """The median of the processor time of nine calls, after two others."""
    times = []
    for _ in range(11):
        start = time.process_time()
        call()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times[2:])


def programs(count):
    """The three programs with their data, as functions without parameters."""
    numbers = np.random.default_rng(1).random((4, count)) + 0.5
    side = int(count**0.5)
    return {
        "heat": lambda: heat(numbers[0, : side * side].reshape(side, side)),
        "option prices": lambda: option_prices(*numbers),
        "polynomial": lambda: polynomial(numbers[0]),
    }


def plain_times(count):
    return {name: milliseconds(program) for name, program in programs(count).items()}


def main(count):
    command = [sys.executable, __file__, str(count), "plain"]
    tuned = subprocess.run(command, env=os.environ | VARIABLES, capture_output=True, text=True, check=True).stdout
    print(f"{'ms':14} {'plain':>9} {'glibc':>9} {'reuse':>9}  same results, arrays made and reused")
    plain = plain_times(count)
    for (name, program), with_variables in zip(programs(count).items(), tuned.split(), strict=True):
        ctx = Reuse()
        reuse = milliseconds(lambda ctx=ctx, program=program: overdub(ctx, program))
        same = np.array_equal(program(), overdub(ctx, program))
        print(f"{name:14} {plain[name]:9.2f} {float(with_variables):9.2f} {reuse:9.2f}", end="  ")
        print(f"{same}, {ctx.made}, {ctx.reused}")


if __name__ == "__main__":
    if sys.argv[2:] == ["plain"]:
        print(*plain_times(int(sys.argv[1])).values())
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 160_000)
