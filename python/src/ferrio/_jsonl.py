"""Records of a run, a line each: ``--output-format=jsonl`` of ferrio."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from ._audit import Audit
from ._keys import Keys, Malformed, as_count, as_figure, as_list, as_text, decode, percent_key, whole
from ._model import Cpu, Figures, Histogram, Interval, Job, Latency, Message, Result
from ._native import given_options, pairs_of

MAX_LINE_BYTES = 64 << 20
"""Longest line. An interval with all buckets of three directions takes less than 100 KiB; the line of a run has all options."""
_MOST_INTERVALS = 1_000_000
_MOST_WORKERS = 20_000
_NEWEST_FORM = 1
_DIRECTIONS = ("read", "write", "trim")
_INTERRUPTED = 128

START = b'{"record":'
"""The start of a record."""


class Records:
    """The records of a run, as they come."""

    def __init__(self, keep_intervals: bool = True, is_live: bool = False) -> None:
        """``is_live``: the records are those of a run that goes on, which does not end because its intervals are too many to keep."""
        self._keep_intervals, self._is_live = keep_intervals, is_live
        self._clear()

    def _clear(self) -> None:
        self._run: Keys | None = None
        self._jobs: dict[int, Job] = {}
        self._intervals: list[Interval] = []
        self._clones_intervals: list[Interval] = []
        self._n_left_out = 0
        self._messages: list[Message] = []
        self._audit: Audit | None = None
        self._end: Keys | None = None

    @property
    def has_begun(self) -> bool:
        """The first record was read."""
        return self._run is not None

    @property
    def has_ended(self) -> bool:
        """The last record was read."""
        return self._end is not None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader has to know about the records so far, in sentences."""
        if self._n_left_out == 0:
            return ()
        return (f"The last {self._n_left_out} intervals were not kept: {_MOST_INTERVALS} are the most.",)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages so far."""
        return tuple(self._messages)

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals of workers so far, unless they are not kept."""
        return tuple(self._intervals)

    @property
    def clones_intervals(self) -> tuple[Interval, ...]:
        """The intervals of all clones of a job so far."""
        return tuple(self._clones_intervals)

    def add(self, line: bytes) -> Interval | None:
        """Takes a line; returns the interval of a worker, if the line is one. Raises ``Malformed`` or ``json.JSONDecodeError``."""
        text = line.decode("utf-8", "replace").strip()
        if not text:
            return None
        value, end = decode(text)
        if text[end:].strip():
            raise Malformed("there is something behind the record")
        keys = Keys(value, "")
        kind = keys.text("record")
        if kind == "run":
            self._begin(keys)
            return None
        if self._run is None:
            raise Malformed("the first record is not that of a run")
        return self._add(kind, keys)

    def _begin(self, keys: Keys) -> None:
        if keys.count("format") > _NEWEST_FORM:
            raise Malformed(
                f"its form is {keys.count('format')}, and forms up to {_NEWEST_FORM} are known: use a newer version of this package"
            )
        # A file that several runs have appended to holds the last of them.
        self._clear()
        self._run = keys

    def _add(self, kind: str, keys: Keys) -> Interval | None:
        if kind in ("interval", "clones_interval"):
            interval = _interval(keys)
            if self._keep_intervals:
                self._keep(interval, self._intervals if kind == "interval" else self._clones_intervals)
            return interval if kind == "interval" else None
        if kind == "job":
            self._add_job(_job(keys))
        elif kind == "message":
            self._messages.append(Message(keys.maybe("epoch_ms", as_count), keys.text("stream", "") == "error", keys.text("text", "")))
        elif kind == "audit":
            self._audit = Audit(keys)
        elif kind == "end":
            self._end = keys
        return None

    def _keep(self, interval: Interval, kept: list[Interval]) -> None:
        if len(kept) < _MOST_INTERVALS:
            kept.append(interval)
        elif self._is_live:
            self._n_left_out += 1
        else:
            raise Malformed(f"it has more than {_MOST_INTERVALS} intervals")

    def _add_job(self, job: Job) -> None:
        if len(self._jobs) >= _MOST_WORKERS:
            raise Malformed(f"it has more than {_MOST_WORKERS} workers")
        self._jobs[job.number or 0] = job

    def result(self) -> Result:
        """The result of all records so far. Its name and path are left to the caller."""
        if self._run is None:
            raise Malformed("it has no record of a run")
        run, audit, end = self._run, self._audit, self._end
        described = given_options({"jobs": run.list("jobs")})
        remarks = [*self.remarks]
        jobs = [_with_options(job, described.get(job.name)) for _, job in sorted(self._jobs.items())]
        if end is None:
            n_cut = len({interval.job_number for interval in self._intervals} - set(self._jobs))
            remarks.append(f"The records end before the run did: {n_cut} workers have intervals and no figures of all their time.")
        began_ms = run.maybe("epoch_ms", as_count)
        return Result(
            name="",
            form="jsonl",
            program=f"ferrio {run.text('version', '')}",
            jobs=tuple(jobs),
            start_ms=began_ms,
            timestamp_ms=began_ms,
            global_options=pairs_of(run.list("global_options"), "global_options"),
            findings=None if audit is None else audit.findings,
            unexamined=() if audit is None else audit.unexamined,
            n_rules=0 if audit is None else audit.n_rules,
            accounts=None if audit is None else audit.accounts,
            intervals=self.intervals,
            clones_intervals=self.clones_intervals,
            messages=self.messages,
            provenance=dict(run.raw("provenance")),
            remarks=tuple(remarks),
            exit_code=None if end is None else end.maybe("exit", as_count),
            is_stopped=end is not None and (end.has("signal") or end.count("exit", 0) >= _INTERRUPTED),
        )


def _with_options(job: Job, options: Mapping[str, str] | None) -> Job:
    return job if options is None else replace(job, options=options)


def is_cut(error: Exception, line: bytes) -> bool:
    """The error is that of a last line that was cut off with its run."""
    return isinstance(error, json.JSONDecodeError) and not line.endswith(b"\n")


def _figures(keys: Keys) -> Mapping[str, Figures]:
    found: dict[str, Figures] = {}
    for name in _DIRECTIONS:
        told = keys.keys(name)
        if told is not None:
            found[name] = _direction(told, name)
    syncs = keys.keys("sync")
    if syncs is not None:
        n = syncs.count("issued")
        time_ms = keys.figure("end_ms") - keys.figure("start_ms")
        found["sync"] = Figures(
            direction="sync",
            n_ios=n,
            bytes=0,
            runtime_ns=whole(max(0.0, round(time_ms * 1e6))),
            iops=n * 1000 / time_ms if time_ms > 0 else 0.0,
            bytes_per_sec=0.0,
            lat=_latency(syncs.keys("lat_ns")),
        )
    return found


def _direction(keys: Keys, name: str) -> Figures:
    return Figures(
        direction=name,
        n_ios=keys.count("ios"),
        bytes=keys.count("bytes"),
        runtime_ns=whole(round(keys.figure("runtime_ms") * 1e6)),
        iops=keys.figure("iops"),
        bytes_per_sec=keys.figure("bw_bytes"),
        slat=_latency(keys.keys("slat_ns")),
        clat=_latency(keys.keys("clat_ns")),
        lat=_latency(keys.keys("lat_ns")),
        response=_latency(keys.keys("response_ns")),
        n_short=keys.count("short", 0),
        n_dropped=keys.count("dropped", 0),
    )


def _latency(keys: Keys | None) -> Latency | None:
    if keys is None or keys.count("n", 0) == 0:
        return None
    percentiles: dict[float, int] = {}
    told = keys.keys("percentiles")
    for name, value in [] if told is None else told.items():
        percent = percent_key(name)
        if percent is not None:
            percentiles[percent] = as_count(value, f"percentiles.{name}")
    return Latency(
        n=keys.count("n"),
        mean_ns=keys.figure("mean"),
        min_ns=keys.maybe("min", as_count),
        max_ns=keys.maybe("max", as_count),
        stddev_ns=keys.maybe("stddev", as_figure),
        percentiles=dict(sorted(percentiles.items())),
        histogram=Histogram(_buckets(keys)),
    )


def _buckets(keys: Keys) -> list[tuple[int, int]]:
    buckets: list[tuple[int, int]] = []
    for item in keys.list("histogram"):
        pair = as_list(item, "histogram")
        if len(pair) != 2:
            raise Malformed("a bucket of a histogram is no pair")
        buckets.append((as_count(pair[0], "histogram"), as_count(pair[1], "histogram")))
    return buckets


def _cpu(keys: Keys) -> Cpu | None:
    cpu = keys.keys("cpu")
    if cpu is None:
        return None
    time_ms = keys.figure("end_ms") - keys.figure("start_ms")
    share = 100 / time_ms if time_ms > 0 else 0.0
    return Cpu(
        user_percent=cpu.figure("user_ms", 0.0) * share,
        system_percent=cpu.figure("system_ms", 0.0) * share,
        n_switches=cpu.count("context_switches", 0),
        n_major_faults=cpu.count("major_faults", 0),
        n_minor_faults=cpu.count("minor_faults", 0),
    )


def _interval(keys: Keys) -> Interval:
    return Interval(
        job=keys.text("job"),
        job_number=keys.count("job_number"),
        group=keys.count("group", 0),
        n_clones=keys.count("n_clones", 1),
        start_ms=keys.figure("start_ms"),
        end_ms=keys.figure("end_ms"),
        start_epoch_ms=keys.count("start_epoch_ms", 0),
        end_epoch_ms=keys.count("end_epoch_ms", 0),
        figures=_figures(keys),
        cpu=_cpu(keys),
        n_tolerated_errors=keys.count("tolerated_errors", 0),
    )


def _job(keys: Keys) -> Job:
    return Job(
        name=keys.text("job"),
        group=keys.count("group", 0),
        figures=_figures(keys),
        number=keys.count("job_number"),
        n_clones=1,
        start_ms=keys.maybe("start_epoch_ms", as_count),
        error=keys.integer("error", 0),
        error_text=keys.maybe("error_text", as_text) or "",
        n_tolerated_errors=keys.count("tolerated_errors", 0),
        cpu=_cpu(keys),
    )
