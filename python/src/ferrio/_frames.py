"""Tables of results, and frames of polars and pandas from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Callable, NamedTuple, Union

if TYPE_CHECKING:
    import pandas
    import polars

    from ._compare import Comparison
    from ._model import Figures, Interval, Latency, Log, Result

Cell = Union[str, int, float, bool, None]
Row = dict[str, Cell]


class Table(NamedTuple):
    """Columns with their types: ``int``, ``float``, ``str`` or ``bool``; a cell may be ``None``."""

    types: Mapping[str, type]
    columns: Mapping[str, Sequence[Cell]]


_LATENCY: dict[str, type] = {
    "mean_ns": float,
    "p50_ns": int,
    "p99_ns": int,
    "p999_ns": int,
    "max_ns": int,
    "min_ns": int,
    "stddev_ns": float,
}
_FIGURES: dict[str, type] = {
    "direction": str,
    "iops": float,
    "bytes_per_sec": float,
    **_LATENCY,
    "n_ios": int,
    "bytes": int,
    "runtime_ns": int,
}
_PRECISE = ("iops", "bytes_per_sec", "mean_ns", "p50_ns", "p99_ns", "p999_ns")
_JOBS: dict[str, type] = {
    "job": str,
    **_FIGURES,
    "number": int,
    "group": int,
    "n_clones": int,
    "start_ms": int,
    "error": int,
    "n_tolerated_errors": int,
    "n_short": int,
    "n_dropped": int,
    **{f"{name}_{end}": float for name in _PRECISE for end in ("low", "high")},
}
_INTERVALS: dict[str, type] = {
    "job": str,
    "start_ms": float,
    "end_ms": float,
    **_FIGURES,
    "job_number": int,
    "group": int,
    "n_clones": int,
    "start_epoch_ms": int,
    "end_epoch_ms": int,
}
_OF_LATENCY: dict[str, type] = {"job": str, "number": int, "group": int, "direction": str, "latency": str}
_LATENCIES: dict[str, type] = {**_OF_LATENCY, "n": int, **_LATENCY}
_PERCENTILES: dict[str, type] = {**_OF_LATENCY, "percent": float, "value_ns": int}
_HISTOGRAM: dict[str, type] = {**_OF_LATENCY, "value_ns": int, "count": int}
_LOGS: dict[str, type] = {
    "kind": str,
    "prefix": str,
    "job_number": int,
    "time_ms": int,
    "direction": str,
    "value": int,
    "unit": str,
    "maximum": int,
    "block_size_bytes": int,
    "offset_bytes": int,
    "issue_ns": int,
}
_DISKS: dict[str, type] = {"name": str, "n_reads": int, "n_writes": int, "read_bytes": int, "written_bytes": int, "busy_percent": float}
_FINDINGS: dict[str, type] = {"id": str, "severity": str, "title": str, "jobs": str, "direction": str, "explanation": str, "cure": str}
_COMPARED: dict[str, type] = {
    "job": str,
    "new_job": str,
    "group": int,
    "direction": str,
    "metric": str,
    "base": float,
    "new": float,
    "change_percent": float,
    "low_percent": float,
    "high_percent": float,
    "n_base": int,
    "n_new": int,
    "p": float,
    "verdict": str,
    "basis": str,
    "reason": str,
    "contradicted_by": str,
}


def _table(types: Mapping[str, type], rows: Iterable[Row]) -> Table:
    columns: dict[str, list[Cell]] = {name: [] for name in types}
    for row in rows:
        for name, column in columns.items():
            column.append(row.get(name))
    return Table(types, columns)


def result_table(result: Result, table: str) -> Table:
    """A table of a result by its name. Raises ``ValueError`` for another name."""
    tables: dict[str, Callable[[], Table]] = {
        "jobs": lambda: _table(_JOBS, _job_rows(result)),
        "latencies": lambda: _table(_LATENCIES, ({**place, **_latency_cells(of)} for place, of in _latencies(result))),
        "percentiles": lambda: _table(_PERCENTILES, _percentile_rows(result)),
        "histogram": lambda: _table(_HISTOGRAM, _histogram_rows(result)),
        "intervals": lambda: _table(_INTERVALS, _interval_rows(result.intervals)),
        "clones_intervals": lambda: _table(_INTERVALS, _interval_rows(result.clones_intervals)),
        "logs": lambda: log_table(result.logs),
        "disks": lambda: _table(_DISKS, (vars(disk) for disk in result.disks)),
        "findings": lambda: _table(_FINDINGS, ({**vars(found), "jobs": ", ".join(found.jobs)} for found in result.findings or ())),
    }
    if table not in tables:
        raise ValueError(f"there is no table {table!r}; there are: {', '.join(tables)}")
    return tables[table]()


def _figures_row(figures: Figures) -> Row:
    row: Row = {
        "direction": figures.direction,
        "n_ios": figures.n_ios,
        "bytes": figures.bytes,
        "runtime_ns": figures.runtime_ns,
        "iops": figures.iops,
        "bytes_per_sec": figures.bytes_per_sec,
    }
    if figures.latency is not None:
        row.update(_latency_cells(figures.latency))
    return row


def _latency_cells(latency: Latency) -> Row:
    return {
        "n": latency.n,
        "min_ns": latency.min_ns,
        "mean_ns": latency.mean_ns,
        "stddev_ns": latency.stddev_ns,
        "max_ns": latency.max_ns,
        "p50_ns": latency.p50_ns,
        "p99_ns": latency.p99_ns,
        "p999_ns": latency.p999_ns,
    }


def _precision_cells(figures: Figures) -> Row:
    row: Row = {}
    precision = figures.precision
    if precision is not None:
        estimates = (precision.iops, precision.bytes_per_sec, precision.mean_ns, precision.p50_ns, precision.p99_ns, precision.p999_ns)
        for name, estimate in zip(_PRECISE, estimates):
            row[f"{name}_low"], row[f"{name}_high"] = estimate.low, estimate.high
    return row


def _job_rows(result: Result) -> Iterator[Row]:
    for job in result.jobs:
        own: Row = {
            "job": job.name,
            "number": job.number,
            "group": job.group,
            "n_clones": job.n_clones,
            "start_ms": job.start_ms,
            "error": job.error,
            "n_tolerated_errors": job.n_tolerated_errors,
        }
        if not job.figures:
            # A job that failed before its first I/O is there too.
            yield own
        for figures in job.figures.values():
            counts: Row = {"n_short": figures.n_short, "n_dropped": figures.n_dropped}
            yield {**own, **_figures_row(figures), **counts, **_precision_cells(figures)}


def _interval_rows(intervals: Iterable[Interval]) -> Iterator[Row]:
    for interval in intervals:
        for figures in interval.figures.values():
            yield {
                "job": interval.job,
                "job_number": interval.job_number,
                "group": interval.group,
                "n_clones": interval.n_clones,
                "start_ms": interval.start_ms,
                "end_ms": interval.end_ms,
                "start_epoch_ms": interval.start_epoch_ms,
                "end_epoch_ms": interval.end_epoch_ms,
                **_figures_row(figures),
            }


def _latencies(result: Result) -> Iterator[tuple[Row, Latency]]:
    for job in result.jobs:
        for figures in job.figures.values():
            for name, latency in figures.latencies.items():
                place: Row = {"job": job.name, "number": job.number, "group": job.group}
                yield {**place, "direction": figures.direction, "latency": name}, latency


def _percentile_rows(result: Result) -> Iterator[Row]:
    for place, latency in _latencies(result):
        for percent, value_ns in latency.percentiles.items():
            yield {**place, "percent": percent, "value_ns": value_ns}


def _histogram_rows(result: Result) -> Iterator[Row]:
    for place, latency in _latencies(result):
        for value_ns, count in latency.histogram:
            yield {**place, "value_ns": value_ns, "count": count}


def log_table(logs: Sequence[Log]) -> Table:
    """The rows of logs, one log after the other."""
    columns: dict[str, list[Cell]] = {name: [] for name in _LOGS}
    for log in logs:
        n = len(log)
        columns["kind"] += [log.kind] * n
        columns["prefix"] += [log.prefix] * n
        columns["job_number"] += [log.job_number] * n
        columns["unit"] += [log.unit] * n
        columns["time_ms"] += log.time_ms
        columns["direction"] += log.direction
        columns["value"] += log.value
        columns["block_size_bytes"] += log.block_size_bytes
        for name, column in (("maximum", log.maximum), ("offset_bytes", log.offset_bytes), ("issue_ns", log.issue_ns)):
            columns[name] += [None] * n if column is None else column
    return Table(_LOGS, columns)


def comparison_table(comparison: Comparison) -> Table:
    """A row for each figure of each job."""
    rows: list[Row] = []
    for job in comparison.jobs:
        for figure in job.figures:
            change = figure.change
            interval: tuple[float | None, float | None] = (None, None)
            if change is not None and change.interval_percent is not None:
                interval = change.interval_percent
            rows.append(
                {
                    "job": job.name,
                    "new_job": job.name if job.new_name is None else job.new_name,
                    "group": job.group,
                    "direction": figure.direction,
                    "metric": figure.metric,
                    "base": figure.base,
                    "new": figure.new,
                    "change_percent": None if change is None else change.percent,
                    "low_percent": interval[0],
                    "high_percent": interval[1],
                    "n_base": figure.n_base,
                    "n_new": figure.n_new,
                    "p": figure.p,
                    "verdict": figure.verdict,
                    "basis": figure.basis,
                    "reason": figure.reason,
                    "contradicted_by": ", ".join(figure.contradicted_by),
                }
            )
    return _table(_COMPARED, rows)


def to_polars(table: Table) -> polars.DataFrame:
    """The table as a frame of polars."""
    try:
        import polars
    except ImportError as error:
        raise ImportError("frames of polars need polars: pip install 'ferrio[polars]'") from error
    types = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    schema = {name: types[of]() for name, of in table.types.items()}
    frame: polars.DataFrame = polars.DataFrame(dict(table.columns), schema=schema)
    return frame


def to_pandas(table: Table) -> pandas.DataFrame:
    """The table as a frame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames of pandas need pandas: pip install 'ferrio[pandas]'") from error
    types = {str: "string", int: "Int64", float: "float64", bool: "boolean"}
    columns = {name: pandas.Series(list(table.columns[name]), dtype=types[of]) for name, of in table.types.items()}
    frame: pandas.DataFrame = pandas.DataFrame(columns)
    return frame
