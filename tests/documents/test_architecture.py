"""The pages about the code itself are as the code is."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cassette_import"


def test_the_map_of_files_has_the_first_sentence_of_every_module():
    expected = runpy.run_path(str(ROOT / "docs" / "map_of_files.py"))["text"]()
    assert (ROOT / "docs" / "files.md").read_text(encoding="utf-8") == expected, "run docs/map_of_files.py"


def test_every_file_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([\w/]+\.py)`", text)}
    files = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    missing = {name for name in named if not any(file == name or file.endswith("/" + name) for file in files)}
    assert missing == set()


def test_every_package_says_what_it_knows_and_what_it_must_not_know():
    silent = [
        path.parent.name
        for path in PACKAGE.rglob("__init__.py")
        if path.parent != PACKAGE and not re.search(r"[Mm]ust not\s+know", path.read_text(encoding="utf-8"))
    ]
    assert silent == []
