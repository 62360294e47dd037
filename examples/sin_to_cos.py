"""Swaps math.sin for math.cos inside code that knows nothing of it.

`random.gauss` makes two numbers at a time: one with a cosine, which it returns, and one with a sine, which it
keeps for the next call. With the sine swapped for the cosine, the two are the same. `random` calls the sine by
a name of its own, so putting something else into `math` would not reach it.
"""

import math
import random

from cassette_import import Context, install


class SinToCos(Context):
    pass


@SinToCos.overdub.register(math.sin)
def _(ctx, f, x):
    return math.cos(x)


install("random")
dice = random.Random(1)

print("plain:   ", dice.gauss(), dice.gauss())
with SinToCos():
    print("sin->cos:", dice.gauss(), dice.gauss())
print("plain:   ", dice.gauss(), dice.gauss())
