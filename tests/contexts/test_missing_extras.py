"""A folder that has the name of a package of an extra is not that package: the error says what to install."""

import subprocess
import sys

import pytest

from cassette_import.interpreter.installed_packages import is_installed

FOLDER = """
import importlib.machinery
import importlib.util
import sys

name = sys.argv[1]
spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
spec.submodule_search_locations.append(sys.argv[2])
sys.modules[name] = importlib.util.module_from_spec(spec)
"""
CASES = {
    "the option of parallel": (
        "distributed",
        "from cassette_import.contexts import Parallel; Parallel(['shutil:copy']).inform({})",
        "ValueError: parallel needs dask.distributed: install cassette_import[distributed]",
    ),
    "the first task of parallel": (
        "distributed",
        "from cassette_import.contexts.parallel.context import Cluster; Cluster(None, None, 1).client()",
        "ImportError: parallel needs dask.distributed: install cassette_import[distributed]",
    ),
    "contexts in workers": (
        "distributed",
        "from cassette_import.distributed import CassettePlugin; CassettePlugin('shop', 'profile')",
        "ImportError: CassettePlugin needs dask.distributed: install cassette_import[distributed]",
    ),
    "stored results": (
        "diskcache",
        "from cassette_import.contexts.memoize.stores import Folder; Folder(name)",
        "ValueError: folder= needs diskcache: install cassette_import[memoize]",
    ),
    "enclosures": (
        "flint",
        "from cassette_import.contexts import Intervals",
        "ModuleNotFoundError: intervals needs python-flint: install cassette_import[intervals]",
    ),
    "bounds": (
        "flint",
        "from cassette_import.contexts.contract import solve",
        "ModuleNotFoundError: contract needs python-flint: install cassette_import[contract]",
    ),
    "exact values": (
        "mpmath",
        "from cassette_import.contexts import Precision",
        "ModuleNotFoundError: precision needs mpmath: install cassette_import[precision]",
    ),
    "exact values by the name of the context": (
        "mpmath",
        "from cassette_import.contexts.lookup import context_named; context_named('precision')",
        "cassette_import.contexts.lookup.UnknownContext: context 'precision': precision needs mpmath: "
        "install cassette_import[precision]",
    ),
    "arrays": (
        "numpy",
        "from cassette_import.contexts.lanes import vectorize",
        "ModuleNotFoundError: lanes needs NumPy: install cassette_import[lanes]",
    ),
    "patterns": (
        "scipy",
        "from cassette_import.contexts.sparsity import jacobian",
        "ModuleNotFoundError: sparsity needs SciPy: install cassette_import[sparsity]",
    ),
    "patterns without arrays": (
        "numpy",
        "from cassette_import.contexts.sparsity import jacobian",
        "ModuleNotFoundError: sparsity needs SciPy: install cassette_import[sparsity]",
    ),
    "machine code": (
        "numba",
        "from cassette_import.contexts.backends import jit; jit(abs, backend='numba')",
        'cassette_import.errors.CassetteError: backend="numba" needs numba: install cassette_import[backends]',
    ),
    "strategies": (
        "hypothesis",
        "from cassette_import.contexts.fuzz import inputs; inputs('shutil:copy', [()])",
        "ModuleNotFoundError: inputs() needs Hypothesis: pip install hypothesis",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_folder_of_the_name_of_a_package_is_not_the_package(tmp_path, case):
    package, code, message = CASES[case]
    command = [sys.executable, "-c", FOLDER + code, package, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == message


@pytest.mark.parametrize("package", ["flint", "mpmath"])
def test_all_names_are_those_of_contexts_that_can_be_imported(tmp_path, package):
    done = subprocess.run(
        [sys.executable, "-c", FOLDER + "from cassette_import.contexts import *; Noop", package, tmp_path],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_is_installed_if_it_has_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "folder_alone").mkdir()
    assert [is_installed(name) for name in ("json", "sys", "folder_alone", "no_such_package")] == [
        True,
        True,
        False,
        False,
    ]
