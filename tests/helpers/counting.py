"""A context that counts calls."""

from cassette_import import Context


class Counting(Context):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def prehook(self, f, *arguments, **keywords):
        self.calls += 1
