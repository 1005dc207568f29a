"""Results of both programs, as they were written."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import pytest

import ferrio


def test_a_report_of_fio_has_the_figures_of_its_keys(data: Path) -> None:
    for name, version in (("fio-3.41.json", "fio-3.41"), ("fio-3.33.json", "fio-3.33")):
        result = ferrio.read(data / name)
        report = json.loads((data / name).read_text())
        assert (result.name, result.form, result.program) == (name, "json", version)
        assert [job.name for job in result.jobs] == ["readers", "readers", "writer"]
        assert [job.group for job in result.jobs] == [0, 0, 1]
        for job, told in zip(result.jobs, report["jobs"]):
            for direction, figures in job.figures.items():
                if direction != "sync":
                    assert figures.n_ios == told[direction]["total_ios"]
                    assert figures.bytes == told[direction]["io_bytes"] == figures.n_ios * 4096
                    assert figures.bytes_per_sec == told[direction]["bw_bytes"]
                    assert figures.runtime_ns == told[direction]["runtime"] * 1_000_000
        # 1 MiB in blocks of 4 KiB.
        writes = result.jobs[2].write
        assert writes is not None and writes.n_ios == 256 and writes.clat is not None
        assert writes.clat.p99_ns == report["jobs"][2]["write"]["clat_ns"]["percentile"]["99.000000"]
        assert result.jobs[2].read is None
        assert result.findings is None
        assert result.timestamp_ms == report["timestamp_ms"]
        assert result.disks[0].read_bytes == (report["disk_util"][0]["read_sectors"] * 512 if version == "fio-3.41" else None)


def test_syncs_are_counted_by_their_latencies(data: Path) -> None:
    for name in ("fio-3.41.json", "fio-3.33.json", "ferrio.json"):
        syncs = ferrio.read(data / name).jobs[2].sync
        # A sync after each 16 of 256 writes, but not after the last of them, with which the job ends.
        assert syncs is not None and syncs.n_ios == 15, name
        assert syncs.lat is not None and syncs.lat.n == 15


def test_json_plus_has_distributions(data: Path) -> None:
    reads = ferrio.read(data / "fio-3.41-plus.json").job("plus").read
    assert reads is not None and reads.slat is not None and reads.clat is not None and reads.lat is not None
    for latency in (reads.slat, reads.clat, reads.lat):
        assert latency.histogram.n == latency.n == 64
        for percent in (1.0, 50.0, 99.0, 99.9):
            # fio finds its percentiles in the same buckets.
            assert latency.histogram.percentile(percent) == latency.percentiles[percent]
    assert list(reads.latencies) == ["slat", "clat", "lat"]


def test_mixed_directions_are_figures_of_their_own(data: Path) -> None:
    job = ferrio.read(data / "fio-3.33-mixed.json").job("mixed")
    assert list(job.figures) == ["read", "write", "mixed"]
    assert job.mixed is not None and job.read is not None and job.write is not None
    assert job.mixed.n_ios == job.read.n_ios + job.write.n_ios == 64


def test_the_last_of_several_reports_counts(data: Path) -> None:
    result = ferrio.read(data / "fio-3.33-status.json")
    job = result.job("slow")
    # 20 I/Os a second for 3 s; the first report has those of the first second.
    assert job.read is not None and 55 <= job.read.n_ios <= 61
    assert len(result.remarks) == 1 and "reports" in result.remarks[0]


def test_a_failed_job_has_its_error(data: Path) -> None:
    jobs = ferrio.read(data / "fio-3.41-failed.json").jobs
    assert [(job.name, job.error) for job in jobs] == [("fails", 1), ("works", 0)]


def test_ferrio_in_place_of_fio(data: Path) -> None:
    result = ferrio.read(data / "ferrio.json")
    assert result.program == "ferrio 0.1.0"
    assert [(job.name, job.number) for job in result.jobs] == [("readers", 1), ("readers", 2), ("writer", 3)]
    assert result.findings is not None and result.n_rules > 0
    assert all(finding.severity in ("wrong", "misleading", "note") for finding in result.findings)
    writer = result.job("writer").write
    assert writer is not None and writer.precision is not None
    assert writer.precision.confidence_percent == 95
    assert writer.precision.iops.unknown == "too_few_intervals"
    assert result.provenance["architecture"] == "x86_64"


def test_the_document_of_ferrio_run(data: Path) -> None:
    result = ferrio.read(data / "ferrio-run.json")
    assert (result.form, result.program) == ("run", "ferrio 0.1.0")
    assert [(job.name, job.n_clones, list(job.figures)) for job in result.jobs] == [
        ("readers", 2, ["read", "write"]),
        ("writer", 1, ["write", "sync"]),
    ]
    readers = result.job("readers")
    assert readers.read is not None and readers.write is not None
    # Two clones of 1 MiB.
    assert readers.read.bytes + readers.write.bytes == 2 << 20
    assert readers.options["rw"] == "randrw"
    assert result.findings is not None


def test_lines_have_the_course(data: Path) -> None:
    result = ferrio.read(data / "ferrio.jsonl")
    assert result.form == "jsonl"
    assert [(job.name, job.number) for job in result.jobs] == [("course", 1), ("course", 2), ("syncs", 3)]
    for job in result.jobs:
        own = [interval for interval in result.intervals if interval.job_number == job.number]
        assert own
        for direction, figures in job.figures.items():
            of_intervals = [interval.figures[direction] for interval in own if direction in interval.figures]
            assert sum(told.n_ios for told in of_intervals) == figures.n_ios
            assert sum(told.bytes for told in of_intervals) == figures.bytes
            latency = figures.latency
            if latency is not None and latency.histogram:
                assert latency.histogram.n == latency.n
                assert latency.histogram.percentile(99) == latency.p99_ns
    assert {interval.n_clones for interval in result.clones_intervals} == {2}
    assert result.exit_code == 0 and not result.is_stopped


def test_lines_that_were_cut_off_have_what_there_is(data: Path, tmp_path: Path) -> None:
    lines = (data / "ferrio.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    for length in (lines.index(b'"record":"job"'), len(lines) - 5, len(lines) - 1):
        cut.write_bytes(lines[:length])
        result = ferrio.read(cut)
        assert result.intervals
        assert bool(result.remarks) == (length < len(lines) - 1)


def test_logs_of_single_ios(data: Path) -> None:
    result = ferrio.read(data / "l_clat.1.log")
    assert (result.form, result.name, result.jobs) == ("logs", "l", ())
    (log,) = result.logs
    assert (log.kind, log.prefix, log.job_number, log.is_windowed, log.unit) == ("clat", "l", 1, False, "ns")
    # 32 KiB in blocks of 4 KiB, each offset once.
    assert len(log) == 8 and set(log.block_size_bytes) == {4096} and set(log.direction) == {"read", "write"}
    assert log.offset_bytes is not None and sorted(log.offset_bytes) == [4096 * index for index in range(8)]
    assert log.maximum is None and log.issue_ns is None
    bandwidth = ferrio.read(data / "l_bw.1.log").logs[0]
    # The bandwidth of an I/O is its size by its latency: bytes, and nanoseconds to kB per second.
    assert list(bandwidth.value) == [4096 * 1_000_000 // latency_ns for latency_ns in log.value]
    assert bandwidth.unit == "kB/s"


def test_logs_with_issue_times(data: Path) -> None:
    log = ferrio.read(data / "i_clat.1.log").logs[0]
    assert log.issue_ns is not None and list(log.issue_ns) == sorted(log.issue_ns)
    assert log.offset_bytes is not None and list(log.offset_bytes) == [0, 4096, 8192, 12288]


def test_the_longest_numbers_of_logs(tmp_path: Path) -> None:
    most = 2**63 - 1
    (tmp_path / "a_lat.log").write_text(f"{most}, {most}, 2, {most}, 0\n 1 ,2, 0, 4096, 0x2003\r\n\n")
    log = ferrio.read(tmp_path / "a_lat.log").logs[0]
    assert (list(log.time_ms), list(log.value), list(log.block_size_bytes)) == ([most, 1], [most, 2], [most, 4096])
    assert log.direction == ("trim", "read")


def test_logs_of_windows(data: Path) -> None:
    log = ferrio.read(data / "w_lat.1.log").logs[0]
    assert log.is_windowed and log.maximum is not None and log.offset_bytes is None
    assert all(maximum >= mean for maximum, mean in zip(log.maximum, log.value))
    assert set(log.block_size_bytes) == {0}
    assert ferrio.read(data / "w_bw.1.log").logs[0].unit == "KiB/s"


def test_an_empty_log_is_that_of_a_job_without_such_ios(data: Path) -> None:
    assert len(ferrio.read(data / "l_slat.1.log").logs[0]) == 0


def test_logs_belong_to_the_report_before_them(data: Path) -> None:
    names = ["o_bw.log", "o_clat.log", "fio-3.41.json", "l_bw.1.log", "w_bw.1.log", "ferrio.json"]
    results = ferrio.read([data / name for name in names])
    assert [(result.name, len(result.logs)) for result in results] == [("o", 2), ("fio-3.41.json", 2), ("ferrio.json", 0)]
    assert results[0].logs[0].job_number is None


def test_a_record_is_read_by_the_program(data: Path, program: str, tmp_path: Path) -> None:
    run = ferrio.run({"name": "reader", "filename": "f", "size": "64k", "rw": "randread"}, cwd=tmp_path)
    run.save(tmp_path / "-a record")
    read = ferrio.read(tmp_path / "-a record", program=program)
    assert read.form == "record" and read.name == "-a record"
    assert read.jobs == run.jobs
    assert read.findings == run.findings
    with pytest.raises(ValueError, match="record to save"):
        read.save(tmp_path / "b")


def test_results_can_be_hashed_copied_and_sent(data: Path) -> None:
    for name in ("ferrio.jsonl", "fio-3.41-plus.json", "w_lat.1.log"):
        result = ferrio.read(data / name)
        assert pickle.loads(pickle.dumps(result)) == result
        assert len({result, ferrio.read(data / name)}) == 1
        assert result.name in repr(result)


def test_names_that_are_not_there_are_named(data: Path) -> None:
    with pytest.raises(KeyError, match="no job is called 'x'; there are: 'plus'"):
        ferrio.read(data / "fio-3.41-plus.json").job("x")


@pytest.mark.parametrize(("file", "form"), [("fio-3.41.txt", "text"), ("fio-3.41.terse", "terse")])
def test_text_and_terse_lines_are_read_by_the_program(data: Path, program: str, file: str, form: str) -> None:
    result = ferrio.read(data / file, program=program)
    assert (result.form, result.name) == (form, file)
    assert [job.name for job in result.jobs] == ["readers", "readers", "writer"]
    first = result.jobs[0]
    assert first.read is not None and first.write is not None
    # Each clone has a MiB in blocks of 4 KiB.
    assert (first.read.n_ios + first.write.n_ios, first.read.bytes + first.write.bytes) == (256, 1 << 20)
    clat = first.read.clat
    assert clat is not None and clat.min_ns is not None and clat.p50_ns is not None and clat.p999_ns is not None
    assert clat.min_ns <= clat.p50_ns <= clat.p999_ns and clat.n == first.read.n_ios
    assert result.findings is None and result.accounts is None
    assert isinstance(ferrio.findings(result, program=program), tuple)


def test_text_without_figures_is_no_result(tmp_path: Path, program: str) -> None:
    (tmp_path / "a.txt").write_text("a: (groupid=0, jobs=1): cut off")
    with pytest.raises(ferrio.ReadError):
        ferrio.read(tmp_path / "a.txt", program=program)


def test_accounts_are_in_every_form(program: str, tmp_path: Path) -> None:
    # A read job has nothing to sync; 2,560 blocks of 4 KiB are 10 MiB.
    job = ["--name=a", "--ioengine=null", "--rw=read", "--size=10m", "--fsync=4"]
    forms = {
        "run": ["run", "--json"],
        "jsonl": ["run", "--output-format=jsonl"],
        "json": ["--output-format=json"],
        "record": ["run", f"--record={tmp_path / 'record'}"],
    }
    for form, words in forms.items():
        output = subprocess.run([program, *words, *job], capture_output=True, check=True, cwd=tmp_path).stdout
        if form != "record":
            (tmp_path / form).write_bytes(output)
        result = ferrio.read(tmp_path / form, program=program)
        assert result.form == form and result.accounts is not None
        assert result.accounts.ending.is_as_asked
        account = result.accounts.job("a")
        assert [option.option for option in account.of("as_asked")] == ["rw", "size"]
        (missed,) = account.of("not_as_asked")
        assert str(missed) == "fsync=4 (the job only reads)"
        assert account.whole_ns > 0 and "computing" in account.time_ns
        with pytest.raises(KeyError):
            result.accounts.job("b")


def test_options_that_are_often_misread_have_a_sentence(program: str, tmp_path: Path) -> None:
    job = ["--name=a", "--ioengine=null", "--rw=read", "--size=10m", "--numjobs=2"]
    output = subprocess.run([program, "run", "--json", *job], capture_output=True, check=True, cwd=tmp_path).stdout
    (tmp_path / "run").write_bytes(output)
    accounts = ferrio.read(tmp_path / "run").accounts
    assert accounts is not None
    assert accounts.job("a").meanings == ("Each of the 2 jobs (numjobs) has size=10m for itself: together 2 times that.",)


def test_a_run_that_was_ended_says_by_what(program: str, tmp_path: Path) -> None:
    long = ["--name=long", "--ioengine=null", "--size=1g", "--rate_iops=100", "--time_based", "--runtime=600"]
    short = ["--name=short", "--ioengine=null", "--size=1g", "--number_ios=10", "--exitall"]
    output = subprocess.run([program, "run", "--json", *long, *short], capture_output=True, check=False, cwd=tmp_path).stdout
    (tmp_path / "ended").write_bytes(output)
    accounts = ferrio.read(tmp_path / "ended").accounts
    assert accounts is not None
    assert accounts.ending == ferrio.Ending(is_as_asked=False, by="exit_all", jobs=("long",))
