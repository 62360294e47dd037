"""The source of one file: reading and parsing it, finding functions in it, compiling rewritten trees."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import importlib.util
import linecache
import sys
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import with_settled_sets
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.silenced_warnings import SILENCED
from cassette_import.rewriting.module_names import ModuleNames
from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.specialization.registry_port import STARTED, stamp_of
from cassette_import.specialization.source_text import decoded, dedented, names_passed

if TYPE_CHECKING:
    from cassette_import.interpreter import main_text, python_cache
    from cassette_import.rewriting import deep_expressions
    from cassette_import.rewriting.trees import (
        function_lines,
        module_tree,
        places,
        scopes,
        statement_lines,
    )
    from cassette_import.rewriting.trees.function_lines import FunctionLines
    from cassette_import.rewriting.trees.places import Index, Place
    from cassette_import.specialization import exclusions
else:
    function_lines, module_tree, places, scopes, statement_lines = late(
        "cassette_import.rewriting.trees", "function_lines", "module_tree", "places", "scopes", "statement_lines"
    )
    main_text, python_cache = late("cassette_import.interpreter", "main_text", "python_cache")
    (deep_expressions,) = late("cassette_import.rewriting", "deep_expressions")
    (exclusions,) = late("cassette_import.specialization", "exclusions")

_FUTURES: Final = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class SourceFile:
    """The source of one file, which is parsed when a function of the file is specialised first."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.problem: str | None = None
        self._module_name = ""
        self._globals: dict[str, Any] | None = None
        """What the module's globals say about its loader. The globals themselves would keep its functions alive."""
        self._source: bytes | str | None = None
        self._plain: CodeType | None = None
        """What Python compiled the module to, until its names are known."""
        self._names: ModuleNames | None = None
        self._function_lines: FunctionLines | None = None
        self._stamp: tuple[int, int] | None = None
        self._digest: bytes | None = None
        self._functions: dict[int, list[CodeType]] = {}
        """The code of the functions, by the `__future__` features that the compiler was told of."""
        self._was_given = False
        """Whether the source was passed to `refresh`, and not read from the file."""
        self._is_recent = False
        """Whether the file was written while the process ran, perhaps after its module was executed."""
        self._may_be_stale: bool | None = None
        """Whether the code in the `.pyc` may be of another text; None until that is needed."""

    def adopt(self, module_name: str, module_globals: dict[str, Any]) -> None:
        """Take the present content of the file for the source of functions that exist already."""
        self.refresh(module_name, module_globals)
        self._is_recent = self._stamp is not None and self._stamp[0] > STARTED

    def refresh(
        self,
        module_name: str,
        module_globals: dict[str, Any] | None = None,
        source: bytes | None = None,
        stamp: tuple[int, int] | None = None,
        plain: CodeType | None = None,
    ) -> None:
        """Note that the module is executed (again), from the given source or the content of the file.

        `stamp` is that of the file when it was executed; None for the present one. `plain` is what Python compiled the
        source to.
        """
        if stamp is None:
            stamp = stamp_of(self.filename)
        if stamp != self._stamp or stamp is None or source is not None:
            self._digest = self._names = self._function_lines = self._may_be_stale = None
            self._functions = {}
            self._source = source
        self._plain = plain
        self._was_given = source is not None
        self._is_recent = False
        self._stamp = stamp
        self._module_name = module_name
        self._globals = _named(module_globals)

    @property
    def module_name(self) -> str:
        """The name of the module that was executed from the file."""
        return self._module_name

    @property
    def stamp(self) -> tuple[int, int] | None:
        """The time of the last change and the size of the file when the module was executed; None if there is none."""
        return self._stamp

    def is_unchanged(self) -> bool:
        """Whether the file is as it was when the module was executed."""
        return self._stamp is not None and self._stamp == stamp_of(self.filename)

    def is_current(self) -> bool:
        """Whether code that Python makes now is of the source that was read: the file was not changed since.

        Several texts may have the same name one after the other, if they are in no file: those of doctests do.
        """
        stamp = stamp_of(self.filename)
        if stamp is None and self._stamp is None and self._source is not None:
            return self._source_of_loader() is not None or self._source_in_linecache() == self._source
        return stamp == self._stamp

    @property
    def has_digest(self) -> bool:
        """Whether there is a file whose text alone determines the code, so that compiled code may be cached."""
        return self._stamp is not None and not self._has_rewritten_assertions()

    @property
    def is_read(self) -> bool:
        """Whether the text has been read, and there is any."""
        return self._source is not None

    @property
    def available(self) -> bool:
        """Whether there is any source."""
        return self._read() is not None

    def _read(self) -> bytes | str | None:
        if self._source is None:
            self._source = _read_file(file_of(self.filename)) or self._source_of_loader() or self._source_in_linecache()
            if self._source is None and self._module_name == "__main__":
                self._source = main_text.main_text(self.filename)
        return self._source

    def _source_of_loader(self) -> str | None:
        if self.filename.startswith("<"):
            return None  # compiled by `exec` or `eval` in the module: its source is not that of the module
        module = sys.modules.get(self._module_name)
        loader = getattr(module, "__loader__", None) or (self._globals or {}).get("__loader__")
        get_source = getattr(loader, "get_source", None)
        if get_source is None:
            return None
        try:
            found = get_source(self._module_name)
        except (ImportError, OSError, SyntaxError, UnicodeDecodeError):
            return None
        return found if isinstance(found, str) else None

    def _source_in_linecache(self) -> str | None:
        """The source in `linecache`, where notebooks, doctest and interactive Python put it under unique names."""
        if self.filename in _SHARED_NAMES:
            return None
        return "".join(linecache.getlines(self.filename, self._globals)) or None

    def parse(self, source: bytes | str) -> ast.Module:
        """A fresh tree of the source."""
        with SILENCED:  # Python has issued them already when it compiled the program
            return ast.parse(source, self.filename)

    def module_tree(self, source: bytes, plain: CodeType) -> ast.Module | None:
        """A fresh tree of the source in which functions are stubs; None if it is not certain to be right."""
        try:
            text = decoded(source)
        except (SyntaxError, UnicodeDecodeError):
            return None
        tree = self._tree_without_bodies(text, plain)
        if tree is not None and source == self._read():
            self._names, self._plain = scopes.module_names(tree), None
        return tree

    def _tree_without_bodies(self, text: str, plain: CodeType) -> ast.Module | None:
        with SILENCED:
            return module_tree.tree_without_bodies(text, plain)

    def find(self, code: CodeType) -> Place | None:
        """The place of a function; None, with the reason in `problem`, if it is not found.

        Trees are not kept: the process may have thousands of functions, and a tree has many objects.
        """
        lines = self._lines()
        if lines is not None:
            place = lines.find(code, self.parse) or self._find_in_statement(lines, code)
            if place is not None:
                return place
        return self._find_in_module(code)

    def _lines(self) -> FunctionLines | None:
        """The lines of the file; None if functions can be found in the tree of the module only."""
        if self._function_lines is not None:
            return self._function_lines
        source = self._read()
        if source is None or self._stamp != stamp_of(self.filename) or self._has_rewritten_assertions():
            return None
        try:
            text = source if isinstance(source, str) else decoded(source)
            if self._names is None:
                self._names = scopes.module_names(self._tree_of_names(source, text))
        except (SyntaxError, ValueError):  # a `UnicodeDecodeError` is a `ValueError`
            return None
        self._function_lines = function_lines.FunctionLines(text, not exclusions.may_leave_alone_by_scopes(text))
        return self._function_lines

    def _tree_of_names(self, source: bytes | str, text: str) -> ast.Module:
        """A tree of the module with all names that it binds."""
        plain = self._plain if self._was_given else python_cache.cached_code(self.filename) if self.trusted else None
        self._plain = None
        tree = None if plain is None else self._tree_without_bodies(text, plain)
        return self.parse(source) if tree is None else tree

    def _find_in_statement(self, lines: FunctionLines, code: CodeType) -> Place | None:
        """The place of a function in the statement of the module that it is in; only that statement is parsed."""
        around = statement_lines.lines_around(lines.lines, code.co_firstlineno)
        index = None if around is None else _index_of_statement(self, lines, *around)
        place = None if index is None else index.find(code)
        return place if place is not None and place.qualified_name == code.co_qualname else None

    def _find_in_module(self, code: CodeType) -> Place | None:
        source = self._read()
        if source is None:
            self.problem = "there is no source"
            return None
        if self._function_lines is None and self._stamp != stamp_of(self.filename):
            self.problem = "the file has changed since it was imported"
            return None
        try:
            index = _index_of_module(self, source)
        except (SyntaxError, ValueError):
            self.problem = "its source does not parse"
            return None
        if self._names is None:
            self._names = scopes.module_names(index.module)
        return index.find(code)

    def module(self, source: bytes | str) -> ast.Module:
        """A fresh tree of the module, with the assertions that pytest has rewritten (checklist P1)."""
        tree = self.parse(source)
        if not self._has_rewritten_assertions():
            return tree
        loader = getattr(sys.modules.get(self._module_name), "__loader__", None)
        try:
            from _pytest.assertion.rewrite import rewrite_asserts

            data = source if isinstance(source, bytes) else source.encode()
            rewrite_asserts(tree, data, self.filename, loader.config)  # type: ignore[union-attr]  # pytest's loader
        except (ImportError, AttributeError, TypeError):
            return self.parse(source)  # another version of pytest: assertions stay as written
        return tree

    def _has_rewritten_assertions(self) -> bool:
        loader = getattr(sys.modules.get(self._module_name), "__loader__", None)
        return type(loader).__name__ == "AssertionRewritingHook"

    def known_names(self) -> ModuleNames | None:
        """The names that the module binds, by kind of binding, if they are known already."""
        return self._names

    def set_names(self, names: ModuleNames) -> None:
        """Note the names that the module binds, which are known from an earlier run."""
        self._names = names

    def names(self) -> ModuleNames:
        """The names that the module binds, by kind of binding. `find` must have been called before."""
        assert self._names is not None
        return self._names

    def reason_to_leave_alone(self, place: Place) -> str | None:
        """Why the function at this place is left alone; None if it is not."""
        reason = exclusions.reason_to_leave_alone(place)
        source = None if reason is None else self._read()
        if source is None:
            return reason
        text = source if isinstance(source, str) else decoded(source)
        return exclusions.reason_to_leave_alone(place, exclusions.own_names(text))

    @property
    def trusted(self) -> bool:
        """Whether the running code is certainly compiled from this source: by Python's own loader or pytest's hook."""
        if self._was_given:  # the code is compiled from that text
            return True
        loader = getattr(sys.modules.get(self._module_name), "__loader__", None)
        names = {kind.__name__ for kind in type(loader).__mro__[:2]}
        if "AssertionRewritingHook" in names:
            return True  # its code is not what the file alone compiles to
        if "SourceFileLoader" not in names or self._module_name == "__main__" or self._is_recent:
            return False
        if self._may_be_stale is None:
            self._may_be_stale = python_cache.may_be_stale(self.filename)
        return not self._may_be_stale

    def functions(self, flags: int) -> list[CodeType]:
        """The code of all functions of the file, as Python compiles them with the `__future__` features in `flags`.

        The whole file is compiled, because a function by itself may compile differently: for the compiler it matters
        whether a name is imported at module level. Cells of notebooks have the features of the cells before them.
        """
        features = flags & _FUTURES
        if features not in self._functions:
            found: list[CodeType] = []
            try:
                tree = self.module(self._read() or "")
                work = [self.compile(tree, features)]
                # Programs may compile a file in pieces: then functions do not know what other pieces import.
                tree.body = [statement for statement in tree.body if not _is_import(statement)]
                work.append(self.compile(tree, features))
            except (SyntaxError, ValueError):  # the file has changed, or its source is not what was compiled
                work = []
            while work:
                inner = list(nested_functions(work.pop()))
                found += inner
                work += inner
            self._functions[features] = found
        return self._functions[features]

    def generator_expressions(self) -> list[CodeType]:
        """The code of all generator expressions of the file, as Python compiles them."""
        with SILENCED:
            work: list[Any] = [compile(self._compiled(), self.filename, "exec", dont_inherit=True)]
        found = []
        while work:
            inner = [const for const in work.pop().co_consts if isinstance(const, CodeType)]
            found += [code for code in inner if code.co_name == code_objects.GENERATOR_EXPRESSION]
            work += inner
        return found

    def _compiled(self) -> Any:
        """What Python compiles."""
        return self._read() or ""

    def digest(self) -> bytes | None:
        """The hash of the file's text, for the cache; None if there is no file, or if pytest has rewritten the tree."""
        if self._digest is None:
            source = self._read()
            if not isinstance(source, bytes) or self._has_rewritten_assertions():
                return None
            if self._stamp != stamp_of(self.filename):
                return None
            self._digest = importlib.util.source_hash(source)
        return self._digest

    def text_of(self, place: Place) -> str:
        """The source text of a function, decorators included."""
        source = self._read() or ""
        text = source if isinstance(source, str) else decoded(source)
        node = place.node
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        return dedented("".join(text.splitlines(keepends=True)[first - 1 : node.end_lineno]))

    def names_passed(self) -> frozenset[str]:
        """The names that stand where a value is passed on: as an argument, in a display, behind `=` or `return`."""
        source = self._read() or ""
        return names_passed(source)

    def compile(self, tree: ast.Module, flags: int) -> CodeType:
        """Compile a rewritten tree with the `__future__` features of the plain code (checklist C16)."""
        with SILENCED:
            try:
                code = self._compile(tree, flags)
            except RecursionError:
                deep_expressions.flatten(tree)
                code = self._compile(tree, flags)
            return with_settled_sets(code)

    def _compile(self, tree: ast.Module, flags: int) -> CodeType:
        return compile(tree, self.filename, "exec", flags=flags & _FUTURES, dont_inherit=True)  # type: ignore[no-any-return]


class SourceTree(SourceFile):
    """The source of a tree that a module gave to `compile`: its positions are those of no text."""

    def __init__(self, filename: str, tree: ast.Module) -> None:
        super().__init__(filename)
        self._tree = copy.deepcopy(tree)  # the module may change its own

    def parse(self, source: bytes | str) -> ast.Module:
        """A fresh copy of the tree."""
        return copy.deepcopy(self._tree)

    def text_of(self, place: Place) -> str:
        """The text of a function as it would be written; its dump if no text has this tree."""
        try:
            return ast.unparse(place.node)
        except ValueError:  # `werkzeug.routing` puts calls into an f-string as they are
            return ast.dump(place.node)

    def _read(self) -> bytes:
        """What stands for the text, in digests: it is needed only when a function is specialised."""
        if not self._source:
            self._source = ast.dump(self._tree, include_attributes=True).encode()
        assert isinstance(self._source, bytes)
        return self._source

    def _lines(self) -> None:
        return None

    def names_passed(self) -> frozenset[str]:
        """All names: each may stand where a value is passed on."""
        return frozenset(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name))

    def _compiled(self) -> ast.Module:
        return self._tree


@functools.lru_cache(maxsize=2)
def _index_of_statement(source: SourceFile, lines: FunctionLines, first: int, last: int) -> Index | None:
    """The functions in a statement of a module; None if it does not parse by itself."""
    try:
        return places.Index(source.parse("\n" * (first - 1) + "\n".join(lines.lines[first - 1 : last])))
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=2)
def _index_of_module(source: SourceFile, text: bytes | str) -> Index:
    """The functions of a module."""
    return places.Index(source.module(text))


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module != "__future__"
    return isinstance(statement, ast.Import)


def _named(module_globals: dict[str, Any] | None) -> dict[str, Any] | None:
    """What `linecache` and loaders ask the globals of a module for."""
    if module_globals is None:
        return None
    return {name: module_globals[name] for name in ("__name__", "__spec__", "__loader__") if name in module_globals}


_SHARED_NAMES: Final = frozenset({"<string>", "<stdin>", "<unknown>"})
"""File names that unrelated code shares. From 3.13 on, `linecache` has the program of `python -c` under `<string>`."""


def file_of(filename: str) -> str:
    """The file of a module of the standard library that is frozen; any other name is as it is.

    >>> import os
    >>> file_of("<frozen os>") == os.__file__, file_of("a.py")
    (True, 'a.py')
    """
    if not filename.startswith("<frozen "):
        return filename
    module = sys.modules.get(filename[len("<frozen ") : -1])
    return getattr(module, "__file__", None) or filename


def _read_file(filename: str) -> bytes | None:
    try:
        with open(filename, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None
