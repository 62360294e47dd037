"""Replaces math.sin by math.cos inside unmodified code.

`random.gauss` computes two numbers at a time: one with a cosine, which it returns, and one with a sine, which it
stores for the next call. With the cosine in place of the sine, the two are equal. `random` has imported the sine under
another name, `_sin`, so a patch of `math.sin` would not change it.
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
