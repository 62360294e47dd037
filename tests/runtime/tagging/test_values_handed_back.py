"""Whatever hands a value back, its metadata has arrived, or the loss names the leaf and the place."""

import csv

import pytest
from programs.tagging import handed_back, stores

from cassette_import import Context, NotOverdubbable, escapes, hasmetadata, install, overdub, tag
from cassette_import.contexts import Provenance, Taint


class Reports(Context, tagging=True):
    pass


class Refuses(Context, tagging=True):
    lost = "error"


def ask():
    return "".join(["x", "tex", "t"])


def query(text):
    return None


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([stores.__name__, handed_back.__name__]):
        yield


def by_own_context(ctx, f):
    try:
        value = overdub(ctx, f, tag(float("1.7234"), ctx, "cell"))
    except NotOverdubbable as error:
        return " is lost in " in str(error) and f"{f.__code__.co_filename}:" in str(error)
    except Exception:  # the error was the one that the program expected
        return True
    return type(value) is str or hasmetadata(value, ctx) or any(loss.filename for loss in escapes(ctx))


@pytest.mark.filterwarnings("ignore:Pickle, copy:DeprecationWarning")
@pytest.mark.parametrize("f", [*handed_back.HANDED_BACK, *stores.STORES], ids=lambda f: f.__name__)
def test_metadata_arrives_or_its_loss_is_reported(f):
    assert by_own_context(Reports(), f)
    assert by_own_context(Refuses(), f)

    def report(lines):
        for row in csv.DictReader(lines):
            return f(float(row["price"]))

    provenance = Provenance()
    number = overdub(provenance, report, ["price", "1.7234"])
    assert [cell.place for cell in provenance.cells(number)] == ["A2"] or escapes(provenance)


@pytest.mark.parametrize("f", handed_back.HANDED_BACK, ids=lambda f: f.__name__)
def test_a_tainted_text_is_found_or_its_loss_is_reported(f):
    if f.__name__ in ("by_literal", "by_evaluated_text"):
        pytest.skip("the text is no literal")

    def program():
        query(f(ask()))

    taint = Taint(sources=[f"{__name__}.ask"], sinks=[f"{__name__}.query"])
    overdub(taint, program)
    assert taint.findings or escapes(taint)


@pytest.mark.parametrize(
    "program",
    [lambda x: print(f"{x}", str(x)), lambda x: str(x).upper(), lambda x: [f"{x}"], lambda x: len(str(x)),
     lambda x: f"{x}".startswith("1"), lambda x: sorted([str(x), "a"])],
    ids=["print", "upper", "list", "len", "startswith", "sorted"],
)  # fmt: skip
def test_text_of_a_value_is_no_loss_until_a_number_is_read_from_it(program):
    ctx = Refuses()
    result = overdub(ctx, program, tag(1.5, ctx, "m"))
    assert type(result) in (type(None), str, list, int, bool)
    assert escapes(ctx) == []


def test_a_value_that_is_untagged_on_purpose_is_no_loss():
    ctx = Reports()
    assert overdub(ctx, lambda x: vars(type("C", (), {"a": x}))["a"], 1.5) == 1.5
    assert escapes(ctx) == []
