"""Lanes: dates and times are values of lanes; the clock is refused."""

from __future__ import annotations

import datetime
import statistics

import pytest

from cassette_import import install
from cassette_import.contexts.lanes import EffectError, vectorize

np = pytest.importorskip("numpy")

START = datetime.datetime(2024, 2, 28, 12, tzinfo=datetime.timezone.utc)


def weekday(days):
    """Branches on dates that lanes have made."""
    moment = START + datetime.timedelta(days=days)
    if moment.month == 2:
        return moment.isoformat()[:10], 0.0
    return moment.date().weekday(), (moment - START).total_seconds() / 3600


def test_dates_of_lanes_are_those_of_the_scalar_calls():
    days = np.linspace(0.0, 40.0, 30)
    found = vectorize(weekday)(days)
    for number, one in enumerate(days.tolist()):
        assert tuple(part[number] for part in found) == weekday(one)


def test_a_date_that_does_not_exist_is_an_exception_of_its_lanes():
    _, failures = vectorize(lambda day: datetime.date(2023, 2, day).toordinal(), errors="return")(np.arange(25, 32))
    assert list(failures) == [4, 5, 6]
    assert {type(error) for error in failures.values()} == {ValueError}


def test_equal_times_of_two_zones_stay_two_values():
    east = datetime.timezone(datetime.timedelta(hours=2))
    one = vectorize(lambda n: START if n > 1 else START.astimezone(east))(np.arange(6))
    assert [moment.tzinfo for moment in one.tolist()] == [east, east, *[datetime.timezone.utc] * 4]


def test_the_clock_is_refused():
    with pytest.raises(EffectError, match="now is called"):
        vectorize(lambda x: x + datetime.datetime.now().hour)(np.arange(9.0))


def test_quantiles_of_the_normal_distribution():
    with install(["statistics"]):
        shares = np.linspace(0.01, 0.99, 50)
        found = vectorize(lambda p: statistics.NormalDist(1.0, 2.0).inv_cdf(p))(shares)
    assert found.tolist() == [statistics.NormalDist(1.0, 2.0).inv_cdf(p) for p in shares.tolist()]


def test_the_sun_of_astral_over_many_places():
    sun = pytest.importorskip("astral.sun", reason="astral is in no extra")
    from astral import Observer

    def elevation(latitude, longitude):
        return sun.elevation(Observer(latitude, longitude, 0.0), START)

    source = np.random.default_rng(8)
    places = source.uniform(-60, 60, 200), source.uniform(-180, 180, 200)
    with install(["astral"]):
        found = vectorize(elevation)(*places)
    expected = [elevation(*place) for place in zip(*[part.tolist() for part in places], strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=1e-12)
