"""Each example runs unchanged, from any folder, and prints what its docstring describes."""

import math
import re
from pathlib import Path

import pytest
from helpers.command_line import cassette, run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WITH_A_TEST = {
    "capture_assignments.py",
    "choose_by_function.py",
    "compile_template.py",
    "enclose_route.py",
    "find_lost_digits.py",
    "flask_injection.py",
    "memoise_fib.py",
    "paving.py",
    "print_calls.py",
    "profile_jinja2.py",
    "profile_jinja2_plain.py",
    "propagate_errors.py",
    "replace_network_call.py",
    "reuse_arrays.py",
    "sales_report.py",
    "satellite_day.py",
    "sin_to_cos.py",
    "slice_prints.py",
    "sparse_jacobian.py",
    "step_debugger.py",
    "vectorize_package.py",
    "water_densities.py",
}
PAGES = "25 pages, 22551 characters\n"


def shown(example, folder):
    """Return the output of an example; it has to end with status 0 and without messages."""
    outcome = run(EXAMPLES / example, folder=folder)
    assert (outcome.status, outcome.stderr) == (0, "")
    return outcome.stdout


def needs(package):
    pytest.importorskip(package, reason=f"the example is about {package}, which is not installed")


def calls_of(function, file, table):
    """Return how often a function was called, by the table of a profile."""
    row = re.search(rf"^ *(\d+)\S* .*\b{file}:\d+\({function}\)$", table, re.MULTILINE)
    assert row is not None, table
    return int(row[1])


def test_every_example_has_a_test():
    assert {path.name for path in EXAMPLES.glob("*.py")} == WITH_A_TEST


def test_memoise_fib(tmp_path):
    assert shown("memoise_fib.py", tmp_path).splitlines() == [
        "fib(40) = 102334155",
        "calls:  40",
        "saved:  204668269",
    ]


def test_print_calls(tmp_path):
    assert shown("print_calls.py", tmp_path).splitlines() == [
        "divide (1, 2)",
        "float (1,)",
        "float (2,)",
        "truediv (1.0, 2.0)",
        "0.5",
    ]


def test_sin_to_cos(tmp_path):
    lines = shown("sin_to_cos.py", tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["plain:", "sin->cos:", "plain:"]
    before, swapped, after = ([float(word) for word in line.split()[1:]] for line in lines)
    assert swapped[0] == swapped[1]
    assert not math.isclose(*before)
    assert not math.isclose(*after)


def test_slice_prints(tmp_path):
    assert shown("slice_prints.py", tmp_path).splitlines() == [
        "result: 8",
        "the report",
        "adding up 3 prices",
        "their mean: 5.0",
    ]


def test_capture_assignments(tmp_path):
    assert shown("capture_assignments.py", tmp_path).splitlines() == [
        "(3.0, 2.160246899469287)",
        "  line 1: total = 9",
        "  line 2: mean = 3.0",
        "  line 3: squares = [4.0, 1.0, 9.0]",
        "  line 4: spread = 2.160246899469287",
    ]


def test_step_debugger(tmp_path):
    lines = shown("step_debugger.py", tmp_path).splitlines()
    assert lines[:4] == [
        "1: steps = 0       n = 3, steps = 0",
        "4: n = 3 * n + 1   n = 10",
        "3: if n % 2:",
        "7: steps += 1      steps = 1",
    ]
    assert lines[-2:] == ["2: while n > 1:", "steps: 7"]
    assert len(lines) == 1 + 7 * 3 + 1 + 1


def test_choose_by_function(tmp_path):
    assert shown("choose_by_function.py", tmp_path).splitlines() == [
        "one by one:  [2.0, 15.0, 27.5]",
        "all at once: [2.0, 15.0, 27.5]",
    ]


def test_replace_network_call(tmp_path):
    assert shown("replace_network_call.py", tmp_path) == (
        "answered without a network: https://example.invalid/robots.txt\n"
    )


def test_replace_network_call_is_a_test_for_pytest(tmp_path):
    copy = tmp_path / "test_robots.py"
    copy.write_text((EXAMPLES / "replace_network_call.py").read_text(encoding="utf-8"), encoding="utf-8")
    outcome = run("-m", "pytest", "-q", copy, folder=tmp_path)
    assert outcome.status == 0, outcome
    assert "1 passed" in outcome.stdout


def test_profile_jinja2(tmp_path):
    needs("jinja2")
    lines = shown("profile_jinja2.py", tmp_path).splitlines()
    assert re.fullmatch(r"profile: \d+ calls \(\d+ primitive\) of \d+ functions in .*, sorted by self time.*", lines[0])
    assert lines[2].split()[:2] == ["calls", "self"]
    assert len(lines) == 3 + 10 + 1
    assert any("jinja2/" in line for line in lines[3:13])
    assert re.fullmatch(r" *… \d+ further rows", lines[13])


def test_profile_jinja2_plain(tmp_path):
    needs("jinja2")
    assert shown("profile_jinja2_plain.py", tmp_path) == PAGES


def test_profile_jinja2_plain_on_the_command_line(tmp_path):
    needs("jinja2")
    table = tmp_path / "table.txt"
    program = EXAMPLES / "profile_jinja2_plain.py"
    outcome = cassette("run", "-p", "jinja2", "-o", table, program, folder=tmp_path)
    assert (outcome.status, outcome.stdout) == (0, PAGES)
    assert calls_of("generate", "compiler.py", table.read_text(encoding="utf-8")) == 25


def test_sales_report(tmp_path):
    outcome = run(EXAMPLES / "sales_report.py", EXAMPLES / "sales.csv", folder=tmp_path)
    assert outcome.stdout.splitlines()[:2] == ["cake        4.00    24%", "tea        13.00    76%"]


def test_flask_injection(tmp_path):
    needs("flask")
    outcome = run("-m", "cassette_import", "run", "-c", "taint", EXAMPLES / "flask_injection.py", folder=tmp_path)
    assert outcome.stdout.splitlines() == [
        'mail [["ann@example.org"],["bob@example.org"]]',
        "mail-safely []",
    ]
    lines = outcome.stderr.splitlines()
    assert lines[:2] == [
        "taint: 1 finding",
        "SQL: werkzeug.sansio.request.Request.args reaches sqlite3.Connection.execute",
    ]
    assert [line.split(" in ")[1] for line in lines[2:-1]] == [
        "mail: request.args",
        'mail: request.args["name"].strip()',
        'mail: "name = \'" + name + "\'"',
        'select: f"SELECT {columns} FROM users WHERE {condition}"',
        "mail: users.execute(query)",
    ]


def test_enclose_route(tmp_path):
    needs("flint")
    needs("geographiclib")
    assert shown("enclose_route.py", tmp_path).splitlines() == [
        "lat2 is between 53.0046 and 53.0239",
        "lon2 is between -8.2274 and -8.1676",
        "azi2 is between 101.5899 and 101.6131",
    ]


def test_sparse_jacobian(tmp_path):
    needs("numpy")
    needs("scipy")
    outcome = run(EXAMPLES / "sparse_jacobian.py", "4", folder=tmp_path)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("32 inputs, 192 entries, ")
    assert float(outcome.stdout.split()[-1]) < 1e-3


def test_compile_template(tmp_path):
    needs("jinja2")
    lines = shown("compile_template.py", tmp_path).splitlines()
    assert lines[:4] == ["Dear Bob,", "1. RICE: 3.00", "2. OIL: 12.25", "Thanks for 2 orders."]
    assert lines[4].startswith("x = ('').join(['Dear ', name, ")


def test_vectorize_package(tmp_path):
    needs("fluids")
    needs("numba")
    assert shown("vectorize_package.py", tmp_path).splitlines() == ["DUFunc (1001,)", "the same within 1e-14"]


def test_water_densities(tmp_path):
    needs("flint")
    needs("chemicals")
    lines = shown("water_densities.py", tmp_path).splitlines()
    assert [line[:24] for line in lines] == [
        "one density between 13.2",
        "one density between 37.6",
        "one density between 331.",
        "one density between 629.",
        "one density between 831.",
    ]


def test_paving(tmp_path):
    needs("flint")
    needs("matplotlib")
    outcome = run(EXAMPLES / "paving.py", "paving.svg", folder=tmp_path)
    assert re.fullmatch(r"\d+ boxes of solutions, \d+ on the boundary\n", outcome.stdout)
    assert (tmp_path / "paving.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_satellite_day(tmp_path):
    needs("sgp4")
    needs("matplotlib")
    outcome = run(EXAMPLES / "satellite_day.py", "satellites.svg", folder=tmp_path)
    assert outcome.stdout.splitlines() == [
        "Delta 1: 86400 positions, 373 to 423 km high",
        "Molniya 2-14: 86400 positions, 1947 to 38430 km high",
        "GPS: 86400 positions, 20059 to 20305 km high",
    ]
    assert (tmp_path / "satellites.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_reuse_arrays(tmp_path):
    pytest.importorskip("numpy", minversion="2", reason="the example is about NumPy 2")
    outcome = run(EXAMPLES / "reuse_arrays.py", "20000", folder=tmp_path)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert re.findall(r"(\w+), \d+, \d+$", outcome.stdout, re.MULTILINE) == ["True"] * 3


def test_propagate_errors(tmp_path):
    needs("geographiclib")
    assert shown("propagate_errors.py", tmp_path).splitlines() == [
        "distance: 27260.05 m ± 1.84 m",
        "rest: 22260.05 m ± 10.17 m",
        "distance - distance: 0.00 m ± 0.00 m",
        "  latitude of the end: 1.18 m",
        "  latitude of the start: 0.59 m",
        "  longitude of the end: 1.15 m",
        "  longitude of the start: 0.58 m",
        "  walked: 10.00 m",
    ]


def test_the_example_of_a_number_system_has_fewer_than_a_hundred_lines():
    assert len((EXAMPLES / "propagate_errors.py").read_text(encoding="utf-8").splitlines()) < 100


def test_find_lost_digits(tmp_path):
    needs("ht")
    needs("mpmath")
    lines = shown("find_lost_digits.py", tmp_path).splitlines()
    assert lines[0] == "LMTD: 29.999906742394874, relative error 3.1e-06"
    assert re.fullmatch(r" 33\.9 bits  \S*core\.py:\d+ in LMTD: log\(dTF2/dTF1\)", lines[1])
    assert lines[2] == "  significant digits: 5.5"
    assert lines[3].startswith("repaired: 29.999999999499998, relative error ")
    assert float(lines[3].split()[-1]) < 1e-15
    assert float(lines[4].split()[-1]) > 15
