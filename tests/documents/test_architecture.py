"""The pages about the code itself are as the code is."""

import ast
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


def test_every_file_says_what_it_knows_and_what_it_must_not_know():
    exempt = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}  # they describe the library, and how it is started
    incomplete = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if path not in exempt and not says_what_it_knows(path)
    ]
    assert incomplete == []


def says_what_it_knows(path):
    docstring = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
    has_limit = re.search(r"\b[Mm]ust not know\b", docstring)
    return has_limit and re.search(r"\b[Kk]nows\b", docstring)


def test_the_environment_variables_of_tests_and_benchmarks_are_listed():
    section = (
        (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## Environment variables of")[2]
    )
    listed = re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    read = re.compile(r'environ(?:\.get\(|\[)"(CASSETTE_(?!IMPORT_)\w+)"')
    used = {name for file in files for name in read.findall(file.read_text(encoding="utf-8", errors="replace"))}
    assert sorted(listed) == sorted(used)
