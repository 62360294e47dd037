"""The command `cache`: the cache files of each package with their number and size, and removing them."""

import argparse
import sys
from pathlib import Path

import pytest
from helpers.command_line import cassette

from cassette_import.frontends.command_line.cache import list_or_clear
from cassette_import.specialization import disk_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package and a module, each with cache files."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    for name in ("pack/__init__.py", "pack/below/deep.py", "single.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        for tag in ("one", "two"):
            file = Path(disk_cache.location(str(path), tag))
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(bytes(1000))
    (tmp_path / "pack/below/__init__.py").write_text("")
    return tmp_path


def test_files_are_counted_and_measured_for_each_package(folder):
    done = cassette("cache", "pack", "single", folder=folder)
    assert done.status == 0
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["package", "files", "size", "folder"],
        ["pack", "4", "4", "kB", str(folder)],
        ["single", "2", "2", "kB", str(folder)],
        ["6", "files,", "6", "kB"],
    ]
    assert done.stderr == ""


def test_without_a_name_everything_that_can_be_imported_is_listed(folder):
    lines = cassette("cache", folder=folder).stdout.splitlines()
    assert {"pack", "single"} <= {line.split()[0] for line in lines if line.endswith(str(folder))}


def test_names_may_be_separated_by_commas(folder):
    assert cassette("cache", "pack,single", folder=folder).stdout.endswith("\n6 files, 6 kB\n")


def test_a_subpackage_has_its_own_files(folder):
    assert cassette("cache", "pack.below", folder=folder).stdout.endswith("\n2 files, 2 kB\n")


def test_each_file_can_be_listed(folder):
    listed = cassette("cache", "--files", "single", folder=folder)
    assert listed.stdout.splitlines() == [str(file) for file in disk_cache.find(folder / "single.py")]
    assert listed.stderr == "2 files, 2 kB\n"


def test_files_below_a_prefix_for_caches_are_listed_by_package(folder, tmp_path_factory, monkeypatch):
    prefix = str(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setattr(sys, "pycache_prefix", prefix)
    file = Path(disk_cache.location(str(folder / "single.py"), "one"))
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    done = cassette("cache", "single", folder=folder, PYTHONPYCACHEPREFIX=prefix)
    assert done.stdout.splitlines()[1].split()[:2] == ["single", "1"]


def test_packages_without_files_have_no_table(folder):
    done = cassette("cache", "colorsys", folder=folder, PYTHONPYCACHEPREFIX=str(folder / "empty"))
    assert done == (0, "0 files, 0 bytes\n", "")


def test_clearing_removes_the_files_of_the_named_packages_alone(folder):
    done = cassette("cache", "--clear", "pack", folder=folder)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split()[:2] == ["pack", "4"]
    assert done.stdout.splitlines()[2:] == ["4 files, 4 kB removed"]
    assert disk_cache.find(folder / "pack") == []
    assert len(disk_cache.find(folder)) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clear"], "--clear needs the name of a package, or --all for everything that can be imported"),
        (["--all"], "--all belongs to --clear, without the name of a package"),
        (["--clear", "--all", "pack"], "--all belongs to --clear, without the name of a package"),
    ],
)
def test_everything_is_only_removed_if_it_is_asked_for(words, message, folder):
    done = cassette("cache", *words, folder=folder)
    assert done == (2, "", f"python -m cassette_import cache: {message}\n")
    assert len(disk_cache.find(folder)) == 6


def test_everything_can_be_removed(folder, monkeypatch):
    """In this process, whose path can be replaced: the caches of the interpreter that runs the tests stay."""
    monkeypatch.setattr(sys, "path", [str(folder)])
    given = argparse.Namespace(packages=[], clear=True, all=True, files=False)
    assert list_or_clear(given) == 0
    assert disk_cache.find(folder) == []


@pytest.mark.parametrize("words", [["nonesuch"], ["pack", "nonesuch"], ["--clear", "pack", "nonesuch"], ["pack..x"]])
def test_an_unknown_package_is_one_error_and_nothing_is_removed(words, folder):
    done = cassette("cache", *words, folder=folder)
    assert (done.status, done.stdout) == (2, "")
    hint = "is it spelled as the program imports it, and installed?"
    assert done.stderr == f"python -m cassette_import cache: no finder knows {words[-1]!r}; {hint}\n"
    assert len(disk_cache.find(folder)) == 6
