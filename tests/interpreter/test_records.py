"""Records: they are named tuples, except for how their classes are made."""

import copy
import pickle
from typing import NamedTuple

import pytest

from cassette_import.interpreter.records import Record


class Point(Record):
    x: int
    y: int = 0
    label: str = ""


class Model(NamedTuple):
    x: int
    y: int = 0
    label: str = ""


@pytest.mark.parametrize(
    ("values", "named"),
    [((1,), {}), ((1, 2, "a"), {}), ((), {"x": 1}), ((1,), {"label": "b"}), ((1, 2), {"label": "c"})],
)
def test_a_record_has_the_values_of_a_named_tuple(values, named):
    record, model = Point(*values, **named), Model(*values, **named)
    assert record == model
    assert (record.x, record.y, record.label) == (model.x, model.y, model.label)
    assert repr(record) == repr(model).replace("Model", "Point")
    assert record._asdict() == model._asdict()
    assert record._replace(y=7) == model._replace(y=7)
    assert hash(record) == hash(model)


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((), {"y": 2})]
)
def test_wrong_values_are_an_error(values, named):
    with pytest.raises(TypeError):
        Point(*values, **named)


def test_replacing_an_unknown_field_is_an_error():
    with pytest.raises(ValueError, match="has no fields z"):
        Point(1)._replace(z=2)


def test_a_record_cannot_be_changed():
    with pytest.raises(AttributeError):
        Point(1).x = 2


def test_records_are_copied_and_pickled():
    assert copy.deepcopy(Point(1, 2)) == Point(1, 2)
    loaded = pickle.loads(pickle.dumps(Point(1, 2)))
    assert (type(loaded), loaded) == (Point, Point(1, 2))
