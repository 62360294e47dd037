"""Whole programs: recorded before anything is cached and replayed afterwards, and the other way round."""

import shutil
from pathlib import Path

import pytest
from helpers.command_line import cassette
from helpers.external_server import serving

PROGRAMS = Path(__file__).parents[2] / "programs" / "recorded"
PROJECT = """
[project]
name = "teapot"
version = "1.2"
description = "pours"
[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
"""
CACHES = {"PYTHONDONTWRITEBYTECODE": ""}
"""Python caches bytecode, and cassette_import caches compiled bodies beside it: in the folder of the test."""


def words_of(name):
    """The arguments of `run` for a program, or a skipped test if a package is missing."""
    needed, words = {
        "downloads": ([], [PROGRAMS / "downloads.py", "URL"]),
        "tables": (["sqlalchemy"], [PROGRAMS / "tables.py"]),
        "tables with SQLAlchemy overdubbed": (["sqlalchemy"], ["-p", "sqlalchemy", PROGRAMS / "tables.py"]),
        "builds": (["poetry.core"], ["-p", "poetry", PROGRAMS / "builds.py"]),
        "httpie": (["httpie"], ["-m", "httpie", "--ignore-stdin", "--print=HhBb", "URL/tea", "size==2"]),
    }[name]
    for package in needed:
        pytest.importorskip(package, reason=f"needs {package}, which the test environment does not contain")
    return words


class Runs:
    """Records and replays one program; its results on disk are removed between the runs."""

    def __init__(self, words, folder):
        self.words = words
        self.folder = folder
        self.variables = {**CACHES, "PYTHONPYCACHEPREFIX": str(folder / "caches"), "PYTHONHASHSEED": "0"}

    def forget(self):
        """Delete all caches."""
        shutil.rmtree(self.folder / "caches", ignore_errors=True)

    def _clean(self):
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        (self.folder / "work" / "teapot").mkdir(parents=True)
        (self.folder / "work" / "teapot" / "__init__.py").write_text("hot = True\n")
        (self.folder / "work" / "pyproject.toml").write_text(PROJECT)
        (self.folder / "work" / "dist").mkdir()

    def recorded(self):
        self._clean()
        with serving() as url:
            words = [str(word).replace("URL", url) for word in self.words]
            option = ["-c", "record", "-o", self.folder / "it.cassette"]
            if words[0] == "-p":
                words, option = words[2:], [*words[:2], *option]
            return cassette("run", *option, *words, folder=self.folder / "work", **self.variables)

    def replayed(self):
        self._clean()
        return cassette("replay", self.folder / "it.cassette", folder=self.folder / "work", **self.variables)


@pytest.mark.parametrize("name", ["downloads", "tables", "tables with SQLAlchemy overdubbed", "builds", "httpie"])
@pytest.mark.parametrize("order", ["cold and warm", "warm and cold"])
def test_a_recording_does_not_depend_on_what_was_cached(name, order, tmp_path):
    runs = Runs(words_of(name), tmp_path)
    if order == "warm and cold":
        runs.recorded()
    before = runs.recorded()
    if order == "warm and cold":
        runs.forget()
    after = runs.replayed()
    assert before.status == after.status == 0, (before, after)
    assert before.stdout
    assert after.stdout == before.stdout
