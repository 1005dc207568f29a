"""fio's text for people and its terse lines: the program reads them, and hands their figures over as a table."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from ._keys import Malformed, as_count, as_figure, clean
from ._model import Figures, Job, Latency, Result

_TEXT = re.compile(rb"\(groupid=\d+, jobs=\d+\)")
_TERSE = re.compile(rb"^[2-5];", re.MULTILINE)
_DIRECTIONS = ("read", "write", "trim", "sync")
_PERCENTILES = ((50.0, "p50_ns"), (95.0, "p95_ns"), (99.0, "p99_ns"), (99.9, "p99_9_ns"), (99.99, "p99_99_ns"))
_MOST_ROWS = 1_000_000


def form_of(start: bytes) -> str | None:
    """``text`` or ``terse``; ``None``: the file begins like neither."""
    if _TEXT.search(start):
        return "text"
    return "terse" if _TERSE.search(start) else None


def result_of(table: bytes) -> Result:
    """The result of the table that ``ferrio report --csv`` makes. Its name and path are left to the caller."""
    jobs: list[Job] = []
    directions: list[str] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(table.decode("utf-8", "replace")))):
        if number == _MOST_ROWS:
            raise Malformed(f"it has more than {_MOST_ROWS} rows")
        direction, name, group = _cell(row, "direction"), _cell(row, "job"), _count(row, "group")
        if direction not in _DIRECTIONS:
            raise Malformed(f"direction is {direction!r}, and one of {', '.join(_DIRECTIONS)} is expected")
        # Rows of one job follow each other, each with another direction.
        is_same = bool(jobs) and (jobs[-1].name, jobs[-1].group) == (name, group) and direction not in directions
        if not is_same:
            jobs.append(Job(name=name, group=group, figures={}))
            directions = []
        directions.append(direction)
        figures = {**jobs[-1].figures, direction: _figures(row, direction)}
        jobs[-1] = replace(jobs[-1], figures=figures, error=_count(row, "error"))
    if not jobs:
        raise Malformed("it has no figures")
    return Result(name="", form="text", program="", jobs=tuple(jobs))


def _cell(row: dict[str, str], name: str) -> str:
    value = row.get(name)
    if value is None:
        raise Malformed(f"the program's table has no column {name}")
    return clean(value)


def _count(row: dict[str, str], name: str) -> int:
    value = _cell(row, name)
    return as_count(int(value) if value.isascii() and value.isdigit() else value, name)


def _maybe_count(row: dict[str, str], name: str) -> int | None:
    return _count(row, name) if _cell(row, name) else None


def _figure(row: dict[str, str], name: str) -> float:
    value = _cell(row, name)
    try:
        return as_figure(float(value), name)
    except ValueError:
        raise Malformed(f"{name} is {value!r}, and a number is expected") from None


def _figures(row: dict[str, str], direction: str) -> Figures:
    kind = _cell(row, "latency")
    n_ios = _count(row, "ios")
    latency = _latency(row, n_ios) if kind else None
    return Figures(
        direction=direction,
        n_ios=n_ios,
        bytes=_count(row, "bytes"),
        runtime_ns=_count(row, "runtime_ns"),
        iops=_figure(row, "ios_per_sec"),
        bytes_per_sec=_figure(row, "bytes_per_sec"),
        clat=latency if kind == "clat" else None,
        lat=latency if kind == "lat" else None,
    )


def _latency(row: dict[str, str], n_ios: int) -> Latency:
    told = [(percent, _maybe_count(row, name)) for percent, name in _PERCENTILES]
    n_latencies = _maybe_count(row, "n_latencies")
    return Latency(
        n=n_ios if n_latencies is None else n_latencies,
        mean_ns=_figure(row, "mean_ns"),
        min_ns=_count(row, "min_ns"),
        max_ns=_count(row, "max_ns"),
        percentiles={percent: value for percent, value in told if value is not None},
    )
