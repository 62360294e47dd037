"""Allocations by call site, against programs whose bytes are counted by hand."""

import json
import re
import sys
import textwrap
import threading
import tracemalloc

import pytest
from helpers.command_line import cassette, run

from cassette_import import overdub
from cassette_import.contexts import Allocations
from cassette_import.contexts.allocations import Site

BYTES = sys.getsizeof(b"")  # what an object `bytes` needs besides its data
MANY = 100_000
FLOATS = 1000
SLACK = 4_000
"""Bytes of what else a run allocates: frames, numbers, what call sites learn at their first event."""
kept = []


def line_of(function, offset):
    return Site(__file__, function.__code__.co_firstlineno + offset)


def measured(function, *args):
    """The context in which a function has run, its code compiled before."""
    overdub(Allocations(), function, *args)
    kept.clear()
    allocations = Allocations()
    overdub(allocations, function, *args)
    return allocations


def two_blocks():
    first = bytes(MANY)
    second = bytes(2 * MANY)
    return len(first) + len(second)


def leak():
    kept.append(bytes(MANY))


def calls_leak():
    leak()
    leak()


def temporary():
    block = bytearray(MANY)
    return len(block)


def calls_temporary():
    for _ in range(3):
        temporary()
    return bytes(10)


def floats(count):
    return [float(each) + 0.5 for each in range(count)]


def returns_floats():
    kept.append(floats(FLOATS))


def blocks(count):
    for _ in range(count):
        yield bytes(MANY)


def takes_blocks():
    kept.extend(blocks(3))


def fails():
    block = bytes(MANY)
    raise ValueError(len(block))


def survives():
    try:
        fails()
    except ValueError:
        kept.append(bytes(7))


def recursive(depth):
    block = bytes(MANY)
    return len(block) + (recursive(depth - 1) if depth else 0)


def does_nothing(x):
    return x


def calls_nothing():
    for _ in range(50):
        does_nothing(_)


def test_the_bytes_of_a_call_are_exact_by_line():
    by_site = measured(two_blocks).by_site
    assert by_site[line_of(two_blocks, 1)].bytes == MANY + BYTES
    assert by_site[line_of(two_blocks, 2)].bytes == 2 * MANY + BYTES


def test_what_a_cache_keeps_is_exact_and_belongs_to_the_line_that_made_it():
    found = measured(calls_leak).by_site[line_of(leak, 1)]
    assert found.kept >= 2 * (MANY + BYTES)
    assert found.kept < 2 * (MANY + BYTES) + 500  # the list itself grew there too
    assert found.blocks in (2, 3)


def test_what_a_function_frees_again_is_in_its_peak_and_not_left():
    allocations = measured(calls_temporary)
    found = allocations.by_site[line_of(calls_temporary, 2)]
    size = sys.getsizeof(bytearray(MANY))
    assert found.calls == 3
    assert size <= found.peak <= size + SLACK
    assert abs(found.left) < SLACK
    assert size <= allocations.peak.bytes <= size + SLACK
    assert [name for _, _, name in allocations.peak.stack][-2:] != []
    assert "temporary" in [name for _, _, name in allocations.peak.stack]
    assert allocations.kept < SLACK


def grows_and_shrinks():
    first = bytes(MANY)
    second = bytes(2 * MANY)
    size = len(second)
    del second
    third = bytes(MANY // 2)
    return size + len(first) + len(third)


def test_what_was_alive_at_the_peak_is_known_by_line():
    allocations = measured(grows_and_shrinks)
    first, second, third = (allocations.by_site[line_of(grows_and_shrinks, line)].alive for line in (1, 2, 5))
    assert MANY + BYTES <= first < MANY + BYTES + 500  # its frame is memory too
    assert 2 * MANY + BYTES <= second < 2 * MANY + BYTES + 500
    assert third == 0
    assert 0 <= allocations.peak.bytes - allocations.peak.alive < SLACK


def test_what_was_alive_at_the_peak_includes_the_data_of_arrays():
    numpy = pytest.importorskip("numpy", reason="an extra for tests brings NumPy")

    def sums():
        array = numpy.zeros(MANY)
        return float(numpy.sum(array))

    assert measured(sums).by_site[line_of(sums, 1)].alive >= 8 * MANY


def many_blocks():
    texts = [str(each) * 50 for each in range(20_000)]
    size = len(texts)
    texts.clear()
    return size, bytes(10)


def test_what_was_alive_at_the_peak_is_known_to_an_eighth_if_there_are_many_blocks():
    allocations = measured(many_blocks)
    alive = allocations.by_site[line_of(many_blocks, 1)].alive
    assert allocations.peak.bytes * 8 / 9 - SLACK <= alive <= allocations.peak.bytes
    assert abs(allocations.peak.alive - alive) < 2 * SLACK


def peak_between_events():
    return len(b"".join([bytes(MANY)] * 10))


def test_a_peak_between_two_events_is_higher_than_what_was_alive_at_one():
    peak = measured(peak_between_events).peak
    assert peak.bytes > 10 * MANY
    assert peak.alive <= peak.bytes


def test_a_list_of_floats_is_left_with_all_its_floats():
    found = measured(returns_floats).by_site[line_of(returns_floats, 1)]
    expected = FLOATS * sys.getsizeof(0.5) + sys.getsizeof(kept[-1])
    free_list = 100 * sys.getsizeof(0.5)  # floats that the interpreter had put aside
    assert expected - free_list - 500 <= found.left <= expected + 500


def test_the_body_of_a_generator_is_measured_where_it_runs():
    by_site = measured(takes_blocks).by_site
    assert by_site[line_of(blocks, 2)].bytes == 3 * (MANY + BYTES)
    assert by_site[line_of(blocks, 2)].kept == 3 * (MANY + BYTES)
    assert by_site[line_of(blocks, 0)].calls == 4


def test_a_call_that_raises_is_measured_to_its_end():
    by_site = measured(survives).by_site
    assert MANY + BYTES <= by_site[line_of(survives, 2)].cumulative < MANY + BYTES + SLACK
    assert by_site[line_of(survives, 4)].bytes == BYTES + 7 + sys.getsizeof([0]) - sys.getsizeof([]) + 24


def test_a_recursive_call_counts_once():
    found = measured(recursive, 4).by_site[line_of(recursive, 2)]
    assert found.calls == 4 + 5  # `len` is in the same line
    assert 4 * (MANY + BYTES) <= found.cumulative < 4 * (MANY + BYTES) + SLACK


def test_the_memory_of_the_context_itself_is_not_counted():
    by_site = measured(calls_nothing).by_site
    found = by_site[line_of(calls_nothing, 2)]
    assert (found.calls, found.bytes, found.left, found.kept) == (50, 0, 0, 0)


def test_the_data_of_arrays_is_counted():
    numpy = pytest.importorskip("numpy", reason="needs NumPy")

    def zeros():
        kept.append(numpy.zeros(MANY))

    found = measured(zeros).by_site[line_of(zeros, 1)]
    assert 8 * MANY < found.bytes < 8 * MANY + 500
    assert 8 * MANY < found.kept < 8 * MANY + 500


def test_operators_are_measured_each_by_itself_if_wanted():
    numpy = pytest.importorskip("numpy", reason="needs NumPy")

    def sums(array):
        return (array + 1.0) * 2.0 - 3.0

    array = numpy.zeros(MANY)
    overdub(Allocations(operators=True), sums, array)
    allocations = Allocations(operators=True)
    overdub(allocations, sums, array)
    found = allocations.by_site[line_of(sums, 1)]
    assert found.calls == 3
    # NumPy computes in place of a temporary array that nothing else refers to, if it sees that.
    assert 8 * MANY < found.bytes < 3 * 8 * MANY + SLACK


def test_each_thread_has_its_own_tree():
    def work():
        kept.append(bytes(MANY))
        kept.append(bytes(MANY))

    def main():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    allocations = measured(main)
    assert allocations.by_site[line_of(work, 2)].bytes == MANY + BYTES
    assert allocations.by_site[line_of(work, 1)].kept >= MANY + BYTES
    assert len(allocations._memory.trees) == 2


CYCLES = """
import gc
from cassette_import import overdub
from cassette_import.contexts import Allocations

def cycles():
    for _ in range(3000):
        cycle = []
        cycle.append((cycle, bytes(1000)))

overdub(Allocations(), cycles)
allocations = Allocations()
gc.set_threshold(300)
overdub(allocations, cycles)
print(allocations.peak.bytes)
"""


def test_garbage_that_is_collected_while_a_hook_runs_is_known_to_be_free(tmp_path):
    """A process of its own collects when this program fills a generation, and not when others do."""
    (tmp_path / "program.py").write_text(CYCLES)
    done = run("program.py", folder=tmp_path)
    assert int(done.stdout) < 1_200_000  # and not one and a half million


def test_a_block_measures_and_ends_measuring():
    with Allocations() as allocations:
        two_blocks()
    assert not tracemalloc.is_tracing()
    assert allocations.by_site[line_of(two_blocks, 1)].bytes == MANY + BYTES


def test_a_generator_that_is_run_later_is_measured_while_it_runs():
    allocations = Allocations()
    found = list(overdub(allocations, blocks, 2))
    assert not tracemalloc.is_tracing()
    assert allocations.by_site[line_of(blocks, 2)].bytes == 2 * (MANY + BYTES)
    del found


def test_memory_that_is_traced_already_is_an_error_that_says_what_to_do():
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match="traced already, by PYTHONTRACEMALLOC"):
            overdub(Allocations(), two_blocks)
        with pytest.raises(RuntimeError, match="traced already"), Allocations():
            pass
    finally:
        tracemalloc.stop()
    with Allocations(), pytest.raises(RuntimeError, match="by another context"):
        overdub(Allocations(), two_blocks)


def test_a_program_that_would_spoil_the_measurement_is_told_where():
    def spoils():
        tracemalloc.reset_peak()

    with pytest.raises(RuntimeError, match=r"test_allocations.py:\d+ calls tracemalloc.reset_peak"):
        overdub(Allocations(), spoils)
    assert not tracemalloc.is_tracing()


def test_further_paths_share_a_node():
    allocations = Allocations(paths=3)
    overdub(allocations, recursive, 5)
    assert "<further paths>" in str([found.function for found in allocations.by_site.values()])
    total = sum(found.bytes for found in allocations.by_site.values())
    assert total >= 6 * (MANY + BYTES)


def test_the_command_line_shows_the_sites(tmp_path):
    (tmp_path / "app.py").write_text(
        textwrap.dedent(
            """
            CACHE = []
            def load():
                CACHE.append(bytes(500_000))
            load()
            """
        )
    )
    done = cassette("run", "-c", "allocations:limit=3", "app.py", folder=tmp_path)
    assert done.status == 0, done.stderr
    assert "app.py:4 in load: CACHE.append(bytes(500_000))" in done.stderr
    done = cassette("run", "-c", "allocations", "-o", "found.txt", "app.py", folder=tmp_path)
    assert (done.status, done.stderr) == (0, ""), done.stderr
    text = (tmp_path / "found.txt").read_text()
    assert "500033" in text


def test_imports_and_module_levels_have_rows_of_their_own(tmp_path):
    (tmp_path / "app.py").write_text("import string\n\ndef load():\n    return bytes(500_000)\nload()\n")
    done = cassette("run", "-c", "allocations", "-o", "found.txt", "app.py", folder=tmp_path)
    assert done.status == 0, done.stderr
    rows = [re.split(r" {2,}", row.strip()) for row in (tmp_path / "found.txt").read_text().splitlines()]
    cumulative = {row[-1]: int(row[2]) for row in rows if len(row) == 9 and row[0].isdecimal()}
    assert cumulative["<imports>"] < 500_000
    assert cumulative["<MainThread>"] > cumulative["app.py in <module>"] > 500_000


def test_each_format_has_the_bytes(tmp_path):
    allocations = measured(calls_temporary)
    for suffix, write in allocations.formats.items():
        write(str(tmp_path / f"found{suffix}"))
    size = sys.getsizeof(bytearray(MANY))
    assert f";test_allocations.py:{temporary.__code__.co_firstlineno}(temporary);<class 'bytearray'> {3 * size}\n" in (
        (tmp_path / "found.folded").read_text()
    )
    (profile,) = json.loads((tmp_path / "found.json").read_text())["profiles"]
    assert (profile["unit"], profile["events"][0]["type"]) == ("bytes", "O")
    assert profile["endValue"] == sum(found.bytes for found in allocations.by_site.values())
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', (tmp_path / "found.html").read_text())[1])
    assert data["unit"] == "bytes"
    assert sum(data["self"]) == profile["endValue"]


@pytest.mark.parametrize("option", [{"sort": "size"}, {"limit": -1}, {"paths": "many"}, {"operators": 3}])
def test_a_wrong_option_is_one_clear_line(option):
    with pytest.raises(ValueError, match=next(iter(option))) as caught:
        Allocations(**option)
    assert "\n" not in str(caught.value)
