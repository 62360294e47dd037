"""Columns in what contexts report count characters, also behind characters that UTF-8 writes with several bytes."""

from cassette_import import overdub
from cassette_import.contexts import CallTypes, Profile
from cassette_import.contexts.fuzz import fuzz
from cassette_import.contexts.graph import residual, unknown


def double(x):
    return 2 * x


def calls():
    return "äöü日本", double(3)


COLUMN = '    return "äöü日本", double(3)'.index("double") + 1


def fails(text):
    return "äöü", 1 // len(text)


def assigns(x):
    größe = x * x
    return größe + größe / 3


def test_the_column_of_call_types_is_in_characters():
    types = CallTypes()
    overdub(types, calls)
    assert f":{COLUMN} in calls\n" in types.summary()


def test_the_column_of_a_call_site_of_profile_is_in_characters():
    profile = Profile(sites=True)
    overdub(profile, calls)
    assert f":{COLUMN} in calls: double" in profile.summary().replace("test_columns_in_characters.", "")


def test_the_source_of_a_finding_is_what_raised():
    (found,) = fuzz(fails, ["a"], executions=200)
    assert found.callsite.source == "1 // len(text)"


def test_a_residual_has_the_names_of_the_program():
    made = residual(assigns, unknown("x", 2.0))
    assert made(3.0) == assigns(3.0)
    assert "größe = x * x" in made.source
