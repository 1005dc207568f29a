"""Frames: the same cells in polars and pandas, with types that do not depend on the values."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import ferrio

TABLES = ("jobs", "latencies", "percentiles", "histogram", "intervals", "clones_intervals", "logs", "disks", "findings")


def result_of(data: Path, name: str) -> ferrio.Result:
    """A result with logs."""
    return ferrio.read([data / name, data / "l_clat.1.log", data / "w_bw.1.log"])[0]


@pytest.mark.parametrize("name", ["fio-3.41.json", "ferrio.jsonl", "ferrio-run.json", "fio-3.41-failed.json"])
def test_both_libraries_have_the_same_cells(data: Path, name: str) -> None:
    result, empty = result_of(data, name), ferrio.Result("", "json", "")
    for table in TABLES:
        frame, other = result.to_polars(table), result.to_pandas(table)
        assert list(frame.columns) == list(other.columns)
        assert frame.height == len(other)
        cells = [[None if pandas.isna(cell) else cell for cell in row] for row in other.itertuples(index=False)]
        assert [list(row) for row in frame.iter_rows()] == cells
        assert empty.to_polars(table).schema == frame.schema
        assert list(empty.to_pandas(table).dtypes) == list(other.dtypes)
    with pytest.raises(ValueError, match="there is no table 'x'; there are: jobs, latencies"):
        result.to_polars("x")


def test_the_rows_of_jobs(data: Path) -> None:
    frame = ferrio.read(data / "fio-3.41.json").to_polars()
    rows = [(row["job"], row["direction"]) for row in frame.iter_rows(named=True)]
    assert rows == [("readers", "read"), ("readers", "write")] * 2 + [("writer", "write"), ("writer", "sync")]
    assert frame["n_ios"].sum() == 2 * 256 + 256 + 15
    assert frame.schema["p99_ns"] == polars.Int64 and frame.schema["iops"] == polars.Float64
    assert frame["p99_ns"].null_count() == 0


def test_a_job_without_figures_has_a_row(data: Path) -> None:
    frame = ferrio.read(data / "fio-3.41-failed.json").to_pandas()
    assert list(frame["job"]) == ["fails", "works"] and list(frame["error"]) == [1, 0]
    assert pandas.isna(frame["n_ios"][0])


def test_the_rows_of_intervals(data: Path) -> None:
    result = ferrio.read(data / "ferrio.jsonl")
    frame = result.to_polars("intervals")
    of_intervals = frame.filter(direction="read").group_by("job_number").agg(polars.col("n_ios").sum()).sort("job_number")
    assert list(of_intervals["n_ios"]) == [job.read.n_ios for job in result.jobs if job.read]


def test_the_rows_of_distributions(data: Path) -> None:
    frame = ferrio.read(data / "fio-3.41-plus.json").to_polars("histogram")
    assert list(frame.group_by("latency", maintain_order=True).agg(polars.col("count").sum())["count"]) == [64, 64, 64]


def test_the_rows_of_logs(data: Path) -> None:
    result = result_of(data, "fio-3.41.json")
    log = result.logs[0]
    assert list(log.to_polars()["value"]) == list(log.value) == list(log.to_pandas()["value"])
    assert result.to_polars("logs").height == sum(map(len, result.logs))


def test_a_comparison_as_a_frame(data: Path, program: str) -> None:
    comparison = ferrio.compare(data / "fio-3.41.json", data / "fio-3.33.json")
    frame, other = comparison.to_polars(), comparison.to_pandas()
    assert frame.height == len(other) == sum(len(job.figures) for job in comparison.jobs) > 0


def test_a_missing_library_names_the_extra(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name in ("polars", "pandas"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    result = ferrio.read(data / "fio-3.41.json")
    with pytest.raises(ImportError, match=r"pip install 'ferrio\[polars\]'"):
        result.to_polars()
    with pytest.raises(ImportError, match=r"pip install 'ferrio\[pandas\]'"):
        result.to_pandas()
