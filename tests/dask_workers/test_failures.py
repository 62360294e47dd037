"""Workers, schedulers and users that end a run in its middle: a clear error or calls in this process, nothing lost."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import import overdub
from cassette_import.contexts import parallel
from cassette_import.contexts.parallel import Parallel

LOOP = """
def main(seconds):
    rows, table = [], {}
    for n in range(8):
        row = work.slow(n, seconds)
        rows.append((n, row))
        table[n] = work.score({"n": n})
    return rows, table
"""


@pytest.fixture
def cluster():
    """A scheduler and two workers, each a process of its own."""
    from distributed import Client, Status
    from distributed.deploy.subprocess import SubprocessCluster

    options = {"worker_class": "distributed.Worker", "dashboard_address": ":0", "host": "127.0.0.1"}
    cluster = SubprocessCluster(n_workers=2, threads_per_worker=1, scheduler_kwargs={"dashboard": False}, **options)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2)
    yield cluster
    try:
        cluster.close(timeout=2)
    except Exception:  # its scheduler is gone
        cluster.status = Status.closed
        cluster._loop_runner.stop()


def check_results_while(kill, context, module):
    """Run a program whose workers are killed in its middle; its results are those of the plain run."""
    killing = threading.Timer(0.5, kill)
    killing.start()
    assert overdub(context, module.main, 0.3) == module.main(0.0)
    killing.join()


@pytest.fixture
def environment(folder):
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])}


def test_a_scheduler_that_dies_during_a_run_loses_nothing(cluster, work, program):
    from cassette_import.contexts.parallel.worker_process import SchedulerClient

    module = program(LOOP)
    with SchedulerClient(cluster.scheduler_address, set_as_default=False) as client:
        context = Parallel({work.slow, work.score}, client=client)
        check_results_while(cluster.scheduler.process.kill, context, module)
    assert sum(context.statistics()["parallel_work.slow"]["here"].values()) > 0


def test_the_form_of_the_command_line_with_a_scheduler_and_several_targets(cluster, work, environment, tmp_path):
    (tmp_path / "script.py").write_text(
        "import parallel_work as work\n"
        "scores = []\n"
        "for n in range(4):\n"
        "    row = work.load(n)\n"
        "    scores.append(work.score(row))\n"
        "print(scores)\n"
    )
    targets = "targets=parallel_work:load;parallel_work:score"
    context = f"parallel:{targets},scheduler={cluster.scheduler_address},workers=2"
    command = [sys.executable, "-m", "cassette_import", "run", "-c", context, tmp_path / "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)
    assert done.stdout == "[0, 10, 20, 30]\n", done.stderr
    assert "parallel_work.load: 4 tasks\n  parallel_work.score: 4 tasks" in done.stderr
    assert "in this process" not in done.stderr


def test_without_a_scheduler_at_the_address_the_calls_are_made_in_this_process(work, program):
    import dask

    context = Parallel({work.load}, scheduler="tcp://127.0.0.1:9")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert overdub(context, program("def main():\n    return [work.load(n) for n in range(2)]").main) == [
            {"n": 0},
            {"n": 1},
        ]
    assert "2 in this process: there are no workers" in context.summary()


def test_nothing_is_left_of_a_connection_that_failed():
    import dask

    threads = set(threading.enumerate())
    cluster = parallel.context.Cluster(None, "tcp://127.0.0.1:9", None)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert cluster.client() is None
    assert not set(threading.enumerate()) - threads


def test_nothing_is_left_of_a_connection_whose_scheduler_is_gone(cluster):
    threads = set(threading.enumerate())
    connection = parallel.context.Cluster(None, cluster.scheduler_address, 1)
    client = connection.client()
    cluster.scheduler.process.kill()
    while client.status not in ("closed", "connecting"):
        time.sleep(0.1)
    connection.close()
    assert not set(threading.enumerate()) - threads


def test_a_scheduler_without_workers_is_not_waited_for_without_end(work, program, monkeypatch):
    monkeypatch.setattr(parallel.context, "WORKERS_TIMEOUT", 0.5)
    with parallel.context.local_processes(0) as cluster:
        context = Parallel({work.load}, scheduler=cluster.scheduler_address)
        assert overdub(context, program("def main():\n    return work.load(1)").main) == {"n": 1}
        context.close()
    assert "the scheduler has had no worker for 0.5 seconds" in context.summary()


def test_a_client_says_where_tasks_run(work):
    with pytest.raises(ValueError, match="a client says where tasks run"):
        Parallel({work.load}, client=object(), workers=2)


INTERRUPTED = """
import os
import parallel_work as work

def main():
    rows = []
    try:
        fill(rows)
    except KeyboardInterrupt:
        print("interrupted", [row for row in rows if row], flush=True)

def fill(rows):
    print(work.slow(3, 0.0), flush=True)
    for n in range(4):
        rows.append((n, work.slow(n, 6.0)))

main()
print("after", work.slow(5, 0.0))
"""


def test_an_interrupt_is_raised_where_the_program_waits_and_it_goes_on(work, environment, tmp_path):
    (tmp_path / "script.py").write_text(INTERRUPTED)
    context = "parallel:targets=parallel_work:slow,workers=2"
    command = [sys.executable, "-m", "cassette_import", "run", "-c", context, tmp_path / "script.py"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(command, **options) as running:
        assert running.stdout.readline() == "9\n"
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=25)
    assert (running.returncode, output) == (0, "interrupted []\nafter 25\n"), errors


def test_workers_that_cannot_start_are_not_waited_for(tmp_path, monkeypatch, work, program):
    ending = "import os, sys\nif 'spec' in sys.orig_argv:\n    os._exit(7)\n"
    (tmp_path / "sitecustomize.py").write_text(ending)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    context = Parallel({work.load}, workers=2)
    module = program("def main():\n    return [work.load(n) for n in range(2)]")
    assert overdub(context, module.main) == [{"n": 0}, {"n": 1}]
    assert "2 in this process: its workers have ended, with exit codes 7, 7" in context.summary()
    context.close()


def test_calls_are_made_here_once_all_processes_of_workers_are_killed(work, program):
    psutil = pytest.importorskip("psutil", reason="dask.distributed brings psutil")
    context = Parallel({work.slow, work.score}, workers=2)
    warm = program("def main():\n    return [work.slow(n) for n in range(4)]")
    assert overdub(context, warm.main) == warm.main()

    def kill():
        keepers = [one for one in psutil.Process().children() if "spec" in one.cmdline()]
        for process in [*keepers, *(child for keeper in keepers for child in keeper.children(recursive=True))]:
            process.kill()

    check_results_while(kill, context, program(LOOP))
    assert "its workers have ended, with exit codes -9, -9" in context.summary()
    context.close()


def test_calls_are_made_here_once_a_scheduler_has_lost_all_workers(cluster, work, program, monkeypatch):
    monkeypatch.setattr(parallel.context, "WORKERS_TIMEOUT", 2.0)
    context = Parallel({work.slow, work.score}, scheduler=cluster.scheduler_address)

    def kill():
        for worker in cluster.workers.values():
            worker.process.kill()

    check_results_while(kill, context, program(LOOP))
    assert "the scheduler has had no worker for 2 seconds" in context.summary()
    context.close()
