"""Runs of the program: how they end, and what is told meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ferrio

READER: ferrio.JobOptions = {"name": "reader", "filename": "f", "size": "64k", "rw": "randread"}
ENDLESS: ferrio.JobOptions = {**READER, "time_based": True, "runtime": 3600, "rate_iops": 500}

pytestmark = pytest.mark.usefixtures("program")


def test_a_run_has_figures_and_an_audit(tmp_path: Path) -> None:
    result = ferrio.run(READER, cwd=tmp_path)
    reads = result.job("reader").read
    assert reads is not None and (reads.n_ios, reads.bytes) == (16, 1 << 16)
    assert reads.clat is not None and reads.clat.histogram.n == 16
    assert reads.precision is not None
    assert result.findings is not None and "few-samples" in [finding.id for finding in result.findings]
    assert (result.exit_code, result.is_stopped, result.path, result.intervals) == (0, False, None, ())
    assert (result.form, result.name) == ("record", "reader")
    assert ferrio.findings(result) == result.findings
    # Nothing but the file of the job is left.
    assert os.listdir(tmp_path) == ["f"]


def test_several_jobs_and_options_for_all(tmp_path: Path) -> None:
    writer: ferrio.JobOptions = {
        "name": "a b:\u00fc",
        "filename": tmp_path / "g:h",
        "rw": "write",
        "fsync": 4,
        "size": 65536,
        "direct": None,
    }
    result = ferrio.run([READER, writer], global_options={"bs": "8k", "group_reporting": False}, cwd=tmp_path)
    assert [(job.name, job.number) for job in result.jobs] == [("reader", 1), ("a b:\u00fc", 2)]
    # A colon in a path does not part two names of files.
    assert sorted(os.listdir(tmp_path)) == ["f", "g:h"]
    written = result.job("a b:\u00fc")
    assert written.error == 0 and written.options["fsync"] == "4"
    assert result.global_options["bs"] == "8k"


def test_a_job_file_and_arguments(tmp_path: Path) -> None:
    (tmp_path / "-a job.fio").write_text("[global]\nfilename=f\nsize=16k\n[one]\n[two]\nnew_group=1\n")
    result = ferrio.run("-a job.fio", cwd=tmp_path)
    assert [(job.name, job.group) for job in result.jobs] == [("one", 0), ("two", 1)]
    result = ferrio.run(["--name=x", "--filename=f", "--size=16k", {"name": "y", "filename": "f", "size": "8k"}], cwd=tmp_path)
    assert [job.name for job in result.jobs] == ["x", "y"]


def test_intervals_are_told_while_the_run_goes_on(tmp_path: Path) -> None:
    job: ferrio.JobOptions = {**ENDLESS, "runtime": 1, "numjobs": 2}
    told: list[ferrio.Interval] = []
    result = ferrio.run(job, on_interval=lambda interval: told.append(interval), interval_s=0.2, cwd=tmp_path)
    assert tuple(told) == result.intervals
    assert {interval.job_number for interval in told} == {1, 2}
    assert {interval.n_clones for interval in result.clones_intervals} == {2}
    for job_number in (1, 2):
        of_intervals = sum(told.read.n_ios for told in result.intervals if told.job_number == job_number and told.read)
        of_job = result.jobs[job_number - 1].read
        assert of_job is not None and of_job.n_ios == of_intervals
    forgotten = ferrio.run(READER, on_interval=lambda interval: None, keep_intervals=False, cwd=tmp_path)
    assert forgotten.intervals == ()


def test_a_callback_stops_the_run(tmp_path: Path) -> None:
    calls = 0

    def stop(interval: ferrio.Interval) -> bool:
        nonlocal calls
        calls += 1
        return calls < 2

    result = ferrio.run(ENDLESS, on_interval=stop, interval_s=0.1, cwd=tmp_path)
    assert calls == 2
    assert result.is_stopped and result.exit_code == 128
    reads = result.job("reader").read
    assert reads is not None and reads.n_ios == sum(told.read.n_ios for told in result.intervals if told.read)
    assert result.jobs[0].error == 0


def test_an_exception_of_a_callback_stops_the_run_and_goes_on(tmp_path: Path) -> None:
    def fail(interval: ferrio.Interval) -> None:
        raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        ferrio.run(ENDLESS, on_interval=fail, interval_s=0.1, cwd=tmp_path)
    assert not processes_in(tmp_path)


def children_in(folder: Path) -> list[int]:
    """The processes of this test that work in a folder."""
    return [process for process in processes_in(folder) if f"\nPPid:\t{os.getpid()}\n" in Path(f"/proc/{process}/status").read_text()]


def processes_in(folder: Path) -> list[int]:
    """All processes that work in a folder."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve(strict=True) == folder:
                found.append(int(process.name))
        except OSError:
            pass
    return found


def test_ctrl_c_ends_the_run(tmp_path: Path) -> None:
    code = (
        "import ferrio, sys\n"
        f"options = {dict(ENDLESS)!r}\n"
        "try:\n"
        "    ferrio.run(options, on_interval=lambda interval: print('interval', flush=True), interval_s=0.1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "interval\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert rest.endswith("interrupted\n") and process.returncode == 0
    assert not processes_in(tmp_path)


def test_a_refused_option_is_an_error_with_its_messages(tmp_path: Path) -> None:
    for interval_s in (None, 0.5):
        with pytest.raises(ferrio.ProgramError) as caught:
            ferrio.run({**READER, "iodpeth": 3}, cwd=tmp_path, interval_s=interval_s)
        error = caught.value
        assert error.exit_code == 1 and error.signal is None and error.result is None
        assert any("iodpeth" in message for message in error.messages)
        assert "iodpeth" in str(error) and "exit code 1" in str(error)


def test_a_failed_job_is_an_error_with_the_figures_of_the_others(tmp_path: Path) -> None:
    failing: ferrio.JobOptions = {"name": "fails", "filename": "/proc/version", "rw": "write", "size": "4k"}
    for interval_s in (None, 0.5):
        with pytest.raises(ferrio.ProgramError) as caught:
            ferrio.run([failing, READER], cwd=tmp_path, interval_s=interval_s)
        result = caught.value.result
        assert caught.value.exit_code == 1 and result is not None
        assert result.job("fails").error != 0 and result.job("reader").error == 0
        assert result.findings is not None and "job-failed" in [finding.id for finding in result.findings]
        unchecked = ferrio.run([failing, READER], cwd=tmp_path, interval_s=interval_s, check=False)
        assert unchecked.exit_code == 1 and unchecked.job("fails").error == result.job("fails").error
        assert unchecked.to_polars().height == 2


def test_a_killed_run_has_its_intervals(tmp_path: Path) -> None:
    def kill(interval: ferrio.Interval) -> None:
        for process in children_in(tmp_path):
            os.killpg(process, signal.SIGKILL)

    with pytest.raises(ferrio.ProgramError) as caught:
        ferrio.run({**ENDLESS, "thread": True}, cwd=tmp_path, on_interval=kill, interval_s=0.1)
    assert caught.value.signal == signal.SIGKILL and caught.value.exit_code is None
    assert "killed by signal 9" in str(caught.value)
    result = caught.value.result
    assert result is not None and len(result.intervals) >= 1 and result.remarks and result.exit_code is None


def test_a_run_that_somebody_else_stops_is_an_error_with_its_result(tmp_path: Path) -> None:
    def interrupt(interval: ferrio.Interval) -> None:
        for process in children_in(tmp_path):
            os.kill(process, signal.SIGTERM)

    with pytest.raises(ferrio.ProgramError) as caught:
        ferrio.run(ENDLESS, cwd=tmp_path, on_interval=interrupt, interval_s=0.1)
    assert caught.value.result is not None and caught.value.result.is_stopped


def test_runs_in_several_threads(tmp_path: Path) -> None:
    results: list[ferrio.Result] = []
    threads = []
    for index in range(4):
        options: ferrio.JobOptions = {**READER, "filename": f"f{index}", "name": f"job{index}"}
        threads.append(threading.Thread(target=lambda options=options: results.append(ferrio.run(options, cwd=tmp_path))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.name for result in results) == ["job0", "job1", "job2", "job3"]


@pytest.mark.parametrize(
    ("jobs", "error", "reason"),
    [
        ([], ValueError, "there is no job"),
        ({"name": ""}, ValueError, "the name of a job"),
        ({"name": "global"}, ValueError, "the name of a job"),
        ({"name": 3}, ValueError, "the name of a job"),
        ({"name": "a", "output": "x"}, ValueError, "output is a switch"),
        ({"name": "a", "rw=read --b": "x"}, ValueError, "is no name of an option"),
        ({"name": "a", "rw": b"read"}, TypeError, "the value of rw is of the type bytes"),
        (["--output=x"], ValueError, "--output is set by ferrio.run"),
        ([3], TypeError, "a job is a mapping"),
    ],
)
def test_arguments_that_are_none(jobs: ferrio.JobsToRun, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        ferrio.run(jobs)


def test_intervals_have_a_sensible_length() -> None:
    for interval_s in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="interval_s"):
            ferrio.run(READER, interval_s=interval_s)
    with pytest.raises(ValueError, match="global options"):
        ferrio.run(READER, global_options={"name": "a"})


def test_programs_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(ferrio.ProgramNotFound):
        ferrio.run(READER, program=text)
    text.chmod(0o755)
    with pytest.raises(ferrio.ProgramNotFound, match="cannot be started"):
        ferrio.run(READER, program=text)
    with pytest.raises(ferrio.ProgramNotFound, match="cannot be started"):
        ferrio.run(READER, cwd=tmp_path / "missing")
    # Programs that say something else.
    for words in ("exit 0", "echo hello; exit 3", "echo '{}'", 'echo \'{"record":"run","format":1}\'; kill -9 $$'):
        other = tmp_path / "other"
        other.write_text(f"#!/bin/sh\n{words}\n")
        other.chmod(0o755)
        for interval_s in (None, 1):
            with pytest.raises(ferrio.FerrioError):
                ferrio.run(READER, program=other, interval_s=interval_s)


def test_the_program_is_found_in_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ferrio.find_program()
    link = tmp_path / "ferrio"
    link.symlink_to(real)
    assert ferrio.find_program(link) == str(link)
    monkeypatch.setenv("FERRIO", str(link))
    assert ferrio.find_program() == str(link)
    assert ferrio.find_program(real) == real
    monkeypatch.setenv("FERRIO", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Path(ferrio.find_program()).name == "ferrio"


def test_a_run_ends_soon_after_it_was_stopped(tmp_path: Path) -> None:
    # Not a matter of speed: an hour would be over otherwise.
    begun = time.monotonic()
    ferrio.run(ENDLESS, cwd=tmp_path, on_interval=lambda interval: False, interval_s=0.1)
    assert time.monotonic() - begun < 600
