"""`CassettePlugin` and `PoolInitializer`: contexts are active in workers, and their results come together."""

import json
import os
import pstats
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import import install, overdub
from cassette_import.contexts import CallTypes, Profile, Record, Replay
from cassette_import.distributed import CassettePlugin, TaskMismatch, file_of_task

DESCRIBE = """
import fractions

class Kind(list):
    def __init__(self, name, parent=None):
        self.name, self.parent = name, parent

    @staticmethod
    def of(value):
        return Kind(type(value).__name__)

    async def later(self):
        return 1

def describe(value, *, times=1):
    if times == 9:
        raise KeyError(value)
    return [Kind.of(value)] * times if value else None

def fail(*values, **named):
    raise OSError

def each(values):
    return [(value, type(value)) for value in values]

def describe_all(number):
    describe(number if number == 3 else "text")
    describe(0, times=number)
    Kind("name", parent=Kind("parent") if number == 4 else None).later().close()
    each([fractions.Fraction(1), None] if number == 3 else [[1], {"key": describe}])
    for function in (fail, lambda *values, **named: describe("text", times=9)):
        try:
            function(number, name=number / 2) if number == 3 else function("a", more=b"")
        except (OSError, KeyError):
            pass
"""


@pytest.fixture(scope="module")
def package(folder, work):
    (folder / "parallel_shop.py").write_text(
        "def tax(price):\n    return price * 2\n\ndef total(count):\n    return sum(tax(n) for n in range(count))\n\n"
        "def half(price):\n    return price / 2\n\n"
        "import random\nfrom cassette_import.contexts import Record, Replay\n\n"
        "def draw():\n    return random.SystemRandom().random()\n\n"
        "def drawn(kind, path):\n    with kind(path):\n        return draw()\n\n"
        "def recorded(path):\n    return drawn(Record, path)\n\n"
        "def replayed(path):\n    return drawn(Replay, path)\n\n"
        "def drawing(count):\n    return [draw() for _ in range(count)]\n\n" + DESCRIBE
    )
    import parallel_shop

    return parallel_shop


@pytest.fixture(scope="module")
def path_on_workers(client, folder):
    client.wait_for_workers(2)
    client.run(_extend_path, str(folder))


def _extend_path(folder):
    import sys

    sys.path.append(folder)


_extend_path.__module__ = "__main__"  # so that it is sent by value


def _calls(path, name):
    return sum(figures[1] for (_, _, function), figures in pstats.Stats(path).stats.items() if function == name)


def test_a_profile_has_the_calls_of_all_workers(client, path_on_workers, package, tmp_path):
    plugin = CassettePlugin("parallel_shop", "profile")
    client.register_plugin(plugin)
    done = [
        client.submit(package.total, 5, pure=False, workers=[worker]) for worker in client.scheduler_info()["workers"]
    ]
    assert [one.result() for one in done] == [20, 20]
    written = plugin.write(client, tmp_path / "run.prof")
    assert len(written) == 3
    assert _calls(written[0], "tax") == 10
    assert plugin.summary(client).count("tcp://") == 2
    assert "parallel_shop" in json.dumps(plugin.report(client))
    client.unregister_worker_plugin(plugin.name)
    client.submit(package.total, 7, pure=False).result()
    assert _calls(plugin.write(client, tmp_path / "again.prof")[0], "tax") == 10


def test_a_plugin_stays_active_when_an_earlier_one_is_unregistered(client, path_on_workers, package, tmp_path):
    first, second = CassettePlugin("parallel_shop", "profile"), CassettePlugin("parallel_shop", "profile")
    client.register_plugin(first)
    client.register_plugin(second)
    client.unregister_worker_plugin(first.name)
    client.submit(package.total, 6, pure=False).result()
    assert [_calls(one.write(client, tmp_path / "run.prof")[0], "tax") for one in (first, second)] == [0, 6]
    client.unregister_worker_plugin(second.name)
    client.submit(package.total, 6, pure=False).result()
    assert _calls(second.write(client, tmp_path / "run.prof")[0], "tax") == 6


@pytest.fixture
def in_workers(client, path_on_workers, package):
    """Runs two tasks in a context, one on each worker; returns the plugin and their results."""
    plugins = []

    def run(context, function=package.total, **options):
        plugin = CassettePlugin("parallel_shop", context, **options)
        client.register_plugin(plugin)
        plugins.append(plugin)
        workers = client.scheduler_info()["workers"]
        done = [client.submit(function, 3 + n, pure=False, workers=[one]) for n, one in enumerate(workers)]
        return plugin, [one.result() for one in done]

    yield run
    for plugin in plugins:
        client.unregister_worker_plugin(plugin.name)


def test_a_call_graph_adds_up_the_calls_of_all_workers(in_workers, client, tmp_path):
    plugin, _ = in_workers("callgraph")
    written = plugin.write(client, tmp_path / "graph.mmd")
    assert [os.path.basename(path) for path in written] == ["graph.mmd", "graph-1.mmd", "graph-2.mmd"]
    together = plugin.summary(client).partition("together:\n")[2]
    assert [line.split()[0] for line in together.splitlines() if line.endswith("-> parallel_shop.tax")] == ["7"]


def test_call_types_have_the_calls_of_all_workers(in_workers, client, tmp_path):
    plugin, _ = in_workers("call-types")
    everything = plugin.write(client, tmp_path / "types.json")[0]
    entries = json.loads((tmp_path / "types.json").read_text())
    assert everything == str(tmp_path / "types.json")
    assert [call for entry in entries for call in entry["calls"] if "tax" in call["types"]] == [
        {"types": "tax(int) -> int", "count": 7}
    ]
    assert "7 × tax(int) -> int" in plugin.summary(client).partition("together:\n")[2]


def test_stubs_of_all_workers_are_those_of_one_process_with_all_calls(in_workers, client, package, tmp_path):
    """The tasks have the arguments 3 and 4, with which `describe_all` calls the same functions with other types."""
    plugin, _ = in_workers("call-types", package.describe_all)
    whole, *parts = plugin.write(client, tmp_path / "types.pyi")
    here = CallTypes()
    with install("parallel_shop"):
        for number in (3, 4):
            overdub(here, package.describe_all, number)
    assert Path(whole).read_text() == here.stubs()["parallel_shop"] + "\n"
    assert all(Path(part).read_text() != Path(whole).read_text() for part in parts)
    assert "def describe(value: typing.Any, *, times: int = ...)" in Path(whole).read_text()


def test_a_worker_without_calls_of_the_chosen_module_has_no_stub(client, path_on_workers, package, tmp_path):
    plugin = CassettePlugin("parallel_shop", "call-types:module=parallel_shop")
    client.register_plugin(plugin)
    with pytest.raises(ValueError, match="no function of a module 'parallel_shop' was called"):
        plugin.write(client, tmp_path / "types.pyi")
    client.submit(package.total, 3, pure=False).result()
    assert [os.path.basename(one) for one in plugin.write(client, tmp_path / "types.pyi")] == [
        "types.pyi",
        "types-1.pyi",
    ]
    client.unregister_worker_plugin(plugin.name)


def test_a_flame_graph_has_the_paths_of_all_workers(in_workers, client, tmp_path):
    plugin, _ = in_workers("profile")
    whole, *parts = plugin.write(client, tmp_path / "run.folded")

    def microseconds(path):
        return sum(int(line.rpartition(" ")[2]) for line in Path(path).read_text().splitlines())

    assert microseconds(whole) == sum(map(microseconds, parts)) > 0


def test_a_page_has_a_flame_graph_of_all_workers_and_one_by_worker(in_workers, client, tmp_path):
    plugin, _ = in_workers("profile")
    assert len(plugin.write(client, tmp_path / "run.html")) == 3
    page = (tmp_path / "run.html").read_text()
    data = json.loads(page.partition('type="application/json">')[2].partition("</script>")[0])
    start = data["views"]["by process"]
    names = [data["frames"][frame][0] for frame in data["frame"]]
    calls = [(at >= start, data["calls"][at]) for at, name in enumerate(names) if name == "tax"]
    assert sorted(calls) == [(False, 7), (True, 3), (True, 4)]
    assert len([name for name in names if name.startswith("tcp://")]) == 2
    assert [row[0] for row in data["functions"] if row[-1] == "tax"] == [7]


def test_the_table_of_a_profile_is_by_worker_and_together(in_workers, client, tmp_path):
    plugin, _ = in_workers("profile")
    together = plugin.summary(client).partition("together:\n")[2]
    (row,) = [line for line in together.splitlines() if line.endswith("(tax)")]
    assert row.split()[0] == "7"
    assert plugin.write(client, tmp_path / "run.txt")[0] == str(tmp_path / "run.txt")
    assert "(tax)" in (tmp_path / "run.txt").read_text()


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".json"])
def test_a_trace_has_the_calls_of_all_workers(in_workers, client, tmp_path, suffix):
    plugin, _ = in_workers("trace", suffix=suffix)
    plugin.write(client, tmp_path / f"trace{suffix}")
    text = (tmp_path / f"trace{suffix}").read_text()
    assert text.count("tax") == (14 if suffix == ".jsonl" else 7)
    if suffix == ".json":
        assert {event["pid"] for event in json.loads(text)} == {1, 2}
    if suffix == ".jsonl":
        assert len({json.loads(line)["process"] for line in text.splitlines()}) == 2


def test_a_trace_without_a_format_is_refused_when_it_is_written(in_workers, client, tmp_path):
    plugin, _ = in_workers("trace")
    with pytest.raises(ValueError, match=r"give suffix='\.txt' when the workers start"):
        plugin.write(client, tmp_path / "trace.txt")


def test_workers_share_the_results_of_a_folder(in_workers, client, tmp_path):
    pytest.importorskip("diskcache", reason="diskcache is not installed")
    plugin, _ = in_workers(f"memoize:functions=parallel_shop.tax,folder={tmp_path / 'kept'}")
    for worker in client.scheduler_info()["workers"]:
        assert client.submit(_total_of_five, pure=False, workers=[worker]).result() == 20
    plugin.write(client, tmp_path / "memoize.json")
    (figures,) = json.loads((tmp_path / "memoize.json").read_text()).values()
    assert figures["calls"] == 17
    assert figures["hits"] >= 4 + 5  # 3 + 4 at most if each worker had results of its own
    assert figures["hits"] + figures["misses"] == 17
    assert "17 calls" in plugin.summary(client).partition("together:\n")[2]


def _total_of_five():
    import parallel_shop

    return parallel_shop.total(5)


_total_of_five.__module__ = "__main__"  # so that it is sent by value


def test_substituted_functions_are_replaced_in_workers(in_workers):
    _, results = in_workers("substitute:parallel_shop.tax=parallel_shop.half")
    assert results == [1.5, 3.0]


def test_faults_are_injected_in_workers(in_workers):
    with pytest.raises(ConnectionError, match="injected by faults"):
        in_workers("faults:target=parallel_shop.tax,raises=ConnectionError")


def test_a_recording_of_a_task_is_replayed_by_another_one(client, path_on_workers, package, tmp_path):
    paths = [str(tmp_path / f"{n}.jsonl") for n in range(3)]
    numbers = client.gather(client.map(package.recorded, paths, pure=False))
    assert len(set(numbers)) == 3
    assert client.gather(client.map(package.replayed, paths, pure=False)) == numbers


def _forget(client, futures):
    """Make the scheduler forget tasks, so that it runs the next ones with the same keys."""
    client.cancel(futures, force=True)
    keys = {one.key for one in (futures if isinstance(futures, list) else [futures])}
    while client.run_on_scheduler(lambda dask_scheduler: len(keys & set(dask_scheduler.tasks))):
        time.sleep(0.02)


def test_each_task_has_a_recording_without_being_asked(client, path_on_workers, package, tmp_path):
    folder = tmp_path / "kept"
    numbers = []
    for kind in (Record, Replay):
        plugin = CassettePlugin("parallel_shop", kind, folder=folder)
        client.register_plugin(plugin)
        done = client.map(package.drawing, range(4))
        numbers.append(client.gather(done))
        assert sorted(os.listdir(folder)) == sorted(file_of_task(one.key) for one in done)
        assert "each with a file in" in plugin.summary(client)
        client.unregister_worker_plugin(plugin.name)
        _forget(client, done)
    assert numbers[0] == numbers[1]
    assert [len(one) for one in numbers[0]] == [0, 1, 2, 3]


def test_a_task_that_differs_from_its_recording_fails(client, path_on_workers, package, tmp_path):
    for kind, count in ((Record, 1), (Replay, 2), (Replay, 0)):
        plugin = CassettePlugin("parallel_shop", kind, folder=tmp_path)
        client.register_plugin(plugin)
        done = client.submit(package.drawing, count, key=f"drawn {tmp_path.name}")
        if kind is Record:
            assert len(done.result()) == 1
        else:
            with pytest.raises(TaskMismatch, match="ReplayMismatch"):
                done.result()
        client.unregister_worker_plugin(plugin.name)
        _forget(client, done)


def test_a_folder_needs_what_makes_a_context_of_a_file(tmp_path):
    with pytest.raises(TypeError, match="with a folder, give what makes the context of a file, such as Record"):
        CassettePlugin("parallel_shop", "record", folder=tmp_path)


def test_keys_that_are_no_file_names_have_files_of_their_own():
    assert file_of_task("a/b") != file_of_task("a_b") == "a_b.cassette"
    assert "/" not in file_of_task(("x", 1, "/"))


def test_a_context_that_exists_already_is_refused():
    with pytest.raises(TypeError, match="give the text or the type of a context"):
        CassettePlugin("parallel_shop", Profile())
