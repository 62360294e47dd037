"""Workers that are started for a program are as its own process: options, hashes, current folder, memory."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

PLACE = """
import os
import sys

def described(number):
    return hash("text"), sys.flags.optimize, os.getcwd(), os.path.exists("here")

def settings(number):
    import dask, distributed
    memory = os.environ["MALLOC_TRIM_THRESHOLD_"]
    return int(memory), dask.config.get("distributed.worker.profile.enabled")
"""
PROGRAM = """
import os
import place

os.mkdir("below")
print([place.described(number) for number in range(2)])
os.chdir("below")
open("here", "w").close()
print([place.described(number) for number in range(2)])
os.rmdir(os.getcwd()) if not os.remove("here") else None
"""


@pytest.fixture
def output(tmp_path):
    """What a script prints; with the name of a target, in the context."""
    (tmp_path / "place.py").write_text(PLACE)

    def output(source, target=None, *options, **environment):
        (tmp_path / "program.py").write_text(source)
        context = ["-m", "cassette_import", "run", "-c", f"parallel:targets=place:{target},workers=1"] if target else []
        variables = {**os.environ, "PYTHONPATH": os.getcwd(), **environment}
        command = [sys.executable, *options, *context, "program.py"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return output


@pytest.mark.parametrize("seed", ["0", "7"])
def test_workers_have_the_hashes_the_options_and_the_folder_of_the_program(output, seed):
    plain = output(PROGRAM, None, "-O", PYTHONHASHSEED=seed)
    assert output(PROGRAM, "described", "-O", PYTHONHASHSEED=seed) == plain


def test_workers_keep_memory_and_do_not_look_at_themselves(output):
    assert output("import place\nprint([place.settings(n) for n in range(1)])", "settings") == "[(67108864, False)]\n"


def test_what_the_user_says_about_memory_is_kept(output):
    source = "import place\nprint([place.settings(n)[0] for n in range(1)])"
    assert output(source, "settings", MALLOC_TRIM_THRESHOLD_="131072") == "[131072]\n"
