"""Programs that know nothing of tasks print the same on workers: images, a search for parameters, features of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import parallel_programs


@pytest.fixture
def same_output(tmp_path):
    """Checks that a program prints the same with and without `parallel`; returns what the context reports."""

    def check(program, *arguments):
        command = [program.write(tmp_path), *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
        plain = subprocess.run([sys.executable, *command], **options)
        assert (plain.returncode, plain.stdout != "") == (0, True), plain.stderr
        run = ["-m", "cassette_import", "run", "-c", program.context]
        done = subprocess.run([sys.executable, *run, *command], **options)
        assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
        return done.stderr

    return check


@pytest.mark.parametrize("program", [parallel_programs.LOOP_OF_IMAGES, parallel_programs.LIST_OF_IMAGES])
def test_a_folder_of_images(same_output, tmp_path, program):
    pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    (tmp_path / "images").mkdir()
    parallel_programs.make_images(tmp_path / "images", 6, size=(64, 48))
    assert "image_features.features: 6 tasks" in same_output(program, "images")


def test_a_search_for_parameters(same_output):
    assert "fits.loss: 40 tasks" in same_output(parallel_programs.SEARCH_FOR_PARAMETERS, 10, 50)


def test_features_of_files(same_output, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.py").write_text("print(1)\n" * number + "for n in range(3):\n    pass\n")
    assert "file_features.features: 8 tasks" in same_output(parallel_programs.FEATURES_OF_FILES, folder)
