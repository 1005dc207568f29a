"""Files that are no results: each is an error that names the file, or a result, and never another exception."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import ferrio


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(ferrio.ReadError) as caught:
        ferrio.read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.replace(str(path), "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "missing.json", "it cannot be read: No such file or directory"),
        (tmp_path, "it is no regular file"),
        (Path("/dev/zero"), "it is no regular file"),
    ):
        with pytest.raises(ferrio.ReadError, match=reason):
            ferrio.read(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ferrio.ReadError, match="it is no regular file"):
        ferrio.read(tmp_path / "pipe")
    with pytest.raises(ferrio.ReadError, match="it cannot be read"):
        ferrio.read("a\0b")
    with pytest.raises(ferrio.ReadError, match="No such file"):
        ferrio.read(b"a\xff".decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", b"", ": it is empty"),
        ("a.json", b"hello", ": it is no result"),
        ("a.json", os.urandom(8).hex().encode() + b"\0\xff\xfe", ": it is no result"),
        ("a.json", b"{}", ': it is JSON without the key "jobs"'),
        ("a.json", b"{", ":1: its JSON cannot be read"),
        ("a.json", b'fio: a note\n{"jobs": [{"jobname": "a",}]}', ":2: its JSON cannot be read"),
        ("a.json", b'{"jobs": 3}', ": jobs is 3, and a list is expected"),
        ("a.json", b'{"jobs": [3]}', ": jobs[0] is 3, and an object is expected"),
        ("a.json", b'{"jobs": [{"jobname": 7}]}', ": jobs[0].jobname is 7, and a text is expected"),
        ("a.json", b'{"jobs": [{"read": {"total_ios": -1}}]}', ": jobs[0].read.total_ios is -1, which is impossible"),
        ("a.json", b'{"jobs": [{"read": {"total_ios": 1e3}}]}', "a whole number is expected"),
        ("a.json", b'{"jobs": [{"read": {"total_ios": true}}]}', "a whole number is expected"),
        ("a.json", b'{"jobs": [{"read": {"total_ios": 1, "iops": 1e999}}]}', "which is impossible"),
        ("a.json", b'{"jobs": [{"read": {"total_ios": 1, "iops": NaN}}]}', "NaN is no number of JSON"),
        ("a.json", b'{"jobs": [{"ctx": ' + b"9" * 5000 + b"}]}", "a number has 5000 digits"),
        ("a.json", b'{"jobs": [{"ctx": 9223372036854775808}]}', "which is impossible"),
        ("a.json", b'{"jobs": [{"read": {"io_bytes": 1, "clat_ns": {"max": 1, "bins": {"x": 1}}}}]}', "a bin is 'x'"),
        ("a.json", b'{"jobs": ' + b"[" * 100_000, ""),
        ("a.json", b'{"jobs": ' + b'{"a":' * 100_000, ""),
        ("a.json", b'{"elapsed_ns": 1, "jobs": [{"job": "a", "direction": "up"}]}', "direction is 'up'"),
        ("a.json", b'{"elapsed_ns": 1, "jobs": [{"job": "a", "direction": "read"}]}', "jobs[0].n_ios is missing"),
        ("a.jsonl", b'{"record":"interval"}\n', ":1: the first record is not that of a run"),
        ("a.jsonl", b'{"record":"run","format":2}\n', ":1: its form is 2"),
        ("a.jsonl", b'{"record":"run","format":1}\n{"record":"interval","job":"a"}\n', ":2: job_number is missing"),
        ("a.jsonl", b'{"record":"run","format":1}\n{"record":\n', ":2: its JSON cannot be read"),
        ("a.jsonl", b'{"record":"run","format":1} {}\n', ":1: there is something behind the record"),
        ("a.jsonl", b'{"record":"run"', ":1: its JSON cannot be read"),
        ("a_bw.log", b"1, 2, 3\n", ":1: it has 3 columns"),
        ("a_bw.log", b"1, 2, 0, 4096, 0\n1, 2, 0, 4096\n", ":2: it has 4 columns"),
        ("a_bw.log", b"1, -2, 0, 4096, 0\n", ":1: column 2 is '-2'"),
        ("a_bw.log", b"1, 2, 3, 4096, 0\n", ":1: the direction is 3"),
        ("a_bw.log", b"1, 99999999999999999999, 0, 4096, 0\n", "column 2"),
        ("a_bw.log", "1, \u0663, 0, 4096, 0\n".encode(), "column 2"),
        ("a_bw.log", b"\xff" * 100, ":1: it has 1 columns"),
        ("a_bw.log", b"1" * 100_000, ":1: it has more than 65536 bytes"),
        ("a_bw.1.log.fz", b"x\x9c", ": it is compressed"),
        ("a_clat_hist.1.log", b"1, 0, 4096, 1\n", ": it is a log of histograms"),
        ("a.txt", b"1, 2, 0, 4096, 0\n", ": its name does not say what it logs"),
    ],
)
def test_content_that_is_no_result(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    assert reason in refused(tmp_path / name, content)


def test_a_damaged_record(tmp_path: Path, program: str) -> None:
    run = ferrio.run({"name": "r", "filename": "f", "size": "4k"}, cwd=tmp_path)
    run.save(tmp_path / "r")
    whole = (tmp_path / "r").read_bytes()
    for content in (whole[:20], whole[: len(whole) // 2], whole[:100] + b"\xff" * 100 + whole[200:]):
        assert refused(tmp_path / "r", content)


def test_a_record_without_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r").write_bytes(b"ferrio record 6")
    monkeypatch.setenv("FERRIO", str(tmp_path / "nothing"))
    with pytest.raises(ferrio.ProgramNotFound, match="environment variable FERRIO"):
        ferrio.read(tmp_path / "r")
    with pytest.raises(ferrio.ProgramNotFound, match="argument program"):
        ferrio.read(tmp_path / "r", program=tmp_path)


def test_names_in_all_languages_and_none(tmp_path: Path) -> None:
    name = "gr\u00fc\u00dfe \u6e2c\u8a66 \U0001f4be/..\\'\""
    report = {"fio version": "fio-3.41", "jobs": [{"jobname": name, "job options": {"name": name}}, {"jobname": "\ud800"}]}
    path = tmp_path / "\u00fcber \u6e2c.json"
    path.write_text(json.dumps(report))
    result = ferrio.read(path)
    assert result.name == path.name
    assert [job.name for job in result.jobs] == [name, "?"]
    assert result.job(name).options["name"] == name
    # fio writes the bytes of a name as they are, and control characters too.
    path.write_bytes(b'{"fio version": "fio-3.41", "jobs": [{"jobname": "a\xff\tb"}]}')
    assert ferrio.read(path).jobs[0].name == "a\ufffd\tb"


def test_two_jobs_of_one_name_are_two_jobs(tmp_path: Path) -> None:
    reads = {"total_ios": 1, "io_bytes": 1}
    jobs = [{"jobname": "a", "groupid": group, "read": reads} for group in (0, 1)]
    precision = [{"job": "a", "direction": "read", "confidence_percent": 95.0, "interval_ns": 1, "n_intervals": 1}] * 2
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "", "jobs": jobs, "ferrio": {"precision": precision}}))
    found = ferrio.read(tmp_path / "a.json").jobs
    assert [job.group for job in found] == [0, 1]
    # The document tells precision by name alone: nobody knows whose it is.
    assert [job.read is not None and job.read.precision is None for job in found] == [True, True]


def damaged(value: Any, rng: random.Random) -> Any:
    """The same with a value in it replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(list(value))
        return {**value, key: damaged(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.95:
        index = rng.randrange(len(value))
        return [*value[:index], damaged(value[index], rng), *value[index + 1 :]]
    return rng.choice([None, True, -1, 0, 1.5, 1e29, 1e300, 2**63 - 1, 10**30, "", "x", [], {}, [[]], {"a": {}}, [{"a": 1}]])


@pytest.mark.parametrize("name", ["fio-3.41.json", "fio-3.41-plus.json", "ferrio.json", "ferrio-run.json"])
def test_reports_with_a_wrong_value(data: Path, tmp_path: Path, name: str) -> None:
    report, rng, n_refused = json.loads((data / name).read_text()), random.Random(name), 0
    for _ in range(300):
        (tmp_path / "a.json").write_text(json.dumps(damaged(report, rng)))
        try:
            result = ferrio.read(tmp_path / "a.json")
        except ferrio.ReadError:
            n_refused += 1
        else:
            assert str(result)
            for table in ("jobs", "latencies", "percentiles", "histogram", "disks", "findings"):
                assert result.to_polars(table).width
    assert n_refused > 20


def test_files_with_damaged_bytes(data: Path, tmp_path: Path) -> None:
    rng = random.Random(27)
    for name in ("ferrio.jsonl", "w_lat.1.log", "fio-3.41-plus.json"):
        whole = (data / name).read_bytes()
        for _ in range(100):
            content = bytearray(whole)
            for _ in range(rng.randrange(1, 4)):
                content[rng.randrange(len(content))] = rng.randrange(256)
            (tmp_path / name).write_bytes(bytes(content[: rng.randrange(1, len(content) + 1)]))
            try:
                result = ferrio.read(tmp_path / name)
                assert str(result)
                for table in ("jobs", "intervals", "logs"):
                    assert result.to_polars(table).width
            except ferrio.ReadError as error:
                assert str(error).startswith(str(tmp_path))
