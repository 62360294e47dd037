"""The fast path: while nothing is tagged, events are plain; from the first tagged value on, rules apply."""

import itertools
import operator
import subprocess
import sys
import threading
import types

import pytest
from helpers.counted_metadata import count_anew
from programs.tagging import first_values

from cassette_import import Context, Events, install, metadata, overdub, tag
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE


class Tagging(Context, tagging=True):
    pass


class Looking(Context, tagging=True):
    """The same, with hooks."""

    def __init__(self):
        self.seen = []

    def prehook(self, f, *arguments, **keywords):
        self.seen.append(f)

    def posthook(self, result, f, *arguments, **keywords):
        self.seen.append(f)


class Inheriting(Context, tagging=True, inherit=True):
    pass


def is_tagged_anywhere():
    return FLAGS["@tagged"]


@pytest.fixture(autouse=True)
def nothing_tagged(monkeypatch):
    """Exclude wrappers of earlier tests, which tracebacks of failed tests hold, from the count."""
    with install([first_values.__name__]), Tagging():
        count_anew(monkeypatch)
        assert not is_tagged_anywhere()
    with install([first_values.__name__]):
        yield


@pytest.mark.parametrize("context_type", [Tagging, Looking])
@pytest.mark.parametrize("way", first_values.WAYS, ids=lambda way: way.__name__)
def test_the_first_value_that_is_tagged_keeps_its_metadata(way, context_type):
    ctx = context_type()
    assert metadata(overdub(ctx, way, ctx), ctx) == "m"


@pytest.mark.parametrize("way", first_values.WAYS, ids=lambda way: way.__name__)
def test_a_value_that_is_tagged_while_others_are_keeps_its_metadata(way):
    ctx = Tagging()
    other = tag(1, ctx, "other")
    assert metadata(overdub(ctx, way, ctx), ctx) == "m"
    assert metadata(other, ctx) == "other"


def test_iterators_that_keep_items_are_no_metadata_while_nothing_is_tagged():
    with Tagging() as ctx:
        found = overdub(ctx, first_values.while_pairs_are_alive, [])
    assert found == [((0, "a"), 0, False), ((1, "b"), 1, False), ((2, None), 3, False)]


@pytest.mark.parametrize("make", [itertools.zip_longest, itertools.accumulate])
def test_an_iterator_that_keeps_items_dies_with_its_last_reference_while_nothing_is_tagged(make):
    with Tagging() as ctx:
        assert overdub(ctx, first_values.dies_with_its_iterator, make)


def test_computed_is_called_for_an_fstring_of_the_first_tagged_value():
    class Flowing(Context, tagging=True):
        def computed(self, value, f, *arguments, **keywords):
            return "computed"

    ctx = Flowing()
    assert metadata(overdub(ctx, first_values.text_of, ctx), ctx) == "computed"


@pytest.mark.parametrize("context_type", [Tagging, Looking])
@pytest.mark.parametrize("way", first_values.OTHERS, ids=lambda way: way.__name__)
def test_a_value_after_the_first_tagged_one_has_no_metadata_of_it(way, context_type):
    ctx = context_type()
    assert type(overdub(ctx, way, ctx)) in (int, bool, str)
    assert is_tagged_anywhere() or way is first_values.after_a_call


def test_a_value_that_is_tagged_in_the_middle_of_a_loop_counts_from_the_next_event_on():
    ctx = Tagging()

    def work():
        sums = []
        for number in range(4):
            x = tag(number, ctx, "m") if number == 2 else number
            sums.append(x)
        return [metadata(x, ctx, None) for x in sums]

    assert overdub(ctx, work) == [None, None, "m", None]


def test_a_value_that_is_tagged_counts_in_a_thread_that_inherits():
    ctx, seen = Inheriting(), []

    def work():
        before = is_tagged_anywhere()
        x = [tag(1, ctx, "m")]
        seen.append((before, metadata(x[0], ctx)))

    def start():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    overdub(ctx, start)
    assert seen == [(False, "m")]


def test_a_value_that_another_thread_tags_makes_events_count_here():
    ctx, tagged, ready = Inheriting(), threading.Event(), threading.Event()
    box = []

    def other():
        ready.wait(60)
        box.append(tag(1, ctx, "m"))
        tagged.set()

    def work():
        thread = threading.Thread(target=other)
        thread.start()
        assert not is_tagged_anywhere()
        ready.set()
        tagged.wait(60)
        seen = is_tagged_anywhere()
        thread.join()
        return seen

    assert overdub(ctx, work) is True


def test_a_generator_that_began_before_anything_was_tagged_continues_with_metadata():
    ctx = Tagging()

    def numbers():
        xs = [1]
        while True:
            yield xs[0]
            xs[0] = tag(xs[0], ctx, "m")

    def work():
        generator = numbers()
        return [metadata(item, ctx, None) for item in [next(generator), next(generator), next(generator)]]

    assert overdub(ctx, work) == [None, "m", "m"]


def test_events_are_plain_again_when_the_last_wrapper_is_gone():
    ctx = Tagging()

    def work():
        x = tag(1, ctx, "m")
        return x is None

    overdub(ctx, work)
    overdub(ctx, lambda: None)
    assert not is_tagged_anywhere()


def test_events_are_plain_again_in_the_middle_of_a_run():
    ctx = Tagging()

    def work():
        x = tag(1, ctx, "m")
        before = is_tagged_anywhere()
        x = None
        for number in range(3000):
            x = number + 1
        return before, is_tagged_anywhere(), x

    assert overdub(ctx, work) == (True, False, 3000)


@pytest.mark.parametrize(
    "keep",
    [lambda x: x, lambda x: [x], lambda x: {"x": x}, lambda x: types.SimpleNamespace(x=x), lambda x: iter([x])],
    ids=["value", "list", "dict", "object", "iterator"],
)
def test_events_are_not_plain_as_long_as_something_has_metadata(keep):
    ctx = Tagging()

    def work():
        kept = keep(tag(1, ctx, "m"))
        for number in range(3000):
            number + 1
        return is_tagged_anywhere(), kept

    assert overdub(ctx, work)[0]


def test_an_overload_that_is_registered_in_the_middle_of_a_run_counts_at_once():
    class Late(Context, tagging=True):
        pass

    def register():
        Late.overdub.register(len)(lambda ctx, f, value: -1)

    def work():
        return len([1]), register(), len([1])

    assert overdub(Late(), work) == (1, None, -1)


def test_an_overload_of_an_operator_replaces_its_events_although_nothing_is_tagged():
    import operator

    class Adding(Context, tagging=True):
        pass

    @Adding.overdub.register(operator.add)
    def _(ctx, f, left, right):
        return left * right

    assert overdub(Adding(), lambda a, b: (a + b, a - b), 3, 4) == (12, -1)


def test_hooks_see_the_same_events_whether_something_is_tagged_or_not():
    def work(x):
        total = 0
        for number, item in enumerate([1, 2, x]):
            total += number * item
        return sorted([total, max(total, 2)], key=lambda one: -one)

    quiet, busy = Looking(), Looking()
    other = tag(0, busy, "m")
    assert overdub(quiet, work, 3) == overdub(busy, work, 3)
    assert quiet.seen == busy.seen
    assert metadata(other, busy) == "m"


def test_classes_whose_metaclass_has_no_hash_work_too():
    class Meta(type):
        def __eq__(self, other):
            return self is other

        __hash__ = None

    class Odd(metaclass=Meta):
        value = 1

        def __add__(self, other):
            return 5

        def __iter__(self):
            return iter([1, 2])

    def work(odd):
        total = odd + 1
        total += odd.value
        return total, list(odd), [*odd], abs(-1), len([odd])

    assert overdub(Tagging(), work, Odd()) == (6, [1, 2], [1, 2], 1, 1)


BEGINNING = """
from cassette_import import Context, metadata, overdub, tag


class Tagging(Context, tagging=True):
    pass


def first(x):
    return [x][0]


def made(ctx):
    return [tag(1, ctx, "m")][0]


ctx = Tagging()
"""


@pytest.mark.parametrize(
    "rest",
    ["result = overdub(ctx, made, ctx)", 'x = tag(1, ctx, "m")\nresult = overdub(ctx, first, x)'],
    ids=["inside", "before"],
)
def test_the_first_context_of_a_process_may_tag_values(rest, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f'{BEGINNING}\n{rest}\nassert metadata(result, ctx) == "m"\n')
    subprocess.run([sys.executable, program], check=True)


def test_events_are_plain_again_in_a_process_that_has_only_begun(tmp_path):
    # Which module of tagging is imported first is another matter in a process of its own.
    program = tmp_path / "program.py"
    program.write_text(
        f"{BEGINNING}\nfrom cassette_import.runtime.names import FLAGS\n"
        'overdub(ctx, made, ctx)\nassert overdub(ctx, lambda: FLAGS["@tagged"]) is False\n'
    )
    subprocess.run([sys.executable, program], check=True)


class Owner:
    pass


def test_an_object_whose_namespace_the_program_has_got_is_no_metadata():
    ctx = Tagging()

    def program():
        held, owner = tag([1.0], ctx, "m"), Owner()
        namespace, other = owner.__dict__, vars(ctx)
        del held
        return owner, namespace, other

    kept = overdub(ctx, program)
    with ctx:
        assert not is_tagged_anywhere()
    assert len(kept) == 3


def test_such_an_object_shares_metadata_that_comes_later():
    ctx = Tagging()

    def program():
        held, owner = tag([1.0], ctx, "m"), Owner()
        namespace = owner.__dict__
        del held
        namespace["x"] = tag(1.5, ctx, "of the namespace")
        owner.y = tag(2.5, ctx, "of the object")
        return metadata(owner.x, ctx, None), metadata(namespace["y"], ctx, None)

    assert overdub(ctx, program) == ("of the namespace", "of the object")


def test_an_attribute_of_such_an_object_is_metadata_again():
    ctx = Tagging()

    def program(owner):
        namespace = owner.__dict__
        del namespace
        owner.x = tag(1.5, ctx, "m")

    owner = Owner()
    with ctx:
        overdub(ctx, program, owner)
        overdub(ctx, lambda: None)
        assert is_tagged_anywhere()
        assert overdub(ctx, lambda: metadata(owner.x, ctx, None)) == "m"


# ---- suspended bodies, in contexts with hooks and overloads for chosen functions


def sums(values):
    total = 0
    for value in values:
        total = total + value if value not in (7,) else total * 2
        yield total


class Choosing(Context, tagging=True):
    def __init__(self):
        self.added = []


@Choosing.overdub.register(operator.add)
def _(ctx, f, left, right):
    ctx.added.append((left, right))
    return f(left, right)


@Choosing.prehook.register(operator.mul)
def _(ctx, f, left, right):
    ctx.added.append("mul")


@pytest.mark.parametrize("begun_elsewhere", [False, True])
def test_operators_that_are_targets_are_events_in_generators_while_nothing_is_tagged(begun_elsewhere):
    ctx = Choosing()
    with Tagging():
        begun = sums([1, 2, 7]) if begun_elsewhere else None
    assert overdub(ctx, lambda: list(begun or sums([1, 2, 7]))) == [1, 3, 6]
    assert ctx.added == [(0, 1), (1, 2), "mul"]


def test_other_operators_are_plain_in_generators_while_nothing_is_tagged():
    ctx = Choosing()

    def plans():
        variant = ACTIVE.get().variant
        return {kind: variant.runners[int(kind)].plan.leaves_alone_while_untagged for kind in Events}

    assert all(overdub(ctx, plans).values())
    looking = overdub(Looking(), plans)
    assert not looking[Events.CALLS]
    assert not looking[Events.OPERATORS]
