"""`--cassette-context=trace`: where the calls of the tests are shown."""

import pytest
from helpers.pytest_runs import run_pytest

FILES = {
    "shop.py": "def price(n):\n    return abs(n)\n\ndef total(n):\n    return price(n)\n",
    "test_shop.py": "import shop\n\ndef test_a():\n    shop.total(1)\n\ndef test_b():\n    assert shop.total(2) == 3\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_calls_of_a_test_that_failed_are_shown_and_the_summary_says_so(project):
    done = run_pytest("--cassette-packages=shop", "--cassette-context=trace", folder=project)
    shown = done.stdout.partition("Captured stderr call")[2]
    assert "price(2)" in shown
    assert "price(1)" not in done.stdout
    assert "pytest shows them with the output of tests that failed, and with -s those of all tests" in done.stdout


def test_all_calls_are_shown_if_pytest_does_not_capture(project):
    done = run_pytest("-s", "--cassette-packages=shop", "--cassette-context=trace", folder=project)
    assert "price(1)" in done.stderr
    assert "pytest shows them" not in done.stdout
