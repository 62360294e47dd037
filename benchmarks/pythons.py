"""The interpreters to measure with: finds them, and makes an environment with the peers for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

_PACKAGES: Final = (
    "astor",
    "importlib_metadata",
    "setuptools",
    "autograd",
    "jax",
    "geographiclib",
    "pyccolo",
    "dynapyt",
    "viztracer",
    "wrapt",
    "django",
    "jinja2",
    "sympy",
)
"""The dependencies of cassette_import, the other tools, and the packages whose import or code is measured."""

_MINORS: Final = range(11, 16)


class Python(NamedTuple):
    """An interpreter."""

    command: str
    name: str
    """``3.12.1``."""
    version: tuple[int, int]


def described(command: str) -> Python | None:
    """The interpreter that a command starts, if it is CPython and new enough."""
    code = "import sys, sysconfig; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3])"
    try:
        found = subprocess.run([command, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return None
    kind, _, name = found.stdout.strip().partition(" ")
    if kind != "cpython":
        return None
    major, minor, _ = map(int, name.split("."))
    return Python(command, name, (major, minor)) if (major, minor) >= (3, 11) else None


def installed() -> list[Python]:
    """The newest of each minor version, from PATH and from pyenv; this one first if it is among them."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found: dict[tuple[int, int], Python] = {}
    for minor in _MINORS:
        commands = [sys.executable] if sys.version_info[:2] == (3, minor) else []
        commands += [str(path) for path in sorted(root.glob(f"3.{minor}.*/bin/python"), reverse=True)]
        commands += filter(None, [shutil.which(f"python3.{minor}")])
        for command in commands:
            python = described(command)
            if python is not None and python.version == (3, minor):
                found.setdefault(python.version, python)
    return list(found.values())


def build_accelerator(python: Python, root: Path, folder: Path) -> str:
    """Build the accelerator of the checkout for that Python, in place; return why it cannot be used, if it cannot."""
    command = [python.command, "-c", "import setuptools; setuptools.setup()", "-q", "build_ext", "--inplace"]
    command += ["--build-temp", str(folder / f"build-{python.name}")]
    built = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    code = "from cassette_import.kits.calls.accelerator import ACCELERATOR; print(ACCELERATOR.reason)"
    asked = subprocess.run([python.command, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else (asked.stderr or built.stderr).strip()[-200:]


def with_peers(python: Python, folder: Path) -> tuple[Python, list[str]]:
    """Return an environment of that Python, made if it is missing, and the packages that could not be installed."""
    place = folder / python.name
    command = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    marker = place / "missing.txt"
    if not marker.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([python.command, "-m", "venv", "--without-pip", "--clear", str(place)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(command), "install", "-q", "--prefer-binary"]
        missing = [
            name for name in _PACKAGES if subprocess.run([*pip, name], capture_output=True, check=False).returncode
        ]
        marker.write_text("\n".join(missing), encoding="utf-8")
    return python._replace(command=str(command)), marker.read_text(encoding="utf-8").split()


def lacks(python: Python, modules: Sequence[str], environment: dict[str, str]) -> set[str]:
    """Return the modules that this Python does not find."""
    code = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if importlib.util.find_spec(m) is None])"
    found = subprocess.run(
        [python.command, "-c", code, *modules], env=environment, capture_output=True, text=True, check=True
    )
    return set(found.stdout.split())
