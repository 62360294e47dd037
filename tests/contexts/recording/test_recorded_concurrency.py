"""Jobs, tasks and timeouts: each job gets its own results, and a replay goes on in the recorded order."""

import pytest
from helpers.command_line import cassette

JOBS = {
    "map": "list(pool.map(job, range(6)))",
    "map of two": "list(pool.map(lambda a, b: (a, b, job(a)), range(6), range(6, 12)))",
    "map of nothing": "list(pool.map(job, ()))",
    "map of an external function": "list(pool.map(os.urandom, [2] * 6))",
    "submit": "[one.result() for one in [pool.submit(job, number) for number in range(6)]]",
    "submit of an external function": "[one.result() for one in [pool.submit(os.urandom, 2) for number in range(6)]]",
}
JOB_PROGRAM = """
import concurrent.futures, os, random, time

def job(number):
    time.sleep(random.random() / 50)
    return number, os.urandom(2)

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print({expression})
"""


def is_replayed(folder, text, times=1):
    """Whether the output of a program is the same in each of several replays."""
    (folder / "program.py").write_text(text)
    before = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=folder)
    assert before.status == 0, before
    for _ in range(times):
        after = cassette("replay", "it.cassette", folder=folder)
        assert (after.status, after.stdout, after.stderr) == (0, before.stdout, "")


@pytest.mark.parametrize("expression", JOBS.values(), ids=JOBS)
def test_each_job_of_one_call_site_gets_its_own_results(tmp_path, expression):
    is_replayed(tmp_path, JOB_PROGRAM.format(expression=expression))


DONE_CALLBACKS = """
import concurrent.futures, os, random, time

def job(number):
    time.sleep(random.random() / 50)
    return number

def done(future):
    time.sleep(random.random() / 50)
    found.append((future.result(), os.urandom(2)))

found = []
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    futures = [pool.submit(job, number) for number in range(6)]
    for future in futures:
        future.add_done_callback(done)
futures[0].add_done_callback(done)  # it is called at once
print(sorted(found))
"""


def test_each_callback_of_a_job_that_is_done_gets_its_own_results(tmp_path):
    is_replayed(tmp_path, DONE_CALLBACKS, times=2)


STARTED_ELSEWHERE = """
import concurrent.futures, threading

def by_threads(functions):
    found = {}
    def run(number):
        found[number] = functions[number]()
    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found.items())

def by_jobs(functions):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return [job.result() for job in [pool.submit(function) for function in functions]]

async def by_loop(functions):
    import asyncio
    loop = asyncio.get_running_loop()
    return await asyncio.gather(*[loop.run_in_executor(None, function) for function in functions])
"""
STARTERS = {
    "threads": "library.by_threads([job] * 5)",
    "jobs": "library.by_jobs([job] * 5)",
    "jobs of external functions": "library.by_jobs([functools.partial(os.urandom, 2)] * 5)",
    "jobs of a loop": "asyncio.run(library.by_loop([job] * 5))",
}


@pytest.mark.parametrize("call", STARTERS.values(), ids=STARTERS)
def test_each_job_and_thread_that_a_library_starts_gets_its_own_results(tmp_path, call):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "library.py").write_text(STARTED_ELSEWHERE)
    imports = "import asyncio, functools, os, random, sys, time\nsys.path.append('elsewhere')\nimport library\n"
    job = "def job():\n    time.sleep(random.random() / 50)\n    return os.urandom(2)\n"
    is_replayed(tmp_path, f"{imports}\n{job}\nprint({call})\n", times=2)


THREAD_POOL_JOBS = {
    "map": "pool.map(job, range(6))",
    "map of a generator": "pool.map(job, (number for number in range(6)))",
    "imap": "list(pool.imap(job, range(6)))",
    "starmap": "pool.starmap(lambda a, b: (a, b, job(a)), [(number, 1) for number in range(6)])",
    "apply": "pool.apply(os.urandom, (2,)), pool.apply_async(job, (3,)).get()",
}


def test_each_job_of_a_thread_pool_gets_its_own_results(tmp_path):
    calls = ", ".join(THREAD_POOL_JOBS.values())
    text = JOB_PROGRAM.format(expression=calls).replace("concurrent.futures.Thread", "multiprocessing.pool.Thread")
    is_replayed(
        tmp_path, text.replace("PoolExecutor", "Pool").replace("import conc", "import multiprocessing.pool, conc")
    )


CALLBACKS = {
    "atexit.register(lambda: print(1))": "atexit.register: neither the moment",
    "signal.signal(signal.SIGUSR1, handle)": "signal.signal: neither the moment",
    "sqlite3.connect(':memory:').create_function('f', 1, handle)": "Connection.create_function gets handle: a replay",
    "sqlite3.connect(':memory:').set_trace_callback(log.append)": "Connection.set_trace_callback gets list.append: a",
}


@pytest.mark.parametrize("call", CALLBACKS)
def test_a_function_that_a_replay_does_not_call_is_named(tmp_path, call):
    (tmp_path / "program.py").write_text(
        f"import atexit, signal, sqlite3\n\ndef handle(*arguments):\n    pass\n\nlog = []\n{call}\n"
    )
    told = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=tmp_path).stderr
    assert f"program.py:7 in <module>: {CALLBACKS[call]}" in told
