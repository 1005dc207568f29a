"""Comparisons of results, by the program."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from . import _program
from ._audit import finding_of
from ._errors import FerrioError
from ._keys import Keys, Malformed, as_count, as_figure, as_list, as_text, decode
from ._model import Finding, Result, StrPath

if TYPE_CHECKING:
    import pandas
    import polars

ResultOrPath = Union[Result, StrPath]
"""A result, or the file of one. ``history:RUN`` names a kept run."""

Side = Union[ResultOrPath, Sequence[ResultOrPath]]
"""One result, or the results of repeated runs."""

_COMPARED = (0, 1, 3)


@dataclass(frozen=True)
class Change:
    """How much a figure has changed."""

    percent: float
    """The change, percent of the base."""
    absolute: float
    """The change, in the unit of the figure."""
    interval_percent: tuple[float, float] | None
    """Ends of its confidence interval, percent, the upper one ``math.inf`` if nothing bounds it; ``None``: the results do not tell one."""
    interval_absolute: tuple[float, float] | None
    """The same, in the unit of the figure."""


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of both sides."""

    direction: str
    """``read``, ``write``, ``trim`` or ``sync``."""
    metric: str
    """``iops``, ``bw`` (bytes per second), or a latency in nanoseconds: ``mean``, ``p50``, ``p95``, ``p99``, ``p99.9``, ``p99.99`` or
    ``max``."""
    base: float | None
    """Its value in the base; of several results their mean; ``None``: not told."""
    new: float | None
    """Its new value."""
    change: Change | None
    """The change, if it has a meaning."""
    n_base: int
    """Number of results of the base that have the figure."""
    n_new: int
    """Number of new results that have it."""
    p: float | None
    """Probability with which chance alone makes such a change, 0 to 1; ``None``: the results do not tell."""
    verdict: str
    """``same``, ``faster``, ``slower``, ``differs`` or ``unknown``."""
    basis: str
    """What the verdict rests on: ``repeats``, ``course``, ``size``, ``same_result`` or ``nothing``."""
    reason: str
    """The same in words, or why there is no verdict."""
    contradicted_by: tuple[str, ...]
    """Short names of findings according to which the figure is wrong."""


@dataclass(frozen=True)
class ComparedJob:
    """A job, or a group of jobs, that both sides have."""

    name: str
    """Its name in the base."""
    new_name: str | None
    """Its new name, if it is another one."""
    group: int
    """Number of its group in the base, from 0."""
    figures: tuple[ComparedFigure, ...]
    """Its figures, by direction and metric."""

    def figure(self, direction: str, metric: str) -> ComparedFigure:
        """One of its figures. Raises ``KeyError`` if there is none of this direction and metric."""
        for figure in self.figures:
            if (figure.direction, figure.metric) == (direction, metric):
                return figure
        raise KeyError(f"{self.name} has no figure {direction}.{metric}")


@dataclass(frozen=True)
class ComparedFact:
    """A fact about machine, storage or program that differs, or an option that does; ``None``: unknown, or not given."""

    what: str
    """The fact in a few words, or the name of the option."""
    base: str | None
    """That of the base."""
    new: str | None
    """The new one."""
    jobs: tuple[str, ...] = ()
    """Names of the jobs, of an option."""
    changes_work: bool = False
    """The jobs do other I/O with this option, so that their figures measure something else."""


@dataclass(frozen=True)
class ComparedFinding:
    """A finding that speaks against figures of a side."""

    in_base: bool
    """It is about the base."""
    in_new: bool
    """It is about the new results."""
    finding: Finding
    """The finding."""


@dataclass(frozen=True)
class Condition:
    """The outcome of a condition of ``fail_if``."""

    condition: str
    """The condition."""
    outcome: str
    """``met``, ``not_met`` or ``undecided``, as the program tells it."""
    jobs: tuple[str, ...]
    """Names of the jobs in which it is met."""
    unknown: tuple[str, ...]
    """The figures that leave it undecided."""


@dataclass(frozen=True)
class Comparison:
    """A comparison of new results with those of a base."""

    confidence_percent: float
    """Probability with which an interval covers the true change, percent."""
    threshold_percent: float
    """Changes certainly below this count as none, percent."""
    base: tuple[str, ...]
    """Names of the results of the base."""
    new: tuple[str, ...]
    """Names of the new results."""
    jobs: tuple[ComparedJob, ...]
    """The jobs that both sides have."""
    only_in_base: tuple[str, ...]
    """Names of jobs that only the base has."""
    only_in_new: tuple[str, ...]
    """Names of jobs that only the new results have."""
    surroundings: tuple[ComparedFact, ...]
    """Differences of machine, storage and program."""
    options: tuple[ComparedFact, ...]
    """Differences of the options of jobs."""
    findings: tuple[ComparedFinding, ...]
    """Findings that speak against figures."""
    remarks: tuple[str, ...]
    """What a reader has to know about the comparison, in sentences."""
    conditions: tuple[Condition, ...] = ()
    """The outcomes of ``fail_if``."""
    exit_code: int = field(default=0)
    """That of ``ferrio compare``: 0; 1: a condition is met; 3: the results do not decide one."""

    def job(self, name: str) -> ComparedJob:
        """The first job that has this name in the base. Raises ``KeyError`` if there is none."""
        for job in self.jobs:
            if job.name == name:
                return job
        raise KeyError(f"no job of both sides is called {name!r}")

    def to_polars(self) -> polars.DataFrame:
        """A row for each figure of each job, as a frame of polars."""
        from . import _frames

        return _frames.to_polars(_frames.comparison_table(self))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each figure of each job, as a frame of pandas."""
        from . import _frames

        return _frames.to_pandas(_frames.comparison_table(self))


def compare(
    base: Side,
    new: Side,
    *,
    threshold_percent: float = 1.0,
    fail_if: str | Sequence[str] = (),
    program: StrPath | None = None,
) -> Comparison:
    """Compares results: same, faster, slower, different, or can't tell.

    Each side is one result or a list of the results of repeated runs: a result of :func:`ferrio.run` or :func:`ferrio.read`, or a file.
    Repeated runs say most, because one run does not show how much it differs from the next. Changes that are certainly below
    ``threshold_percent`` count as none. ``fail_if`` has conditions such as ``"read.iops < -5%"``, see ``ferrio compare --help``; their
    outcomes are :attr:`Comparison.conditions`, and none raises an error.

    The program compares, see :func:`ferrio.find_program`. Raises :class:`ProgramError` if it refuses a result or a condition,
    ``ValueError`` for a side without a result.
    """
    sides = [_items(base), _items(new)]
    if not all(sides):
        raise ValueError("each side needs a result")
    with tempfile.TemporaryDirectory(prefix="ferrio-compare-") as folder:
        of_base, of_new = (
            [path for index, item in enumerate(side) for path in _paths(item, os.path.join(folder, f"{name}-{index}"))]
            for name, side in zip(("base", "new"), sides)
        )
        arguments = ["compare", "--json", f"--threshold={threshold_percent!r}%"]
        arguments += [f"--fail-if={condition}" for condition in ([fail_if] if isinstance(fail_if, str) else fail_if)]
        is_pair = len(sides[0]) == len(sides[1]) == 1
        outcome = _program.call(program, [*arguments, *of_base, *([] if is_pair else ["--against"]), *of_new])
    if outcome.exit_code not in _COMPARED or not outcome.output:
        raise outcome.error()
    try:
        return _comparison(Keys(decode(outcome.output.decode("utf-8", "replace"))[0], ""), outcome.exit_code)
    except (Malformed, json.JSONDecodeError) as error:
        raise FerrioError(f"the output of {outcome.command[0]} compare cannot be read: {error}") from error


def _items(side: Side) -> list[ResultOrPath]:
    return [side] if isinstance(side, (str, os.PathLike, Result)) else list(side)


def _paths(item: ResultOrPath, folder: str) -> list[str]:
    """The file of a result, and its logs behind it. A result of a run has no file: its record is written."""
    if not isinstance(item, Result):
        return [_program.as_argument(item)]
    logs = [_program.as_argument(log.path) for log in item.logs]
    if item._record is None:
        if item.path is None:
            raise ValueError(f"the result {item.name!r} has neither a file nor a record")
        return logs if item.form == "logs" else [_program.as_argument(item.path), *logs]
    os.mkdir(folder)
    path = os.path.join(folder, _file_name(item.name))
    item.save(path)
    return [path, *logs]


def _file_name(name: str) -> str:
    """A name for the record of a result, by which the comparison calls it."""
    short = "".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in name[:40])
    return f"{short or 'run'}.record"


def _comparison(document: Keys, exit_code: int) -> Comparison:
    found = document.objects("comparisons")
    if len(found) != 1:
        raise Malformed(f"there are {len(found)} comparisons, and one is expected")
    keys = found[0]
    sides = [side.texts("results") for side in (Keys(keys.raw("base"), "base"), Keys(keys.raw("new"), "new"))]
    return Comparison(
        confidence_percent=keys.figure("confidence_percent"),
        threshold_percent=keys.figure("threshold_percent"),
        base=sides[0],
        new=sides[1],
        jobs=tuple(_job(job) for job in keys.objects("jobs")),
        only_in_base=keys.texts("only_in_base"),
        only_in_new=keys.texts("only_in_new"),
        surroundings=tuple(_fact(fact, "what") for fact in keys.objects("surroundings")),
        options=tuple(_fact(option, "option") for option in keys.objects("options")),
        findings=tuple(
            ComparedFinding(finding.flag("in_base"), finding.flag("in_new"), finding_of(finding)) for finding in keys.objects("findings")
        ),
        remarks=keys.texts("remarks"),
        conditions=tuple(
            Condition(item.text("condition"), item.text("outcome"), item.texts("jobs"), item.texts("unknown"))
            for item in document.objects("conditions")
        ),
        exit_code=exit_code,
    )


def _fact(keys: Keys, name: str) -> ComparedFact:
    return ComparedFact(
        what=keys.text(name),
        base=keys.maybe("base", as_text),
        new=keys.maybe("new", as_text),
        jobs=keys.texts("jobs"),
        changes_work=keys.flag("changes_work", False),
    )


def _job(keys: Keys) -> ComparedJob:
    figures = tuple(_figure(figure) for figure in keys.objects("figures"))
    return ComparedJob(keys.text("name"), keys.maybe("new_name", as_text), keys.count("group", 0), figures)


def _figure(keys: Keys) -> ComparedFigure:
    change = keys.keys("change")
    n_base, n_new = (as_count(n, "n") for n in _pair(keys.list("n"), "n"))
    return ComparedFigure(
        direction=keys.text("direction"),
        metric=keys.text("metric"),
        base=keys.maybe("base", as_figure),
        new=keys.maybe("new", as_figure),
        change=None if change is None else _change(change),
        n_base=n_base,
        n_new=n_new,
        p=keys.maybe("p", as_figure),
        verdict=keys.text("verdict"),
        basis=keys.text("basis"),
        reason=keys.text("reason", ""),
        contradicted_by=keys.texts("contradicted_by"),
    )


def _change(keys: Keys) -> Change:
    return Change(
        percent=keys.signed("percent"),
        absolute=keys.signed("absolute"),
        interval_percent=keys.maybe("interval_percent", _interval),
        interval_absolute=keys.maybe("interval_absolute", _interval),
    )


def _interval(value: object, where: str) -> tuple[float, float]:
    low, high = _pair(as_list(value, where), where)
    # Where chance alone explains any change the upper end is infinite, a number that JSON does not have.
    return as_figure(low, where, -1e30), math.inf if high is None else as_figure(high, where, -1e30)


def _pair(items: list[object], where: str) -> tuple[object, object]:
    if len(items) != 2:
        raise Malformed(f"{where} has {len(items)} values, and two are expected")
    return items[0], items[1]
