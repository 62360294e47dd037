"""Calls as a prehook gets them, for tests of what hooks see."""

from cassette_import import Context, Events, overdub


class Calls(Context, events=Events.CALLS):
    """Records the calls, without operators, as the prehook gets them."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def prehook(self, f, *args, **kwargs):
        self.calls.append((f, args, kwargs))

    def of(self, f):
        """The arguments of the calls of `f`."""
        return [(args, kwargs) if kwargs else args for g, args, kwargs in self.calls if g is f]


def calls_of(f, program, *args):
    """The arguments that `f` is called with while `program(*args)` runs."""
    ctx = Calls()
    overdub(ctx, program, *args)
    return ctx.of(f)
