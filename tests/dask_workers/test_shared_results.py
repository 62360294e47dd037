"""Workers share the results of `memoize`: each is computed once, also if a worker is killed while it computes."""

import os

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import.contexts.parallel.context import local_processes
from cassette_import.distributed import CassettePlugin

DEADLY = """
import os, signal

def deadly(log):
    with open(log, "a") as file:
        file.write(f"{os.getpid()}\\n")
    with open(log) as file:
        count = len(file.readlines())
    if count == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return [count]

def call(log, number):
    return deadly(log), number
"""


def test_a_result_is_computed_again_if_its_worker_is_killed(tmp_path, monkeypatch):
    pytest.importorskip("diskcache", reason="diskcache is not installed")
    pytest.importorskip("fcntl", reason="Windows has no such locks")
    from distributed import Client

    (tmp_path / "parallel_deadly.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.getcwd()]))
    import parallel_deadly

    log = tmp_path / "log"
    with local_processes(2) as cluster, Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        options = f"functions=parallel_deadly.deadly,folder={tmp_path / 'kept'}"
        plugin = CassettePlugin("parallel_deadly", f"memoize:{options}")
        client.register_plugin(plugin)
        done = client.map(parallel_deadly.call, [str(log)] * 6, range(6), pure=False)
        assert client.gather(done) == [([2], number) for number in range(6)]
    assert len(log.read_text().split()) == 2
