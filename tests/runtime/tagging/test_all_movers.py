"""Metadata survives what moves a value: construction, iterators and algorithms, calls and syntax.

Each function of the programs gets a tagged value and another one, and returns the first of them.
"""

import pytest
from programs.tagging import constructing, iterating, passing

from cassette_import import NO_METADATA, Context, install, metadata, overdub, tag, untag

PROGRAMS = (constructing, iterating, passing)
LOST = set(
    """
by_annotated_name_of_class_body by_async_comprehension by_async_context_manager by_async_for by_async_with by_await
by_await_after_sleep by_cache by_cached_property by_cached_property_again by_class_body by_class_body_of_instance
by_context_manager by_default by_default_called_by_map by_default_in_comprehension by_default_in_loop
by_default_of_generator by_default_of_init by_default_of_lambda by_default_of_method by_default_through_partial
by_enter by_exit_stack by_keyword_default by_keyword_of_context_manager by_loop_in_class_body by_lru_cache
by_match_as by_match_builtin_class by_match_capture by_match_class by_match_class_keyword by_match_guard
by_match_mapping by_match_mapping_rest by_match_nested by_match_rest by_match_sequence by_null_context
by_reading_in_class_body by_returned_value_of_generator by_returned_yield_from by_second_item_of_with
by_unpacking_in_class_body by_yield_from_value
""".split()
)
MOVERS = [mover for program in PROGRAMS for mover in program.MOVERS if mover.__name__ not in LOST]
VALUES = {"small ints": (1, 2), "floats": (3.5, 2.5)}


class Moving(Context, tagging=True):
    pass


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([program.__name__ for program in PROGRAMS]):
        yield


@pytest.fixture(autouse=True)
def empty_caches():
    passing.cached.cache_clear()
    passing.cached_pair.cache_clear()


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("mover", MOVERS, ids=lambda mover: mover.__name__)
def test_metadata_survives(mover, values):
    ctx, (value, other) = Moving(), values
    result = overdub(ctx, mover, tag(value, ctx, "m"), other)
    assert untag(result, ctx) == mover(value, other)
    assert type(untag(result, ctx)) is type(mover(value, other))
    assert metadata(result, ctx) == "m"


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("mover", MOVERS, ids=lambda mover: mover.__name__)
def test_the_metadata_of_another_value_is_not_attached(mover, values):
    ctx, (value, other) = Moving(), values
    result = overdub(ctx, mover, value, tag(other, ctx, "m"))
    assert untag(result, ctx) == mover(value, other)
    assert metadata(result, ctx) is NO_METADATA
