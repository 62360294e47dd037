"""Programs run in a current folder that was deleted, as Python runs them."""

import os

import pytest
from helpers.command_line import CHECKOUT, run

IN_A_DELETED_FOLDER = """
import os
import subprocess
import sys

os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
raise SystemExit(subprocess.call([sys.executable, *sys.argv[1:]]))
"""


@pytest.mark.parametrize("program", [["{}/app.py"], ["-m", "app"], ["app.py"], ["-m", "nowhere"]])
@pytest.mark.parametrize("context", ["none", "profile"])
def test_a_program_runs_in_a_folder_that_was_deleted_as_python_runs_it(program, context, tmp_path):
    (tmp_path / "app.py").write_text("import sys; print(sys.argv, sys.path, __file__)")
    words = [word.format(tmp_path) for word in program]
    cassette_import_words = ["-m", "cassette_import", "run", "-c", context, *words]
    path = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"}
    plain = run("-c", IN_A_DELETED_FOLDER, *words, folder=tmp_path, **path)
    overdubbed = run("-c", IN_A_DELETED_FOLDER, *cassette_import_words, folder=tmp_path, **path)
    assert overdubbed[:2] == plain[:2]
    assert "cassette_import" not in overdubbed.stderr


def test_a_file_is_refused_in_a_folder_that_was_deleted(tmp_path):
    (tmp_path / "app.py").write_text("")
    words = ["-m", "cassette_import", "run", "-o", "profile.html", tmp_path / "app.py"]
    done = run("-c", IN_A_DELETED_FOLDER, *words, folder=tmp_path)
    message = "python -m cassette_import run: profile.html: the current directory was deleted\n"
    assert (done.status, done.stderr) == (2, message)
