"""An event loop whose clock is late, so that times pass before anything can wait for them."""

import asyncio


class LateLoop(asyncio.SelectorEventLoop):
    """A loop whose clock goes on by an hour whenever it is read, if it is late."""

    is_late = False
    hours = 0

    def time(self):
        LateLoop.hours += self.is_late
        return super().time() + 3600 * LateLoop.hours
