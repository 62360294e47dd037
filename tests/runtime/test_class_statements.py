"""What contexts that attach metadata see of a class statement."""

from cassette_import import Context, overdub


class Seen(Context, tagging=True):
    def __init__(self):
        super().__init__()
        self.names = []

    def prehook(self, f, *args, **kwargs):
        self.names.append(getattr(f, "__name__", repr(f)))


def makes_classes(number):
    def kept(made):
        return made

    @kept
    class Pair:
        first = number
        second = first + 1

    return Pair.second


def test_a_class_statement_is_no_call_but_that_of_its_own_decorators():
    seen = Seen()
    assert overdub(seen, makes_classes, 1) == 2
    assert seen.names == ["add", "kept"]
