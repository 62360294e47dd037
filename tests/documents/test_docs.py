"""What the documentation shows is true: its examples run, its commands parse, and docstrings do not lie.

In README.md and docs/, the ```python blocks of one file are one program, run in order. A block that is not to
be run has `<!-- not run: the reason -->` in front of it. Blocks with `>>>` are compared with the output that
they show.
"""

import dataclasses
import doctest
import importlib
import importlib.util
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import cassette_import

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")])

PACKAGE = Path(cassette_import.__file__).parent
MODULES = sorted(
    ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)

FENCE = re.compile(r" *(?P<marks>`{3,}|~{3,})(?P<language>[\w-]*)")
NOT_RUN = re.compile(r"<!--\s*not run\b:?(?P<reason>.*?)-->", re.DOTALL)
PROMPTS = {"console": r"\$", "yaml": r" *- run:", "dockerfile": r"(?:RUN| *&&)"}
"""What is before a command, by the language of a block."""
PROGRAM = re.compile(r"(?:\w+=\S* +)*(?:python3? -m cassette_import|cassette-import)\b(?P<arguments>.*)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    language: str
    text: str
    line: int  # of the first line of its text, counted from 1
    reason_not_run: str | None  # None: it is to be run


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    lines = document.read_text(encoding="utf-8").splitlines()
    since_last_block: list[str] = []
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if opening is None:
            since_last_block.append(lines[number])
            number += 1
            continue
        first = number = number + 1
        while lines[number].strip() != opening["marks"]:
            number += 1
        text = textwrap.dedent("\n".join(lines[first:number]) + "\n")
        yield Block(opening["language"], text, first + 1, reason_not_run("\n".join(since_last_block)))
        since_last_block.clear()
        number += 1


def reason_not_run(text_before: str) -> str | None:
    """The reason in a `not run` comment that the text ends with."""
    comments = list(NOT_RUN.finditer(text_before))
    if not comments or text_before[comments[-1].end() :].strip():
        return None
    return comments[-1]["reason"].strip()


def programs(document: Path) -> list[Block]:
    """The blocks of a document that are to be run."""
    return [block for block in blocks(document) if block.language == "python" and block.reason_not_run is None]


def commands(document: Path) -> Iterator[str]:
    """Return the arguments of `python -m cassette_import` in the blocks of a document that show commands."""
    for block in blocks(document):
        if prompt := PROMPTS.get(block.language):
            joined = block.text.replace("\\\n", " ")
            for prompted in re.findall(rf"^{prompt} +(.*)$", joined, re.MULTILINE):
                if command := PROGRAM.match(prompted):
                    yield command["arguments"].strip()


def arguments(command: str) -> list[str]:
    """The words of a command, up to where the shell takes over: a pipe, a redirection, a comment."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("();<>|&"):
            break
        words.append(word)
    return words


def path_in_project(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def _nothing_stays_installed() -> Iterator[None]:
    yield
    cassette_import.uninstall()


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module for the blocks of the document to run in.

    It has a source file, because overdubbing an example's function reads its source. The lines of the file
    have the numbers that they have in the document.
    """
    document: Path = request.param
    name = "example_" + re.sub(r"\W", "_", document.relative_to(ROOT).with_suffix("").as_posix()).lower()
    source: list[str] = []
    for block in programs(document):
        if ">>>" not in block.text:
            source += [""] * (block.line - 1 - len(source))
            source += block.text.splitlines()
    file = tmp_path / f"{name}.py"
    file.write_text("\n".join(source) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, name, module)
    return module


OF_EXTRAS = {"scipy": "sparsity", "numba": "backends", "jax": "jax"}
"""Modules that blocks of documents need, and their extras. The environment `extras` runs these documents."""


def run_block(block: Block, module: ModuleType) -> None:
    padding = "\n" * (block.line - 1)
    exec(compile(padding + block.text, str(module.__file__), "exec", dont_inherit=True), vars(module))


def run_dialogue(block: Block, module: ModuleType, document: Path) -> None:
    examples = doctest.DocTestParser().get_doctest(
        block.text, {}, module.__name__, path_in_project(document), block.line - 1
    )
    examples.globs = vars(module)  # the constructor would take a copy, and later blocks would miss its names
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=report.append, clear_globs=False)
    if runner.failures:
        pytest.fail("".join(report), pytrace=False)


@pytest.mark.parametrize(
    ("document", "program"),
    [(document, document) for document in DOCUMENTS],
    indirect=["program"],
    ids=map(path_in_project, DOCUMENTS),
)
def test_the_examples_of_a_document_run(document: Path, program: ModuleType) -> None:
    for block in programs(document):
        if ">>>" in block.text:
            run_dialogue(block, program, document)
        else:
            try:
                run_block(block, program)
            except Exception as error:
                missing = missing_module(error)
                if missing not in OF_EXTRAS:
                    raise
                pytest.skip(f"needs {missing}, which only the extra {OF_EXTRAS[missing]} brings")


def missing_module(error: BaseException | None) -> str | None:
    """The name of the module that could not be imported, if that is why the exception was raised."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__ or error.__context__
    return None if error is None else error.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=path_in_project)
def test_an_example_that_is_not_run_has_a_reason(document: Path) -> None:
    silent = [block.line for block in blocks(document) if block.reason_not_run == ""]
    assert silent == []


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=f"{path_in_project(document)}: {command}")
        for document in DOCUMENTS
        for command in commands(document)
    ],
)
def test_a_command_in_the_documentation_parses(command: str) -> None:
    cli = pytest.importorskip("cassette_import.frontends.command_line.main")
    if not hasattr(cli, "build_parser"):
        pytest.skip("the command line has no build_parser()")
    status: object = 0
    try:
        cli.build_parser().parse_args(arguments(command))
    except SystemExit as leaving:  # --help leaves too, with 0
        status = leaving.code
    assert status == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_a_modules_docstrings_are_true(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == PACKAGE.name:
            raise
        pytest.skip(f"needs {error.name}, which only an extra brings")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
