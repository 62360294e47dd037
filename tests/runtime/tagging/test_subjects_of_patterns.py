"""The subject of a `match` statement is kept while its patterns are tested, and no longer."""

import gc
import sys
import weakref

import pytest

from cassette_import import Context, metadata, overdub, tag
from cassette_import.runtime.tagging import matched_parts
from cassette_import.runtime.tagging.thread_state import SUBJECTS


class Tagging(Context, tagging=True):
    pass


class Point:
    def __init__(self, x):
        self.x = x

    @property
    def broken(self):
        raise LookupError(self.x)


class Undecided:
    def __bool__(self):
        raise LookupError("undecided")


def guard_raises(x):
    match Point(x):
        case Point(x=found) if 1 / (found - found):
            return found


def bool_of_a_guard_raises(x):
    match Point(x):
        case Point(x=found) if Undecided():
            return found


def guard_is_suspended(x):
    def steps():
        match Point(x):
            case Point(x=found) if (yield found):
                return found

    waiting = steps()
    next(waiting)
    waiting.close()


def property_raises(x):
    match Point(x):
        case Point(broken=found):
            return found


def in_tagging(ctx, f):
    try:
        f(tag(1.0, ctx, "known"))
    except (LookupError, ZeroDivisionError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("f", [guard_raises, bool_of_a_guard_raises, guard_is_suspended])
def test_nothing_is_kept_of_a_subject_whose_guard_does_not_return(f):
    SUBJECTS.clear()
    ctx = Tagging()
    overdub(ctx, in_tagging, ctx, f)
    assert not SUBJECTS


def test_the_next_match_releases_the_subject_of_a_pattern_that_has_raised():
    SUBJECTS.clear()
    matched_parts._LIMIT[0] = 0  # patterns that nested in earlier tests have raised it
    ctx = Tagging()
    assert overdub(ctx, in_tagging, ctx, property_raises) is LookupError
    (left,) = SUBJECTS.values()
    left = weakref.ref(left)
    assert overdub(ctx, in_tagging, ctx, guard_raises) is ZeroDivisionError
    gc.collect()
    assert left() is None


def test_a_running_frame_at_the_address_of_one_that_has_ended_does_not_keep_its_subject():
    SUBJECTS.clear()
    matched_parts._LIMIT[0] = 0
    ctx = Tagging()
    assert overdub(ctx, in_tagging, ctx, property_raises) is LookupError
    ((address, code),) = SUBJECTS
    left = SUBJECTS.pop((address, code))
    SUBJECTS[id(sys._getframe()), code] = left
    left = weakref.ref(left)
    assert overdub(ctx, in_tagging, ctx, guard_raises) is ZeroDivisionError
    gc.collect()
    assert left() is None


def second_case(ctx):
    match Point(tag(2.0, ctx, "known")):
        case Point(x=found) if found > 3:
            return None
        case Point(x=other) if hasattr(other, "real") and other < 3:
            return other, metadata(other, ctx)


def second_case_in_generator(ctx):
    match Point(tag(2.0, ctx, "known")):
        case Point(x=found) if (yield found):
            return
        case Point(x=other):
            yield other, metadata(other, ctx)


def in_generator(ctx):
    steps = second_case_in_generator(ctx)
    next(steps)
    second_case(ctx)
    return steps.send(False)


@pytest.mark.parametrize("f", [second_case, in_generator])
def test_patterns_after_a_guard_that_is_false_have_the_subject(f):
    ctx = Tagging()
    assert overdub(ctx, f, ctx) == (2.0, "known")
