"""A rule is for the method that runs: containers with methods of their own make what they make without a context."""

import pytest
from programs.tagging import own_methods

from cassette_import import Context, Tagged, install, metadata, overdub, tag, untag


class Moving(Context, tagging=True):
    pass


class Computing(Context, tagging=True):
    def computed(self, value, f, *arguments, **keywords):
        return "computed"


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([own_methods.__name__]):
        yield


@pytest.mark.parametrize("kind", [Moving, Computing], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("maker", own_methods.MAKERS, ids=lambda maker: maker.__name__)
def test_the_value_is_that_of_the_plain_run(maker, kind):
    ctx = kind()
    found = untag(overdub(ctx, maker, tag(1, ctx, "m")), ctx)
    expected = maker(1)
    assert found == expected
    assert type(found) is type(expected)
    assert all(type(item) is not Tagged for item in (found if isinstance(found, (list, tuple)) else ()))


@pytest.mark.parametrize(
    ("maker", "expected"),
    [
        (own_methods.by_own_getitem, [None]), (own_methods.by_own_setitem, ["m"]),
        (own_methods.by_own_iterator, ["m", None]), (own_methods.by_own_reversed, [None, None, None]),
        (own_methods.by_own_copy, [None] * 3), (own_methods.by_own_add_of_tuple, [None]),
        (own_methods.by_radd_of_another_class, [None] * 3), (own_methods.by_rmul_of_another_class, [None]),
        (own_methods.by_own_number, [None]), (own_methods.by_short_deque, ["m"]),
        (own_methods.by_added_short_deque, [None, None]), (own_methods.by_repeated_short_deque, [None, "m", None]),
        (own_methods.by_repeated_list, ["m", None, "m", None]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_only_items_that_were_moved_have_metadata(maker, expected):
    ctx = Moving()

    def program(x):
        made = maker(x)
        return [metadata(item, ctx, None) for item in (made if hasattr(made, "__len__") else [made])]

    assert overdub(ctx, program, tag(1, ctx, "m")) == expected


def test_a_list_with_an_index_method_of_the_program_calls_it_once():
    calls = []

    class Index:
        def __index__(self):
            calls.append(1)
            return 2

    ctx = Moving()
    assert overdub(ctx, lambda x: [x] * Index(), tag(1, ctx, "m")) == [1, 1]
    assert calls == [1]
