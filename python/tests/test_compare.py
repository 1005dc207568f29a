"""Comparisons and findings, by the program."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import ferrio

pytestmark = pytest.mark.usefixtures("program")

READER: ferrio.JobOptions = {"name": "reader", "filename": "f", "size": "64k", "rw": "randread"}


def test_a_result_is_the_same_as_itself(data: Path) -> None:
    for name in ("fio-3.41.json", "ferrio-run.json", "ferrio.jsonl"):
        comparison = ferrio.compare(data / name, ferrio.read(data / name))
        assert comparison.exit_code == 0 and comparison.jobs
        assert {figure.verdict for job in comparison.jobs for figure in job.figures} <= {"same", "unknown"}
        assert not comparison.options


def test_reports_of_both_programs(data: Path) -> None:
    base, new = ferrio.read([data / "fio-3.41.json", data / "ferrio.json"])
    comparison = ferrio.compare(base, new)
    figure = comparison.job("writer").figure("write", "iops")
    writes = base.job("writer").write, new.job("writer").write
    assert writes[0] is not None and writes[1] is not None
    assert (figure.n_base, figure.n_new) == (1, 1) and figure.base == pytest.approx(writes[0].iops)
    assert figure.new == pytest.approx(writes[1].iops, rel=0.02)
    assert figure.change is not None and figure.base is not None and figure.new is not None
    assert figure.change.percent == pytest.approx(100 * (figure.new - figure.base) / figure.base)
    assert (comparison.base, comparison.new) == (("fio-3.41.json",), ("ferrio.json",))
    with pytest.raises(KeyError):
        comparison.job("nobody")
    with pytest.raises(KeyError):
        comparison.job("writer").figure("read", "iops")


def test_repeated_runs_and_conditions(tmp_path: Path) -> None:
    runs = [ferrio.run(READER, cwd=tmp_path) for _ in range(4)]
    runs[3].save(tmp_path / "-saved")
    comparison = ferrio.compare(runs[:2], [runs[2], "-saved" if Path.cwd() == tmp_path else tmp_path / "-saved"], fail_if="any is slower")
    assert comparison.job("reader").figure("read", "iops").n_base == 2
    assert [condition.condition for condition in comparison.conditions] == ["any is slower"]
    assert comparison.exit_code in (0, 1, 3)
    certain = ferrio.compare(runs[0], runs[1], fail_if=["iops > -100%"], threshold_percent=2.5)
    assert certain.threshold_percent == 2.5 and certain.exit_code in (1, 3)


def test_an_interval_without_an_upper_end(data: Path, tmp_path: Path) -> None:
    """Runs of two kinds, one of each on both sides: chance alone explains any change, and nothing bounds it."""
    report = json.loads((data / "fio-3.41.json").read_text())
    sides: list[list[Path]] = []
    for side, factors in (("base", (1.0, 14.0)), ("new", (1.5, 10.0))):
        sides.append([])
        for factor in factors:
            for job in report["jobs"]:
                job["write"]["clat_ns"]["mean"] = 1000.0 * factor
            path = tmp_path / f"{side}-{factor}.json"
            path.write_text(json.dumps(report))
            sides[-1].append(path)
    change = ferrio.compare(*sides).job("writer").figure("write", "mean").change
    assert change is not None and change.interval_percent is not None
    assert change.interval_percent[0] < 0 and change.interval_percent[1] == math.inf


def test_logs_go_with_their_report(data: Path, tmp_path: Path) -> None:
    options: ferrio.JobOptions = {"name": "w", "filename": "f", "size": "64k", "rw": "randread", "rate_iops": 1000, "number_ios": 600}
    logs: ferrio.JobOptions = {"write_iops_log": "w", "log_avg_msec": 10, "bs": 512}
    results: list[ferrio.Result] = []
    for name in ("base", "new"):
        (tmp_path / name).mkdir()
        run = ferrio.run({**options, **logs}, cwd=tmp_path / name)
        run.save(tmp_path / name / "record")
        results += ferrio.read([tmp_path / name / "record", tmp_path / name / "w_iops.1.log"])
    assert [len(result.logs) for result in results] == [1, 1]
    comparison = ferrio.compare(*results)
    assert (comparison.base, comparison.new) == (("record",), ("record",))
    alone = ferrio.compare(*(ferrio.read(result.logs[0].path) for result in results))
    assert alone.jobs[0].figures


def test_options_that_differ_are_named(tmp_path: Path) -> None:
    one, other = ferrio.run(READER, cwd=tmp_path), ferrio.run({**READER, "bs": "8k"}, cwd=tmp_path)
    options = ferrio.compare(one, other).options
    assert [(option.what, option.new, option.changes_work) for option in options] == [("bs", "8k", True)]


def test_what_cannot_be_compared(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ferrio.ProgramError, match="missing"):
        ferrio.compare(tmp_path / "missing", data / "fio-3.41.json")
    with pytest.raises(ferrio.ProgramError, match="nonsense"):
        ferrio.compare(data / "fio-3.41.json", data / "fio-3.33.json", fail_if="nonsense < 3")
    with pytest.raises(ValueError, match="each side"):
        ferrio.compare([], data / "fio-3.41.json")
    with pytest.raises(ValueError, match="neither a file nor a record"):
        ferrio.compare(ferrio.Result("a", "json", ""), data / "fio-3.41.json")


def test_findings_of_a_report_of_fio(data: Path) -> None:
    found = ferrio.findings(data / "fio-3.41.json")
    # A write to the page cache every now and then waits for a sync: the writer's latencies are those of memory.
    assert "latency-without-syncs" in [finding.id for finding in found]
    assert ferrio.findings(ferrio.read(data / "fio-3.41.json")) == found
    assert all(finding.cure and finding.title in str(finding) for finding in found)


def test_findings_of_documents_of_ferrio(data: Path) -> None:
    result = ferrio.read(data / "ferrio-run.json")
    assert ferrio.findings(data / "ferrio-run.json") == result.findings
    assert isinstance(ferrio.findings(data / "ferrio.jsonl"), tuple)


def test_findings_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(ferrio.ReadError):
        ferrio.findings(tmp_path / "missing")
    with pytest.raises(ValueError, match="neither an audit nor a file"):
        ferrio.findings(ferrio.Result("a", "json", ""))
