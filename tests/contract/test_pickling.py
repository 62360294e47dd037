"""Objects of the public interface can be pickled and read back."""

import copy
import pickle

import pytest

from cassette_import import (
    NO_METADATA,
    NO_METAMETA,
    AmbiguousOverload,
    Context,
    Escape,
    Events,
    Installation,
    NotOverdubbable,
    disablehooks,
    overdub,
    similarcontext,
)

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Listing(Context, events=Events.CALLS):
    """A context type of a module, as pickle needs it."""

    def __init__(self, metadata=None):
        super().__init__(metadata)
        self.called = []

    def prehook(self, f, *args):
        self.called.append(f.__name__)


def increased(x):
    return abs(x) + 1


def read_back(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_context_with_its_state(protocol):
    context = Listing(metadata={"limit": 3})
    overdub(context, increased, -1)
    called = list(context.called)
    other = read_back(context, protocol)
    assert type(other) is Listing
    assert (other.metadata, other.called) == ({"limit": 3}, called)
    assert overdub(other, increased, -1) == 2
    assert (context.called, other.called) == (called, 2 * called)


def test_a_context_that_is_active():
    with Listing() as context:
        other = read_back(context)
    assert overdub(other, increased, -1) == 2
    assert other.called


@pytest.mark.parametrize("change", [disablehooks, lambda context: similarcontext(context, metadata=1)])
def test_a_changed_copy_of_a_context(change):
    changed = change(Listing())
    other = read_back(changed)
    overdub(changed, increased, -1)
    overdub(other, increased, -1)
    assert (other.metadata, other.called) == (changed.metadata, changed.called)


def test_a_context_of_the_base_class():
    assert type(read_back(Context())) is Context


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("events", [Events.NONE, Events.DEFAULT, Events.CALLS | Events.OPERATORS, *Events])
def test_events(events, protocol):
    assert read_back(events, protocol) is events


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mark", [NO_METADATA, NO_METAMETA])
def test_the_marks_of_missing_metadata_are_unique(mark, protocol):
    assert read_back(mark, protocol) is mark
    assert copy.copy(mark) is mark
    assert copy.deepcopy(mark) is mark


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_escape(protocol):
    escape = Escape("dedent", "textwrap", "textwrap.py", 10, "textwrap is not installed", 3)
    assert read_back(escape, protocol) == escape


@pytest.mark.parametrize("error_type", [NotOverdubbable, AmbiguousOverload])
def test_an_error(error_type):
    error = read_back(error_type("the message"))
    assert type(error) is error_type
    assert str(error) == "the message"


def test_the_type_of_an_installation():
    assert read_back(Installation) is Installation
