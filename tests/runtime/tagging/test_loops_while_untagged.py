"""Loops and unpacking that begin while nothing is tagged: the interpreter takes their steps."""

import collections
import itertools
import sys
import weakref

import pytest

from cassette_import import NO_METADATA, Context, Events, metadata, overdub, tag


class Tagging(Context, tagging=True):
    pass


class Recognising(Tagging):
    recognised_types = (float,)


class Stepping(Context, tagging=True, events=Events.ITERATION):
    """The same, with hooks at each step."""

    def __init__(self):
        self.steps = 0

    def prehook(self, f, *arguments, **keywords):
        self.steps += f is next


def over_list(ctx, values):
    found = []
    for item in values:
        if not found:
            tag(values[1], ctx, "m")
            held = [tag(values[1], ctx, "m")]
        found.append(metadata(item, ctx))
    return found, len(held)


def over_pairs(ctx, values):
    found = []
    for number, item in enumerate(values):
        if not found:
            held = [tag(values[1], ctx, "m")]
        found.append((number, metadata(item, ctx)))
    return [meta for _, meta in found], len(held)


def over_tuple(ctx, values):
    found, held = [], []
    for item in (*values,):
        held.append(tag(values[1], ctx, "m"))
        found.append(metadata(item, ctx))
    return found, len(held[:1])


def over_product(ctx, values):
    found, held = [], []
    for (item,) in itertools.product(values):
        held.append(tag(values[1], ctx, "m"))
        found.append(metadata(item, ctx))
    return found, len(held[:1])


def over_permutations(ctx, values):
    found, held = [], []
    for permutation in itertools.permutations(values, 1):
        held.append(tag(values[1], ctx, "m"))
        found.append(metadata(permutation[0], ctx))
    return found, len(held[:1])


@pytest.mark.parametrize("work", [over_list, over_pairs, over_tuple, over_product, over_permutations])
def test_an_item_that_is_recognised_has_the_metadata_that_it_got_since_the_loop_began(work):
    ctx = Recognising()
    assert overdub(ctx, work, ctx, [1.5, 2.5, 3.5]) == ([NO_METADATA, "m", NO_METADATA], 1)


@pytest.mark.parametrize(
    "combined",
    [
        lambda values: itertools.product(values, values),
        lambda values: itertools.permutations(values, 2),
        lambda values: itertools.combinations(values, 2),
        lambda values: itertools.combinations_with_replacement(values, 2),
    ],
    ids=["product", "permutations", "combinations", "combinations with replacement"],
)
def test_combinations_hold_the_tagged_values_from_which_they_were_made(combined):
    ctx = Tagging()

    def work():
        found = []
        for first, second in combined([1, 2, tag(3, ctx, "m")]):
            found.append((metadata(first, ctx) == "m", metadata(second, ctx) == "m"))
        return found

    assert overdub(ctx, work) == [(first == 3, second == 3) for first, second in combined([1, 2, 3])]


def test_combinations_do_not_hold_what_a_block_puts_into_the_list_later():
    ctx = Tagging()

    def work():
        values, found = [1, 2], []
        for first, second in itertools.product(values, values):
            values[1] = tag(7, ctx, "m")
            found.append((first, second, metadata(first, ctx), metadata(second, ctx)))
        return found

    expected = [(first, second, NO_METADATA, NO_METADATA) for first in (1, 2) for second in (1, 2)]
    assert overdub(ctx, work) == expected


def test_an_iterator_of_the_program_may_return_the_first_tagged_value():
    ctx = Tagging()

    class Pair:
        def __iter__(self):
            yield 1
            yield tag(2, ctx, "m")

    def unpacked():
        _first, second = Pair()
        return second

    def looped():
        found = []
        for first, second in [(1, 2), Pair()]:
            found.append((first, second))
        return found[1][1]

    assert metadata(overdub(ctx, unpacked), ctx) == "m"
    assert metadata(overdub(ctx, looped), ctx) == "m"


def test_an_item_that_a_block_puts_into_the_list_is_tagged_when_the_next_loop_reads_it():
    ctx = Tagging()

    def work():
        pairs = [(1, 2), (3, 4)]
        for _first, _second in pairs:
            pairs[1] = (3, tag(4, ctx, "m"))
        return [metadata(second, ctx) for first, second in pairs]

    assert overdub(ctx, work) == [NO_METADATA, "m"]


def test_the_interpreter_raises_its_own_errors():
    def looped(given):
        for _first, _second in given:
            pass

    def assigned(given):
        _first, _second = given

    for function, given in [(looped, 5), (looped, [(1, 2, 3)]), (looped, [4]), (assigned, (1,)), (assigned, 6)]:
        with pytest.raises((TypeError, ValueError)) as plain:
            function(given)
        with pytest.raises(plain.type) as raised:
            overdub(Tagging(), function, given)
        assert str(raised.value) == str(plain.value)


def test_hooks_still_get_each_step():
    ctx = Stepping()

    def work():
        total = 0
        for first, second in [(1, 2), (3, 4)]:
            total += first * second
        return total

    assert overdub(ctx, work) == 14
    assert ctx.steps == 3 + 2 * 3


def test_items_die_when_they_would_die():
    class Item(list):
        pass

    class Pair:
        def __iter__(self):
            yield from (Item(), Item())

    def alive():
        counts = []
        for first, second in [Pair(), [Item(), Item()], (Item(), Item())]:
            watched = weakref.ref(first)
            del first
            counts.append((watched() is None, len(second)))
        made = [Item([1]), Item([2])]
        watched = weakref.ref(made[0])
        one, two = made
        del made, one
        return [*counts, watched() is None, len(two)]

    assert overdub(Tagging(), alive) == alive()


def test_a_builtin_or_class_that_is_called_while_nothing_is_tagged_returns_the_first_tagged_value():
    ctx = Tagging()

    class Made:
        def __init__(self, value):
            self.value = tag(value, ctx, "m")

        def __len__(self):
            return tag(3, ctx, "m")

    def made():
        return Made(1).value

    def after_builtin():
        found = len(Made(1))
        return metadata(found, ctx)

    assert metadata(overdub(ctx, made), ctx) == "m"
    assert overdub(ctx, after_builtin) is NO_METADATA


def block_lines(function, *arguments):
    lines = []

    def trace(frame, event, argument):
        if frame.f_code.co_name != "stepped":
            return None
        if event == "line":
            lines.append(frame.f_lineno - frame.f_code.co_firstlineno)
        return trace

    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(None)
    return lines


def test_a_tracer_is_notified_of_the_same_lines():
    def stepped(pairs):
        for first, second in pairs:
            total = first + second
        for number in range(2): total = number  # fmt: skip  # noqa: E701
        first, second = pairs[0]
        return total

    expected = block_lines(stepped, [(1, 2), (3, 4)])
    ctx = Tagging()
    overdub(ctx, stepped, [(1, 2)])
    assert block_lines(overdub, ctx, stepped, [(1, 2), (3, 4)]) == expected


# ---- loops over containers that the block changes


def puts_into_a_list(ctx):
    values, found = [1, 2, 3], []
    for item in values:
        if item == 1:
            values[1] = tag(20, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def appends_to_a_list(ctx):
    values, found = [1], []
    for item in values:
        if item == 1:
            values.append(tag(2, ctx, "m"))
        found.append(metadata(item, ctx))
    return found


def removes_from_a_list(ctx):
    values, found = [1, 2, 3, 4], []
    for item in values:
        if item == 1:
            values[3] = tag(40, ctx, "m")
            values.remove(2)
        found.append(metadata(item, ctx))
    return found


def puts_the_item_itself(ctx):
    values, found = [1, 2], []
    for item in values:
        values[:] = [tag(1, ctx, "m"), tag(2, ctx, "m")]
        found.append(metadata(item, ctx))
    return found


def by_an_iterator_of_the_program(ctx):
    values, found = [1, 2, 3], []
    steps = iter(values)
    for item in steps:
        values[1:] = [tag(20, ctx, "m"), 3]
        found.append(metadata(item, ctx))
        if item == 20:
            break
    return found, next(steps)


def over_a_reversed_list(ctx):
    values, found = [1, 2], []
    for item in reversed(values):
        values[0] = tag(10, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def over_a_deque(ctx):
    values, found = collections.deque([1, 2]), []
    for item in values:
        values[1] = tag(20, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def over_values(ctx):
    values, found = {"a": 1, "b": 2}, []
    for item in values.values():
        values["b"] = tag(20, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def over_items(ctx):
    values, found = {"a": 1, "b": 2}, []
    for _key, item in values.items():
        values["b"] = tag(20, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def over_pairs_as_they_are(ctx):
    values, found = {"a": 1, "b": 2}, []
    for pair in values.items():
        values["b"] = tag(20, ctx, "m")
        found.append(metadata(pair[1], ctx))
    return found


def over_keys(ctx):
    values, found = {"a": 1, "b": 2}, []
    for key in values:
        values["b"] = tag(20, ctx, "m")
        found.append(metadata(values[key], ctx))
    return found


def over_numbered_items(ctx):
    values, found = [1, 2], []
    for _number, item in enumerate(values):
        values[1] = tag(20, ctx, "m")
        found.append(metadata(item, ctx))
    return found


def over_two_lists(ctx):
    values, others, found = [1, 2], [3, 4, 5], []
    for first, second in zip(values, others, strict=False):
        others[1] = tag(40, ctx, "m")
        found += [metadata(first, ctx), metadata(second, ctx)]
    return found


def in_two_loops(ctx):
    rows, found = [[1, 2], [3, 4]], []
    for row in rows:
        for item in row:
            rows[1][1] = tag(40, ctx, "m")
            found.append(metadata(item, ctx))
        else:
            continue
    return found


def in_a_generator(ctx):
    def steps(values):
        for item in values:
            values[1] = tag(20, ctx, "m")
            yield item

    return [metadata(item, ctx) for item in steps([1, 2])]


def in_a_comprehension(ctx):
    values = [1, 2]

    def change(item):
        values[1] = tag(20, ctx, "m")
        return metadata(item, ctx)

    return [change(item) for item in values]


def in_the_condition_of_a_comprehension(ctx):
    values = [1, 2, 3]

    def is_tagged(item):
        values[1] = tag(20, ctx, "m")
        return metadata(item, ctx, None) is not None

    return [metadata(item, ctx) for row in [values] for item in row if is_tagged(item)]


def in_a_dict_comprehension(ctx):
    values = [1, 2]

    def change(item):
        values[1] = tag(20, ctx, "m")
        return item

    return {number: metadata(item, ctx) for number, item in enumerate([change(item) for item in values])}


LOOPS = [
    puts_into_a_list, appends_to_a_list, removes_from_a_list, puts_the_item_itself, by_an_iterator_of_the_program,
    over_a_reversed_list, over_a_deque, over_values, over_items, over_pairs_as_they_are, over_keys, over_numbered_items,
    over_two_lists, in_two_loops, in_a_generator, in_a_comprehension, in_the_condition_of_a_comprehension,
    in_a_dict_comprehension,
]  # fmt: skip


@pytest.mark.parametrize("work", LOOPS)
def test_a_loop_that_began_before_the_first_tag_reads_the_same_metadata_as_one_that_began_after(work):
    ctx = Tagging()
    before = overdub(ctx, work, ctx)

    def after():
        held = tag(0.5, ctx, "m")
        return work(ctx), held

    assert overdub(Tagging(), lambda: None) is None
    ctx = Tagging()
    assert before == overdub(ctx, after)[0]
    assert "m" in repr(before)


def test_what_a_loop_has_read_lives_no_longer_after_a_break():
    class Item:
        pass

    def work():
        alive = []
        for kind in (list, tuple, enumerate, lambda one: zip(one, one, strict=True)):
            items = [Item(), Item()]
            seen = [weakref.ref(item) for item in items]
            for _item in kind(items):
                try:
                    break
                finally:
                    alive.append(0)
            _item = items = None
            alive.append([one() is None for one in seen])
            items = [Item(), Item(), Item()]
            seen = [weakref.ref(item) for item in items]
            for _item in zip(items[:1], items, strict=False):
                pass
            _item = items = None
            alive.append([one() is None for one in seen])
        return alive

    assert overdub(Tagging(), work) == work()
