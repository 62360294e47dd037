"""Bundles: a start imports from one file what it would import from a hundred, and notices if that file is not valid."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from helpers.command_line import run

import cassette_import

IMPORTED = """
import sys
from cassette_import.interpreter.module_bundle import bundled

with bundled("test"):
    import cassette_import.contexts.profile
    import cassette_import.frontends.programs.user_program

extensions = ("._accelerator", "._dispatch")
names = [name for name in sys.modules if name.startswith("cassette_import.") and not name.endswith(extensions)]
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package whose files are old enough."""
    source = Path(cassette_import.__file__).parent
    shutil.copytree(source, tmp_path / "cassette_import", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path / "cassette_import").rglob("*.py"):
        set_time(path, time.time() - 100)
    return tmp_path / "cassette_import"


def set_time(path, seconds):
    os.utime(path, (seconds, seconds))


def outcome_of(package, text, *options, **environment):
    environment = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "", **environment}
    return run(*options, "-c", IMPORTED + text, folder=package.parent, **environment)


def printed(package, text, *options, **environment):
    outcome = outcome_of(package, text, *options, **environment)
    assert outcome.stderr == ""
    return outcome.stdout.splitlines()


def bundles(package):
    return sorted(path.name for path in package.parent.rglob("*.modules"))


def imported_as_usual(package, **environment):
    """The modules of cassette_import that Python's import system has imported."""
    outcome = outcome_of(package, "", "-X", "importtime", **environment)
    names = [line.rpartition("|")[2].strip() for line in outcome.stderr.splitlines()]
    return {name for name in names if name.startswith("cassette_import")}


NOT_BUNDLED = {
    "cassette_import",
    "cassette_import.interpreter",
    "cassette_import.interpreter.hidden_code",
    "cassette_import.interpreter.module_bundle",
}


def test_the_second_start_imports_nothing_as_usual(package):
    assert imported_as_usual(package) > NOT_BUNDLED
    assert imported_as_usual(package) == NOT_BUNDLED


def test_modules_are_the_same_with_a_bundle(package):
    text = """
for name in sorted(names):
    module = sys.modules[name]
    spec = module.__spec__
    print(name, sorted(vars(module)), module.__file__, module.__cached__, module.__package__, module.__loader__.path)
    print(getattr(module, "__path__", None), module.__doc__, spec.name, spec.origin, spec.cached, spec.has_location)
    print(spec.submodule_search_locations, spec.parent, type(spec.loader), spec.loader is module.__loader__)
"""
    first = printed(package, text)
    assert bundles(package) == [f"test.{sys.implementation.cache_tag}.modules"]
    assert printed(package, text) == first


def test_modules_are_executed_in_the_same_order_with_a_bundle(package):
    assert printed(package, "print(*names, sep='\\n')") == printed(package, "print(*names, sep='\\n')")


def test_a_bundle_is_written_for_each_level_of_optimisation(package):
    for options in ([], ["-O"], ["-OO"]):
        printed(package, "", *options)
        printed(package, "assert __debug__ is False" if options else "", *options)
    tag = sys.implementation.cache_tag
    assert bundles(package) == [f"test.{tag}.modules", f"test.{tag}.opt-1.modules", f"test.{tag}.opt-2.modules"]


def test_an_edited_module_makes_a_bundle_invalid(package):
    printed(package, "")
    edited = package / "interpreter" / "clock.py"
    edited.write_text(edited.read_text() + "\nEDITED = True\n")
    set_time(edited, time.time() - 50)
    for _ in range(2):
        assert printed(package, "print(sys.modules['cassette_import.interpreter.clock'].EDITED)") == ["True"]
    assert imported_as_usual(package) == NOT_BUNDLED


def test_a_missing_module_is_an_error_with_a_bundle_too(package):
    printed(package, "")
    (package / "interpreter" / "clock.py").unlink()
    assert "ModuleNotFoundError" in outcome_of(package, "").stderr


def test_modules_that_were_just_edited_have_no_bundle(package):
    set_time(package / "interpreter" / "clock.py", time.time() + 60)  # whatever time the start takes
    printed(package, "")
    assert bundles(package) == []


def test_a_moved_package_gets_another_bundle(package):
    printed(package, "")
    moved = package.parent / "elsewhere" / package.name
    moved.parent.mkdir()
    package.rename(moved)
    for _ in range(2):
        assert {Path(line).is_relative_to(moved) for line in printed(moved, FILES)} == {True}
    assert imported_as_usual(moved) == NOT_BUNDLED


FILES = "print(*(sys.modules[name].__spec__.loader.get_code(name).co_filename for name in names), sep='\\n')"


@pytest.mark.parametrize("size", [0, 4, 1000, -1], ids=["empty", "four bytes", "a part", "all but one byte"])
def test_a_bundle_that_was_cut_off_is_written_again(package, size):
    printed(package, "")
    (bundle,) = package.parent.rglob("*.modules")
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[:size])
    printed(package, "")
    assert len(bundle.read_bytes()) == len(whole)


def test_a_bundle_with_another_byte_is_not_used(package):
    printed(package, "")
    (bundle,) = package.parent.rglob("*.modules")
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 0xFF
    bundle.write_bytes(data)
    assert imported_as_usual(package) > NOT_BUNDLED


def test_bundles_are_in_the_folder_for_caches(package, tmp_path):
    prefix = {"PYTHONPYCACHEPREFIX": str(tmp_path / "caches")}
    printed(package, "", **prefix)
    assert [path.is_relative_to(tmp_path / "caches") for path in tmp_path.rglob("*.modules")] == [True]
    assert imported_as_usual(package, **prefix) == NOT_BUNDLED


def test_no_bundle_is_written_if_python_writes_no_bytecode(package):
    printed(package, "", PYTHONDONTWRITEBYTECODE="1")
    assert bundles(package) == []


def test_a_folder_that_cannot_be_written_to_is_left_alone(package):
    (package / "__pycache__").write_text("")
    printed(package, "")
    assert bundles(package) == []


def test_a_package_in_a_zip_file_has_no_bundle(package, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "all"), "zip", tmp_path, "cassette_import")
    text = IMPORTED + "print(sys.modules['cassette_import'].__file__)"
    outcome = run("-c", text, folder=tmp_path / "cassette_import", PYTHONPATH=archive, PYTHONDONTWRITEBYTECODE="")
    assert (outcome.stdout.startswith(archive), outcome.stderr) == (True, "")


def test_modules_that_were_imported_before_are_not_executed_again(package):
    printed(package, "")
    text = "import cassette_import.interpreter.clock as early\n" + IMPORTED
    outcome = run(
        "-c", text + "print(sys.modules[early.__name__] is early)", folder=package.parent, PYTHONPATH=package.parent
    )
    assert (outcome.stdout, outcome.stderr) == ("True\n", "")
