"""`CassettePlugin` and `PoolInitializer`: contexts are active in workers, and their results come together."""

import json
import os
import pstats
import subprocess
import sys

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import.contexts import Profile
from cassette_import.distributed import CassettePlugin


@pytest.fixture(scope="module")
def package(folder, work):
    (folder / "parallel_shop.py").write_text(
        "def tax(price):\n    return price * 2\n\ndef total(count):\n    return sum(tax(n) for n in range(count))\n"
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


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
import parallel_shop
from cassette_import.distributed import PoolInitializer

if __name__ == "__main__":
    initializer = PoolInitializer("parallel_shop", "profile", sys.argv[1], suffix=".prof")
    with ProcessPoolExecutor(2, initializer=initializer) as pool:
        print(list(pool.map(parallel_shop.total, [3, 4])))
    print(initializer.write(sys.argv[1] + "/run.prof")[0])
    print(initializer.summary())
"""


def test_the_processes_of_an_executor_are_in_the_context(package, folder, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    path = os.pathsep.join([str(folder), os.getcwd()])
    command = [sys.executable, tmp_path / "script.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.stdout.startswith(f"[6, 12]\n{tmp_path}/run.prof\nprocess-"), done.stderr
    assert _calls(str(tmp_path / "run.prof"), "tax") == 7


def test_a_context_that_exists_already_is_refused():
    with pytest.raises(TypeError, match="give the text or the type of a context"):
        CassettePlugin("parallel_shop", Profile())
