"""The search: which input runs next, which are kept, and when the tagged run tells what to write where."""

from __future__ import annotations

import linecache
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final, TextIO

from cassette_import.contexts.fuzz.coverage import Coverage
from cassette_import.contexts.fuzz.findings import Finding, Folder, Key, finding_key, importable, test_source
from cassette_import.contexts.fuzz.inputs import applied, copied, encoded
from cassette_import.contexts.fuzz.mutation import Mutator, minimised
from cassette_import.contexts.fuzz.observer import Comparison, may_match, observed
from cassette_import.contexts.fuzz.running import LaterResult, Limits, TooSlow, released, run_to_end
from cassette_import.contexts.fuzz.solving import edits, exact_edits, extrapolated, is_checksum, number_at
from cassette_import.errors import PassError
from cassette_import.kits.text import plural

__all__ = ["Search"]

# ---- which comparisons were reached and which were true so far

_MOST_FOR_A_PLACE: Final = 64
"""The most comparisons of one place that are distinguished."""
_MOST_REPETITIONS: Final = 8
_SHORT: Final = 80


class _Milestones:
    """The comparisons that were reached, and those that were true."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._for_place: dict[Any, int] = {}

    def note(self, comparisons: Sequence[Comparison]) -> bool:
        """Remember the comparisons of a run; whether one was reached or true that had not been before."""
        before = len(self._known)
        for one, milestone in zip(comparisons, _milestones(comparisons), strict=True):
            self._remember(_reached(one))
            if one.holds:
                self._remember(milestone)
        return len(self._known) > before

    def not_yet_true(self, comparisons: Sequence[Comparison]) -> list[bool]:
        """For each comparison of a run, whether it would be new that it is true."""
        return [milestone not in self._known for milestone in _milestones(comparisons)]

    def _remember(self, milestone: Any) -> None:
        place = milestone[:2]
        if milestone not in self._known and self._for_place.get(place, 0) < _MOST_FOR_A_PLACE:
            self._known.add(milestone)
            self._for_place[place] = self._for_place.get(place, 0) + 1


def _milestones(comparisons: Sequence[Comparison]) -> Iterator[Any]:
    """For each comparison what is remembered if it is true, with how often an equal one was true before it."""
    counts: Counter[Any] = Counter()
    for one in comparisons:
        key = _true(one)
        yield *key, min(counts[key], _MOST_REPETITIONS)
        counts[key] += one.holds


def _true(comparison: Comparison) -> Any:
    """What is remembered of a comparison that was true: its place, and what was compared with the input."""
    others = [
        argument
        for argument, origin in zip(comparison.arguments, comparison.origins, strict=True)
        if not origin and type(argument) in (str, bytes, int, float)
    ]
    return comparison.site, comparison.function, tuple((type(one), _told_apart(one)) for one in others)


def _told_apart(value: Any) -> Any:
    """What tells a value from others: the start of a text, the text of a float (`nan` is not equal to itself)."""
    return value if type(value) is int else str(value) if type(value) is float else value[:_SHORT]


def _reached(comparison: Comparison) -> Any:
    """What is remembered of a comparison that was reached: its place, and the types of the operands."""
    types = tuple(map(type, comparison.arguments))
    return (
        comparison.site,
        comparison.function,
        types,
        comparison.paths.count(None),
        tuple(map(bool, comparison.origins)),
    )


# ---- the constants of functions, as their source has them: values that are worth writing into inputs
#
# They are compiled from the source once more, because the code of a function changes when a context is entered.

_LONGEST: Final = 40


class _Constants:
    """The constants of functions, by file, first line and name.

    Attributes
    ----------
    matches:
        Whether one of the files has a `match` statement.
    """

    def __init__(self) -> None:
        self.matches = False
        self._files: dict[str, dict[tuple[int, str], CodeType]] = {}

    def of(self, filename: str, line: int, name: str) -> list[Any]:
        """The texts, bytes and numbers among the constants of a function, in order; none if there is no source."""
        if filename not in self._files:
            source = "".join(linecache.getlines(filename))
            self.matches |= may_match(source)
            self._files[filename] = _functions(filename, source)
        code = self._files[filename].get((line, name))
        return [] if code is None else _plain_constants(code)


def _functions(filename: str, source: str) -> dict[tuple[int, str], CodeType]:
    try:
        work = [compile(source, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return {}
    found = {}
    while work:
        code = work.pop()
        found[code.co_firstlineno, code.co_name] = code
        work += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def _plain_constants(code: CodeType) -> list[Any]:
    found: list[Any] = []
    work: list[Any] = list(code.co_consts)
    while work:
        one = work.pop(0)
        if type(one) in (tuple, frozenset):
            work += sorted(one, key=repr)
        elif (type(one) in (str, bytes) and 0 < len(one) <= _LONGEST) or type(one) in (int, float):
            found.append(one)
    return found


# ---- whose turn it is, the fast tier's or the tagged one's
#
# A search that ends after a number of executions counts, so that it can be repeated; one that ends by the clock shares
# its time.

_FAST_AT_FIRST: Final = 200
_COST_OF_RUN: Final = 20
_VALUES_OF_COST: Final = 4
"""A tagged run is followed by so many fast ones, and one more for each so many values that it has tagged."""
_SHARE_OF_NEW: Final = 0.5
_SHARE_OF_RANDOM: Final = 0.2
"""The shares of the time for the tagged tier: as long as there are inputs that it has not seen, and without any."""


class _Turns:
    """Counts what both tiers have done.

    Parameters
    ----------
    by_clock:
        Whether the tiers share the time; otherwise, each tagged run has a cost in fast ones.

    Attributes
    ----------
    cost:
        How many fast runs the last tagged one is worth.
    debt:
        How many fast runs are still to follow before the next tagged one.
    """

    def __init__(self, by_clock: bool) -> None:
        self.cost = 0
        self.debt = _FAST_AT_FIRST
        self._by_clock = by_clock
        self._rounds = 0
        self._spent = {True: 0.0, False: 0.0}

    def is_tagged_due(self, has_new: bool) -> bool:
        """Whether the next round is a tagged one, given that there are kept inputs which were not observed yet."""
        if not self._by_clock:
            return self.debt <= 0
        share = _SHARE_OF_NEW if has_new else _SHARE_OF_RANDOM
        return self._rounds >= _FAST_AT_FIRST and self._spent[True] <= share * sum(self._spent.values())

    def note_round(self, is_tagged: bool, seconds: float) -> None:
        """A round is over."""
        self._rounds += 1
        self._spent[is_tagged] += seconds

    def note_tagged_run(self, values: int) -> None:
        """A tagged run has tagged so many values."""
        self.cost = _COST_OF_RUN + values // _VALUES_OF_COST
        self.debt += self.cost


# ---- the line that shows the progress of a search: on a terminal, each one takes the place of the one before

_SECONDS: Final = 0.5


class _Progress:
    """Shows a line now and then.

    Parameters
    ----------
    stream:
        Where it is shown; None for nowhere.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._shown = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the last line was shown long enough ago."""
        return self._stream is not None and time.monotonic() - self._shown > _SECONDS

    def show(self, line: str, at_end: bool) -> None:
        """Show a line; the one at the end stays."""
        if self._stream is None:
            return
        self._shown = time.monotonic()
        is_terminal = self._stream.isatty()
        end = "\n" if at_end or not is_terminal else ""
        self._stream.write(f"\r\x1b[K{line}{end}" if is_terminal else f"{line}{end}")
        self._stream.flush()


# ---- the entries of the corpus: inputs that reached something new


@dataclass
class Entry:
    """An input that reached something new.

    Attributes
    ----------
    value:
        The input.
    repairs:
        The places of comparisons between two parts of the input, as of a checksum: they were written anew on the way to
        this input, and must be for inputs that are made of it.
    size:
        How long it is in a file.
    """

    value: Any
    repairs: frozenset[Any] = field(default_factory=frozenset)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = len(encoded(self.value))


# ---- the search: which input runs next, which are kept, and when the tagged run tells what to write where

_NEWEST: Final = 8
_MOST_CANDIDATES: Final = 600
_MOST_CHECKS: Final = 24
_COST_OF_CHECKS: Final = 800
"""Bounds for one input: how many candidates run, and how many of them once more to see whether they come closer."""
_MOST_SLOPES: Final = 4
_MOST_SUMS: Final = 4
_ROUNDS_OF_REPAIR: Final = 3
_SHARE_OF_REPAIRS: Final = 0.25
"""How many checksums an input may have, and which share of the inputs made of it is repaired."""
_LATEST: Final = 1.2
"""Minimising may go on until this many times the seconds of the search."""
_MINIMISING: Final = 1500
_MINIMISING_SLOW: Final = ((TooSlow, 12), ((RecursionError, MemoryError), 150))
_MINIMISING_REPAIRED: Final = 150
"""How many inputs are tried to make one smaller."""
_LONGEST_TOKEN: Final = 40
_MOST_REMEMBERED: Final = 200_000


class Search:
    """A search for findings.

    Parameters
    ----------
    f, allowed, seed, longest, progress:
        As for `fuzz`.
    coverage:
        The branches and lines of the packages.
    limits:
        The bounds of each run.
    folder:
        Where inputs and findings are kept.

    Attributes
    ----------
    seconds, most:
        When to end: after a time, after a number of executions. None for no bound.
    corpus, findings:
        The inputs that reached something new, and what was found.
    executions, tagged:
        How often the function ran, and how often with a tagged input.
    """

    def __init__(
        self,
        f: Callable[[Any], Any],
        coverage: Coverage,
        limits: Limits,
        folder: Folder,
        allowed: tuple[type[BaseException], ...],
        seed: int,
        longest: int,
        progress: TextIO | None,
    ) -> None:
        self.f = f
        self.coverage = coverage
        self.limits = limits
        self.folder = folder
        self.allowed = allowed
        self.seconds: float | None = None
        self.most: int | None = None
        self.chance = random.Random(seed)
        self.mutator = Mutator(self.chance, longest)
        self.corpus: list[Entry] = []
        self.findings: dict[Key, Finding] = {}
        self.executions = self.tagged = 0
        self._waiting: list[Entry] = []
        self._outcomes: set[str] = set()
        """The types of exceptions so far; that of None stands for runs that returned."""
        self._later: LaterResult | None = None
        """How the results of the function were run, if they ran later."""
        self._turns = _Turns(by_clock=False)
        self.milestones = _Milestones()
        self._tried: set[bytes] = set()
        self._constants = _Constants()
        self._functions = 0
        """The functions whose constants are tokens already: so many of those in `coverage`."""
        self._progress = _Progress(progress)

    def run(self, seeds: Iterable[Any], kept: Iterable[Any] = ()) -> bool:
        """Search until the time or the executions are used up; whether Ctrl-C ended it.

        Parameters
        ----------
        seeds:
            Inputs to begin with.
        kept:
            The inputs that an earlier search has kept.
        """
        self._began = time.monotonic()
        self.coverage.start()
        try:
            with self.limits.held():
                self._search(seeds, kept)
            return False
        except _Over:
            return False
        except KeyboardInterrupt:
            return True
        finally:
            self.coverage.stop()
            self._show(at_end=True)

    def _search(self, seeds: Iterable[Any], kept: Iterable[Any]) -> None:
        for value in kept:
            if not self._execute(value, frozenset()):
                self.corpus.append(Entry(copied(value)))  # it came closer to a branch, which is not seen here
        for seed in seeds:
            if not self._execute(seed, frozenset()) and not self.corpus:
                self._add(Entry(copied(seed)))
        self._turns = _Turns(by_clock=self.most is None)
        while True:
            began = time.perf_counter()
            is_tagged = self._turns.is_tagged_due(has_new=bool(self._waiting))
            if is_tagged:
                self._tagged_round()
            else:
                self._fast_round()
            self._turns.note_round(is_tagged, time.perf_counter() - began)

    # ---- the fast tier

    def _fast_round(self) -> None:
        entry = self._chosen()
        child = self.mutator.mutated(entry.value, self.mutator.pick(self.corpus).value)
        self._turns.debt -= 1
        if entry.repairs and self.chance.random() < _SHARE_OF_REPAIRS:
            debt = self._turns.debt
            child = self._repaired(child, entry.repairs)
            self._turns.debt = debt  # it is part of this execution
        self._execute(child, entry.repairs)

    def _chosen(self) -> Entry:
        """An entry of the corpus; every second time one of the newest, and rather a short one."""
        among = self.corpus[-_NEWEST:] if self.chance.random() < 0.5 else self.corpus
        return min(self.mutator.pick(among), self.mutator.pick(among), key=lambda entry: entry.size)

    def _execute(self, value: Any, repairs: frozenset[Any]) -> bool:
        """Run the function; keep an input that reached something new, or ended in a new way; whether it did."""
        if self.limits.is_interrupted:
            raise KeyboardInterrupt
        if self._is_over():
            raise _Over
        self.executions += 1
        before = self.coverage.reached
        error = self._error_of(value)
        if error is not None and not (self.allowed and isinstance(error, self.allowed)):
            self._found(value, error, repairs)
        self._show()
        outcome = type(error).__qualname__
        if all(one.exception is not error for one in self.findings.values()):
            released(error)
        if self.coverage.reached == before and outcome in self._outcomes:
            return False
        self._outcomes.add(outcome)
        self._add(Entry(copied(value), repairs))
        return True

    def _error_of(self, value: Any) -> BaseException | None:
        given = copied(value)
        return self.limits.error_of(lambda argument: self.coverage.call(self._run, argument), given)

    def _run(self, argument: Any) -> None:
        self._later = run_to_end(self.f(argument)) or self._later

    def _add(self, entry: Entry) -> None:
        self.corpus.append(entry)
        self._waiting.append(entry)
        self.folder.keep(entry.value)
        for function in list(self.coverage.functions)[self._functions :]:
            self._functions += 1
            for token in self._constants.of(*function):
                self.mutator.add_token(token)

    def _is_over(self) -> bool:
        if self.most is not None and self.executions >= self.most:
            return True
        return self.seconds is not None and self._elapsed >= self.seconds

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    # ---- the tagged tier

    def _tagged_round(self) -> None:
        """Run the newest input that was not observed yet, tagged; without one, a new input."""
        if self._waiting:
            entry = self._waiting.pop()
        else:
            parent = self._chosen()
            child = self.mutator.mutated(parent.value, self.mutator.pick(self.corpus).value)
            entry = Entry(child, parent.repairs)
        comparisons = self._observe(entry.value)
        self._note(comparisons)
        sums = {one.site for one in comparisons if one.holds and is_checksum(one, entry.value)}
        entry.repairs = (entry.repairs | sums) if len(sums) < _MOST_SUMS else entry.repairs
        self._try_candidates(entry, comparisons)
        self._try_slopes(entry, comparisons)

    def _observe(self, value: Any) -> list[Comparison]:
        self.tagged += 1

        def call(run: Callable[[Any], Any], argument: Any) -> None:
            error = self.limits.error_of(run, argument)
            if isinstance(error, PassError):
                raise error  # it is our fault, and not that of the input
            released(error)

        observer = observed(self.f, copied(value), call, self._constants.matches)
        self._turns.note_tagged_run(observer.values)
        return list(observer.comparisons.values())

    def _note(self, comparisons: list[Comparison]) -> bool:
        """Remember comparisons and their operands; whether one was reached or true that had not been before."""
        for one in comparisons:
            for argument, origin in zip(one.arguments, one.origins, strict=True):
                is_short = type(argument) in (str, bytes) and 0 < len(argument) <= _LONGEST_TOKEN
                if not origin and (is_short or type(argument) is int):
                    self.mutator.add_token(argument)
        return self.milestones.note(comparisons)

    def _try_candidates(self, entry: Entry, comparisons: list[Comparison]) -> None:
        candidates = checks = 0
        most_checks = max(1, min(_MOST_CHECKS, _COST_OF_CHECKS // self._turns.cost))
        news = self.milestones.not_yet_true(comparisons)
        for comparison, is_news in sorted(zip(comparisons, news, strict=True), key=lambda pair: pair[0].holds):
            repairs = entry.repairs
            if is_checksum(comparison, entry.value):
                repairs |= {comparison.site}
            for edit in edits(comparison, entry.value):
                if candidates >= _MOST_CANDIDATES:
                    return
                candidate = applied(entry.value, edit)
                if not self._is_new(candidate):
                    continue
                candidates += 1
                if entry.repairs:
                    candidate = self._repaired(candidate, entry.repairs)
                if self._execute(candidate, repairs):
                    continue
                if is_news and checks < most_checks:
                    checks += 1
                    is_news = not self._comes_closer(candidate, repairs)

    def _try_slopes(self, entry: Entry, comparisons: list[Comparison]) -> None:
        """Shift each number of the input that reaches a comparison after a computation, and follow the slope."""
        numbers: dict[Any, list[tuple[Comparison, int]]] = {}
        for one, is_news in zip(comparisons, self.milestones.not_yet_true(comparisons), strict=True):
            for index, origin in enumerate(one.origins[:2]):
                if is_news and len(origin) == 1 and _is_number(one.arguments[index]):
                    numbers.setdefault(origin[0], []).append((one, index))
        for span, reached in list(numbers.items())[:_MOST_SLOPES]:
            number = number_at(entry.value, span)
            if number is None or all(one.arguments[index] == number.value for one, index in reached):
                continue
            shifted = applied(entry.value, number.edit(number.value + 1))
            after = {(one.site, one.function): one for one in reversed(self._observe(shifted))}
            for one, index in reached:
                again = after.get((one.site, one.function))
                other = one.arguments[1 - index] if len(one.arguments) == 2 else None
                if again is None or not _is_number(again.arguments[index]) or not _is_number(other):
                    continue
                pair = one.arguments[index], again.arguments[index]
                for edit in extrapolated(number, number.value + 1, *pair, other):
                    candidate = applied(entry.value, edit)
                    if self._is_new(candidate):
                        self._execute(candidate, entry.repairs)

    def _comes_closer(self, candidate: Any, repairs: frozenset[Any]) -> bool:
        """Keep a candidate that reached no new branch, if it reached a new milestone; whether it did."""
        if not self._note(self._observe(candidate)):
            return False
        self._add(Entry(candidate, repairs))
        return True

    def _repaired(self, value: Any, places: frozenset[Any]) -> Any:
        """The input with comparisons at some places, as of a checksum, made true."""
        for _ in range(_ROUNDS_OF_REPAIR):
            wrong = [one for one in self._observe(value) if one.site in places and not one.holds]
            found = next((edit for one in wrong for edit in exact_edits(one, value)), None)
            if found is None:
                return value
            value = applied(value, found)
        return value

    def _is_new(self, value: Any) -> bool:
        key = encoded(value)
        if key in self._tried:
            return False
        if len(self._tried) < _MOST_REMEMBERED:
            self._tried.add(key)
        return True

    # ---- findings

    def _found(self, value: Any, error: BaseException, repairs: frozenset[Any]) -> None:
        key, site = finding_key(error, self.coverage.is_covered)
        if key in self.findings:
            return
        if isinstance(error, TooSlow) and not self._is_slow_again(value):
            return  # the machine was busy
        finding = Finding(copied(value), error, site, self.executions)
        self.findings[key] = finding
        self._write(finding)
        most = next((count for types, count in _MINIMISING_SLOW if isinstance(error, types)), _MINIMISING)
        if repairs:
            most = min(most, _MINIMISING_REPAIRED)

        def shown(candidate: Any) -> Any:
            if self.seconds is not None and self._elapsed > self.seconds * _LATEST:
                return None
            candidate = self._repaired(candidate, repairs) if repairs else candidate
            raised = self._error_of(candidate)
            if raised is None or finding_key(raised, self.coverage.is_covered)[0] != key:
                released(raised)
                return None
            former, finding.exception = finding.exception, raised
            if former is not raised:
                released(former)
            return candidate

        debt = self._turns.debt
        finding.input = minimised(finding.input, shown, most)
        self._turns.debt = debt
        self._write(finding)

    def _is_slow_again(self, value: Any) -> bool:
        error = self._error_of(value)
        released(error)
        return isinstance(error, TooSlow)

    def _write(self, finding: Finding) -> None:
        place = importable(self.f)
        test = None if place is None else test_source(finding, *place, self.limits.timeout, self._later)
        self.folder.keep_finding(finding.name, finding.input, test)

    # ---- progress

    def _show(self, at_end: bool = False) -> None:
        if not at_end and (self.executions & 63 or not self._progress.is_due):
            return
        parts = (
            f"{self._elapsed:.0f} s",
            plural(self.executions, "execution"),
            f"{self.tagged} tagged",
            plural(len(self.coverage.branches), "branch", "branches"),
            f"{plural(len(self.corpus), 'input')} kept",
            plural(len(self.findings), "finding"),
        )
        self._progress.show(", ".join(parts), at_end)


class _Over(Exception):
    """The time or the executions are used up."""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
