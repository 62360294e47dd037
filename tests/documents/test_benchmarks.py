"""The benchmarks run and print their tables. No test checks a speed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import growth, line_chart  # noqa: E402

SCRIPT = ROOT / "benchmarks" / "compare.py"


def compare(*arguments):
    """Run the benchmarks' command, without pyperformance's workloads."""
    environment = {name: value for name, value in os.environ.items() if name != "CASSETTE_WORKLOADS"}
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_puts_its_table_between_the_marks_of_a_document(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text("before\n<!-- own: begin -->\nold\n<!-- own: end -->\nafter\n", encoding="utf-8")
    done = compare("--quick", "--workloads", "records", "--ways", "inactive,count", "--output", str(document))
    assert done.returncode == 0, done.stderr
    text = document.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- own: begin -->\n## ")
    assert text.endswith("\n<!-- own: end -->\nafter\n")
    assert "\nold\n" not in text
    assert "| workload | plain, s | inactive | count |" in text
    assert re.search(r"^\| \*\*geometric mean\*\* \| \| \*\*\d+\.\d\d\*\* \| \*\*\d+\.\d\d\*\* \|$", text, re.MULTILINE)
    assert re.search(r"^\| records \| \d+\.\d{4} \| \d+\.\d\d \| \d+\.\d\d \|$", text, re.MULTILINE)
    assert "Problems:" not in text


@pytest.mark.parametrize("option", ["--workloads", "--ways"])
def test_an_unknown_name_is_one_line_and_status_2(option):
    done = compare("--quick", option, "no_such_thing")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no_such_thing" in done.stderr


def first_runs(*arguments):
    command = [sys.executable, ROOT / "benchmarks" / "first_runs.py", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_first_and_second_runs_of_a_program_are_a_row_of_a_table():
    pytest.importorskip("jinja2")
    done = first_runs("--rounds", "1", "--context", "nothing", "jinja2")
    assert done.returncode == 0, done.stderr
    number = r" \d+\.\d\d \|"
    assert re.search(rf"^\| jinja2 \|{number}{number} [1-9]\d* \|{number * 3}$", done.stdout, re.MULTILINE), done.stdout


def test_a_program_that_cannot_run_is_named_and_the_status_is_2():
    done = first_runs("--rounds", "1", "--python", sys.executable, "--context", "no_such_context", "jinja2")
    assert done.returncode == 2
    assert done.stderr.startswith("jinja2: ")


def test_an_unknown_program_is_an_error_that_names_those_that_there_are():
    done = first_runs("no_such_program")
    assert done.returncode == 2
    assert "no_such_program" in done.stderr
    assert "networkx" in done.stderr


def test_the_table_of_lanes_has_a_row_for_each_function_whose_package_is_installed():
    pytest.importorskip("numpy")
    script = ROOT / "benchmarks" / "lanes_table.py"
    done = subprocess.run(
        [sys.executable, script, "--lanes", "40", "--rounds", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert rows[0] == "| function | loop, µs | `np.vectorize` | numba | own | NumPy | C | lanes |"
    assert [row.split(" | ")[0] for row in rows[2:4]] == ["| sRGB, one branch", "| Kepler's equation"]
    assert all(re.search(r"\| \d[\d.e+-]* × \|$", row) for row in rows[2:])


def test_the_chart_of_growth_has_a_line_for_each_python_in_each_chart():
    charts = {"threads": {"3.12": [(1, 2.0), (8, 4.0)], "3.14": [(1, 1.0), (8, 3.0)]}, "depth": {"3.12": [(10, 5.0)]}}
    picture = ElementTree.fromstring(line_chart.lines("How costs & sizes grow", charts))
    lines = [element for element in picture.iter() if element.tag.endswith("polyline")]
    assert [line.get("points").count(",") for line in lines] == [2, 2, 1]
    assert len({line.get("stroke") for line in lines}) == 2
    first, last = ([*map(float, point.split(","))] for point in lines[0].get("points").split())
    assert first[0] < last[0]
    assert first[1] > last[1]  # upwards


def test_growth_is_measured_by_depth_and_by_tasks():
    rows = [*growth.depth((10, 100), 1), *growth.tasks((1, 3), 1)]
    assert [(row.what, row.size) for row in rows] == [
        ("depth of calls", "10"),
        ("depth of calls", "100"),
        ("tasks", "1"),
        ("tasks", "3"),
    ]
    assert all(row.ratio > 0 for row in rows)
    assert growth.table({"3.12": rows}).count("\n") == 5


def fuzzing(*arguments):
    command = [sys.executable, ROOT / "benchmarks" / "fuzzing.py", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the runs of fuzzers, as Linux does it")
def test_the_branches_that_fuzzers_reach_are_a_row_for_each_target(tmp_path):
    results = tmp_path / "runs.json"
    done = fuzzing("crc", "--tools", "fuzz", "--seconds", "2", "--seeds", "2", "--results", str(results))
    assert done.returncode == 0, done.stderr
    header, _, row = done.stdout.splitlines()
    assert header == "| branches in 2 s | fuzz |"
    assert re.fullmatch(r"\| a format with a CRC \| [1-8](\.5)? \([1-8] to [1-8]\) \|", row)
    again = fuzzing("crc", "--tools", "fuzz", "--seconds", "2", "--seeds", "2", "--results", str(results))
    assert again.stdout == done.stdout


def test_the_table_of_fuzzers_has_the_seeds_that_all_tools_have_run_so_far(tmp_path):
    results = tmp_path / "runs.jsonl"
    runs = [("fuzz", 0, 8), ("fuzz", 1, 6), ("fuzz", 2, 1), ("atheris", 0, 4), ("atheris", 1, 4)]
    lines = [
        json.dumps({"tool": tool, "target": "crc", "seed": seed, "seconds": 60, "branches": branches})
        for tool, seed, branches in runs
    ]
    results.write_text("\n".join([*lines, '{"tool": "fuzz", "targ']))
    done = fuzzing("--table", "--tools", "fuzz,atheris", "--results", str(results))
    assert done.stdout.splitlines()[2:] == ["| a format with a CRC | 7 (6 to 8) | 4 (4 to 4) |"]
    assert done.stderr == "crc: 2 seeds\n"


def test_an_unknown_target_of_fuzzers_is_an_error_that_names_those_that_there_are():
    done = fuzzing("no_such_target")
    assert done.returncode == 2
    assert "there is no no_such_target: choose from tomli, sqlparse" in done.stderr
