"""The results of runs as values. Units stand at the end of names: ``_ns`` nanoseconds, ``_ms`` milliseconds, ``_bytes``; ``n_`` counts."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import pandas
    import polars

StrPath = Union[str, "os.PathLike[str]"]
"""The name of a file."""


class Histogram:
    """A distribution of latencies: pairs of a latency in nanoseconds and the number of I/Os in its bucket, ascending.

    A latency stands for a bucket that is at most 1.6 % wide. The histogram is empty (and false) if the result does not tell it.
    """

    __slots__ = ("_counts", "_values_ns")

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        ordered = sorted(pairs)
        self._values_ns = array("q", [value for value, _ in ordered])
        self._counts = array("q", [count for _, count in ordered])

    def __len__(self) -> int:
        return len(self._values_ns)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._values_ns, self._counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return self._values_ns == other._values_ns and self._counts == other._counts

    def __hash__(self) -> int:
        return hash((self._values_ns.tobytes(), self._counts.tobytes()))

    def __repr__(self) -> str:
        return f"<Histogram of {self.n} I/Os in {len(self)} buckets>"

    @property
    def n(self) -> int:
        """Number of I/Os."""
        return sum(self._counts)

    def percentile(self, percent: float) -> int | None:
        """The latency, in nanoseconds, that ``percent`` of the I/Os did not exceed; ``None``: the histogram is empty."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, and {percent} does not")
        wanted, seen = percent / 100 * self.n, 0
        for value_ns, count in self:
            seen += count
            if seen >= wanted:
                return value_ns
        return None


@dataclass(frozen=True)
class Latency:
    """Latencies of some I/Os."""

    n: int
    """Number of latencies."""
    mean_ns: float
    """Mean, nanoseconds."""
    min_ns: int | None = None
    """Shortest, nanoseconds; ``None``: the result does not tell it."""
    max_ns: int | None = None
    """Longest, nanoseconds; ``None``: the result does not tell it."""
    stddev_ns: float | None = None
    """Standard deviation, nanoseconds; ``None``: the result does not tell it."""
    percentiles: Mapping[float, int] = field(default_factory=dict, repr=False)
    """Percentiles that the result tells: nanoseconds by percent, ascending."""
    histogram: Histogram = field(default_factory=Histogram, repr=False)
    """The distribution; empty: the result does not tell it (``--output-format=json+`` and ``jsonl`` do)."""

    def __hash__(self) -> int:
        return hash((self.n, self.mean_ns, self.min_ns, self.max_ns))

    def percentile(self, percent: float) -> int | None:
        """The latency, in nanoseconds, that ``percent`` of the I/Os did not exceed; ``None``: the result does not tell it.

        It is one of :attr:`percentiles`, or else comes from the :attr:`histogram`.
        """
        told = self.percentiles.get(float(percent))
        return self.histogram.percentile(percent) if told is None else told

    @property
    def p50_ns(self) -> int | None:
        """The median, nanoseconds."""
        return self.percentile(50)

    @property
    def p99_ns(self) -> int | None:
        """The 99th percentile, nanoseconds."""
        return self.percentile(99)

    @property
    def p999_ns(self) -> int | None:
        """The 99.9th percentile, nanoseconds."""
        return self.percentile(99.9)


@dataclass(frozen=True)
class Estimate:
    """How exact a figure is: a confidence interval, or the reason why there is none."""

    value: float | None
    """The estimated value, in the unit of the figure; ``None``: there is no interval."""
    low: float | None
    """Lower end of the interval."""
    high: float | None
    """Upper end of the interval."""
    unknown: str | None
    """Why there is no interval, such as ``too_few_intervals``; ``None``: there is one."""

    @property
    def percent(self) -> float | None:
        """The ``±`` of the reports: the larger distance of an end from the value, percent of the value; ``None``: there is no interval."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return 100 * max(self.high - self.value, self.value - self.low) / self.value if self.value > 0 else 0.0


@dataclass(frozen=True)
class Precision:
    """How exact the figures of a job in one direction are."""

    confidence_percent: float
    """Probability with which an interval covers the true value, percent."""
    interval_ns: int
    """Length of the intervals that the estimates rest on, nanoseconds."""
    n_intervals: int
    """Number of these intervals."""
    iops: Estimate
    """Of the I/Os per second."""
    bytes_per_sec: Estimate
    """Of the bytes per second."""
    mean_ns: Estimate
    """Of the mean completion latency."""
    p50_ns: Estimate
    """Of the median of the completion latency."""
    p99_ns: Estimate
    """Of its 99th percentile."""
    p999_ns: Estimate
    """Of its 99.9th percentile."""


@dataclass(frozen=True)
class SampledRate:
    """A rate as it was sampled about every half second during the run. Its unit is that of the figure."""

    n: int
    """Number of samples."""
    min: float
    """Smallest sample."""
    max: float
    """Largest sample."""
    mean: float
    """Mean of the samples."""
    stddev: float
    """Standard deviation of the samples."""


@dataclass(frozen=True)
class Figures:
    """The figures of the I/Os of one direction, or of the syncs between the writes."""

    direction: str
    """``read``, ``write``, ``trim``, ``sync``, or ``mixed`` (all in one, by ``unified_rw_reporting``)."""
    n_ios: int
    """Number of I/Os that completed."""
    bytes: int
    """Bytes moved."""
    runtime_ns: int
    """Time of the phases that include this direction, nanoseconds."""
    iops: float
    """I/Os per second."""
    bytes_per_sec: float
    """Bytes per second."""
    slat: Latency | None = None
    """Submission latency: until an I/O is handed over; ``None``: not measured, here and below."""
    clat: Latency | None = None
    """Completion latency: from its submission to its completion."""
    lat: Latency | None = None
    """Total latency: submission and completion."""
    response: Latency | None = None
    """Latency from the time at which the rate wanted the I/O to start (``rate_latency=response``)."""
    n_short: int = 0
    """Number of transfers that came back short and were continued."""
    n_dropped: int = 0
    """Number of I/Os that were given up."""
    sampled_iops: SampledRate | None = None
    """Samples of the I/Os per second; ``None``: the result does not tell them."""
    sampled_bytes_per_sec: SampledRate | None = None
    """Samples of the bytes per second; ``None``: the result does not tell them."""
    precision: Precision | None = None
    """How exact the figures are; ``None``: only ferrio tells it."""

    @property
    def latencies(self) -> Mapping[str, Latency]:
        """The latencies that were measured, by their names: ``slat``, ``clat``, ``lat``, ``response``."""
        named = (("slat", self.slat), ("clat", self.clat), ("lat", self.lat), ("response", self.response))
        return {name: latency for name, latency in named if latency is not None}

    @property
    def latency(self) -> Latency | None:
        """The latency that reports show: the completion latency, or the total one if only that was measured."""
        return self.clat if self.clat is not None else self.lat


class _WithFigures:
    """What has figures by direction."""

    figures: Mapping[str, Figures]

    @property
    def read(self) -> Figures | None:
        """The figures of the reads; ``None``: there were none."""
        return self.figures.get("read")

    @property
    def write(self) -> Figures | None:
        """The figures of the writes; ``None``: there were none."""
        return self.figures.get("write")

    @property
    def trim(self) -> Figures | None:
        """The figures of the trims; ``None``: there were none."""
        return self.figures.get("trim")

    @property
    def sync(self) -> Figures | None:
        """The figures of the syncs between the writes; ``None``: there were none. Their latency is the total one."""
        return self.figures.get("sync")

    @property
    def mixed(self) -> Figures | None:
        """The figures of all directions in one (``unified_rw_reporting``); ``None``: the result does not tell them."""
        return self.figures.get("mixed")


@dataclass(frozen=True)
class Cpu:
    """Use of the CPU by a job, or in an interval."""

    user_percent: float
    """Time in user mode, percent of the time of the job or interval."""
    system_percent: float
    """Time in the kernel, percent."""
    n_switches: int
    """Number of context switches."""
    n_major_faults: int
    """Number of page faults that read from a disk."""
    n_minor_faults: int
    """Number of page faults that did not."""


@dataclass(frozen=True)
class Job(_WithFigures):
    """The results of a job; with ``group_reporting``, of a group of jobs."""

    name: str
    """Its name. Clones have the same name."""
    group: int
    """Number of its group, from 0."""
    figures: Mapping[str, Figures]
    """Figures of the directions that it used, by ``read``, ``write``, ``trim``, ``mixed`` and ``sync``."""
    number: int | None = None
    """Number of the worker in the run, from 1; ``None``: the result does not tell it."""
    n_clones: int | None = None
    """Number of clones whose figures these are; ``None``: the result does not tell it."""
    description: str = ""
    """Its description; empty: it has none."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Its options as they were given; of one that was given several times, the last value."""
    start_ms: int | None = None
    """Start of its I/O, milliseconds since 1970; ``None``: the result does not tell it."""
    error: int = 0
    """Its error, an errno; 0: none."""
    error_text: str = ""
    """Its error in words, if the result tells them."""
    n_tolerated_errors: int = 0
    """Number of errors after which it went on (``continue_on_error``)."""
    cpu: Cpu | None = None
    """Its use of the CPU; ``None``: the result does not tell it."""
    depths: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Share of its I/Os by the number in flight, percent: ``1``, ``2``, ``4``, ... ``>=64``."""

    def __hash__(self) -> int:
        return hash((self.name, self.group, self.number))


@dataclass(frozen=True)
class Interval(_WithFigures):
    """What a worker did in an interval, and in that alone."""

    job: str
    """Name of the job."""
    job_number: int
    """Number of the worker in the run, from 1; of the first clone, if the figures are those of all clones."""
    group: int
    """Number of its group, from 0."""
    n_clones: int
    """Number of clones whose figures these are."""
    start_ms: float
    """Its start, milliseconds since the start of the run."""
    end_ms: float
    """Its end, milliseconds since the start of the run."""
    start_epoch_ms: int
    """Its start, milliseconds since 1970."""
    end_epoch_ms: int
    """Its end, milliseconds since 1970."""
    figures: Mapping[str, Figures]
    """Figures of the directions that the job uses."""
    cpu: Cpu | None = None
    """Use of the CPU."""
    n_tolerated_errors: int = 0
    """Number of errors after which the job went on."""

    def __hash__(self) -> int:
        return hash((self.job, self.job_number, self.start_ms, self.end_ms))


@dataclass(frozen=True)
class Disk:
    """Counters of a disk over the run."""

    name: str
    """Its name."""
    n_reads: int
    """Number of reads that it served."""
    n_writes: int
    """Number of writes that it served."""
    read_bytes: int | None
    """Bytes read; ``None``: the report does not tell (fio before 3.36)."""
    written_bytes: int | None
    """Bytes written; ``None``: the report does not tell."""
    busy_percent: float
    """Time with I/O in flight, percent."""


@dataclass(frozen=True)
class Evidence:
    """A measured value that a finding rests on."""

    what: str
    """What was measured, in a few words."""
    value: float
    """Its value."""
    unit: str
    """Its unit, such as ``seconds``, ``bytes``, ``count``."""


@dataclass(frozen=True)
class Finding:
    """A contradiction between the evidence and a figure, or a figure that is easily misread."""

    id: str
    """Short name of the rule, such as ``device-did-less``. It does not change from version to version."""
    title: str
    """The rule in a few words."""
    severity: str
    """``wrong``: a figure does not mean what its name says; ``misleading``: it is easily taken for another; ``note``."""
    jobs: tuple[str, ...]
    """Names of the affected jobs; empty: all."""
    direction: str | None
    """The direction whose figures it is about; ``None``: not one alone."""
    evidence: tuple[Evidence, ...]
    """The measured values that it rests on."""
    explanation: str
    """What the evidence means, in a sentence or two."""
    cure: str
    """How to avoid it."""
    page: str
    """The page of the documentation that describes the rule."""

    def __str__(self) -> str:
        scope = ", ".join(self.jobs) + (f": {self.direction}" if self.direction else "")
        return f"{self.severity}: {self.title}{f' ({scope})' if scope else ''}. {self.explanation}"


@dataclass(frozen=True)
class Unexamined:
    """A subject of which the audit could not examine all."""

    subject: str
    """The subject in a few words."""
    reason: str
    """The missing evidence, and why it is missing."""
    jobs: tuple[str, ...]
    """Names of the affected jobs; empty: all."""
    rules: tuple[str, ...]
    """Names of the rules that could not look."""
    is_of_machine: bool
    """This machine never has the evidence, in any run."""


@dataclass(frozen=True)
class OptionOutcome:
    """An option that was given to a job, and what became of it."""

    option: str
    """Its name."""
    asked: str
    """Its value as it was given; empty: it was given without one."""
    outcome: str
    """``as_asked``; ``not_as_asked``: it had no effect, or another one; ``not_seen``: nothing tells; ``structure``: it names or arranges
    something."""
    because: str | None
    """Both values, or the reason, in a few words; ``None``: there is nothing to say."""

    def __str__(self) -> str:
        given = f"{self.option}={self.asked}" if self.asked else self.option
        return given if self.because is None else f"{given} ({self.because})"


@dataclass(frozen=True)
class LevelBytes:
    """Bytes that a level of devices has moved during the run, for the jobs and for all others."""

    devices: tuple[str, ...]
    """The devices that hold all data of the job together."""
    bytes: int
    """Bytes."""
    n_requests: int | None
    """Requests; ``None``: not counted."""
    is_shared: bool
    """Other jobs of the run have moved some of them."""


@dataclass(frozen=True)
class BytesAccount:
    """Bytes of a job in one direction, on their way to the devices."""

    direction: str
    """``read`` or ``write``."""
    n_ios: int
    """I/Os that the job has done."""
    bytes: int
    """Bytes that it has moved by them."""
    kernel_bytes: int | None
    """Bytes that the kernel has read or written for it, or will write; ``None``: not known."""
    levels: tuple[LevelBytes, ...]
    """Levels of devices from the top, as far as they are counted."""
    unseen: str | None
    """Why no level is seen; ``None``: a level is seen."""


@dataclass(frozen=True)
class JobAccount:
    """What was asked of a job, all clones together, and what was done."""

    job: str
    """Its name."""
    options: tuple[OptionOutcome, ...]
    """The options that were given, in their order."""
    time_ns: Mapping[str, int]
    """Where the time of its clones went, nanoseconds by part (``storage``, ``kernel``, ``computing``, ...); the parts add up to
    :attr:`whole_ns`. Empty: not measured."""
    bytes: tuple[BytesAccount, ...]
    """Bytes that it has read and written, and what each level below has moved."""
    meanings: tuple[str, ...] = ()
    """What options mean where their words are often misread, a sentence each."""

    def __hash__(self) -> int:
        return hash((self.job, self.options))

    @property
    def whole_ns(self) -> int:
        """The time of all its clones together, nanoseconds."""
        return sum(self.time_ns.values())

    def of(self, outcome: str) -> tuple[OptionOutcome, ...]:
        """The options with an outcome, such as ``not_as_asked``."""
        return tuple(option for option in self.options if option.outcome == outcome)


@dataclass(frozen=True)
class Ending:
    """How a run has ended."""

    is_as_asked: bool
    """All jobs have done what was asked of them."""
    by: str | None = None
    """What has ended it before that, such as ``request`` or ``exit_all``; ``None``: nothing."""
    signal: int | None = None
    """The signal that did it; ``None``: none, or not known."""
    jobs: tuple[str, ...] = ()
    """Names of the jobs that were ended; empty: all of them, if any."""


@dataclass(frozen=True)
class Accounts:
    """What was asked of a run and what was done."""

    ending: Ending
    """How it has ended."""
    jobs: tuple[JobAccount, ...]
    """The accounts of the jobs, in their order."""

    def job(self, name: str) -> JobAccount:
        """The account of the first job of this name. Raises ``KeyError`` if there is none."""
        for job in self.jobs:
            if job.job == name:
                return job
        raise KeyError(f"no job with an account is called {name!r}")


@dataclass(frozen=True)
class Message:
    """A note or an error of a run."""

    epoch_ms: int | None
    """Its time, milliseconds since 1970; ``None``: not known."""
    is_error: bool
    """It is an error."""
    text: str
    """Its text."""


@dataclass(frozen=True)
class Log:
    """A performance log (``write_bw_log`` and its family): columns of equal length, a row for each I/O or window."""

    path: str
    """Its file."""
    kind: str
    """What it holds: ``bw``, ``iops``, ``lat``, ``clat`` or ``slat``."""
    prefix: str
    """The start of its name: the name of the job, or the value of the option."""
    job_number: int | None
    """Number of the worker, from 1; ``None``: all in one (``per_job_logs=0``)."""
    is_windowed: bool
    """Rows are averages over windows (``log_avg_msec``), not single I/Os."""
    time_ms: Sequence[int] = field(repr=False)
    """Time of each row, milliseconds since the start of the job, or since 1970 (``log_unix_epoch``)."""
    value: Sequence[int] = field(repr=False)
    """Its value, see :attr:`unit`."""
    direction: tuple[str, ...] = field(repr=False)
    """Its direction: ``read``, ``write`` or ``trim``."""
    block_size_bytes: Sequence[int] = field(repr=False)
    """Bytes of its I/O; 0: it is a window."""
    maximum: Sequence[int] | None = field(default=None, repr=False)
    """Highest value of its window (``log_window_value=both``); ``None``: the log has no such column, here and below."""
    offset_bytes: Sequence[int] | None = field(default=None, repr=False)
    """Offset of its I/O in the file, bytes (``log_offset``)."""
    issue_ns: Sequence[int] | None = field(default=None, repr=False)
    """Time at which its I/O was issued, nanoseconds since the start of the job (``log_issue_time``)."""

    def __hash__(self) -> int:
        return hash((self.path, self.kind, len(self.time_ms)))

    def __len__(self) -> int:
        return len(self.time_ms)

    @property
    def unit(self) -> str:
        """Unit of the values: ``ns`` of latencies, ``iops``; ``KiB/s`` of windows of a bandwidth log, ``kB/s`` of its single I/Os."""
        if self.kind == "iops":
            return "iops"
        if self.kind == "bw":
            return "KiB/s" if self.is_windowed else "kB/s"
        return "ns"

    def to_polars(self) -> polars.DataFrame:
        """The rows as a frame of polars."""
        from . import _frames

        return _frames.to_polars(_frames.log_table([self]))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas."""
        from . import _frames

        return _frames.to_pandas(_frames.log_table([self]))


@dataclass(frozen=True)
class Result:
    """The results of a run."""

    name: str
    """A short name: that of its file, or of its first job."""
    form: str
    """The form that it was read from: ``json`` (also json+), ``run`` (of ``ferrio run --json``), ``jsonl``, ``record``, ``text``,
    ``terse`` or ``logs``."""
    program: str
    """The program that measured, with its version; empty: unknown."""
    jobs: tuple[Job, ...] = ()
    """The jobs in the order of the report."""
    path: str | None = None
    """Its file; ``None``: it was measured by :func:`ferrio.run` and was not saved."""
    start_ms: int | None = None
    """Start of the run, milliseconds since 1970; ``None``: the result does not tell it."""
    timestamp_ms: int | None = None
    """Time of the report, milliseconds since 1970; ``None``: the result does not tell it."""
    global_options: Mapping[str, str] = field(default_factory=dict)
    """Options that were given for all jobs."""
    disks: tuple[Disk, ...] = ()
    """The disks."""
    findings: tuple[Finding, ...] | None = None
    """What ferrio's audit found, the worst first; ``None``: there was no audit, see :func:`ferrio.findings`."""
    unexamined: tuple[Unexamined, ...] = ()
    """What the audit could not examine."""
    n_rules: int = 0
    """Number of rules of the audit; 0: not known."""
    accounts: Accounts | None = None
    """What was asked and what was done: options, time, bytes, the ending; ``None``: the result does not tell it."""
    intervals: tuple[Interval, ...] = field(default=(), repr=False)
    """The course of each worker, in the order of time; empty: the result does not tell it."""
    clones_intervals: tuple[Interval, ...] = field(default=(), repr=False)
    """The same of all clones of a job together, for jobs that have several."""
    logs: tuple[Log, ...] = ()
    """Performance logs that were read with it."""
    messages: tuple[Message, ...] = ()
    """Notes and errors of the run."""
    provenance: Mapping[str, object] = field(default_factory=dict, repr=False)
    """Where the figures come from (machine, disks, options in force), as ferrio's JSON has it; empty: not told."""
    remarks: tuple[str, ...] = ()
    """What a reader has to know about the reading, in sentences."""
    exit_code: int | None = None
    """Exit code of the run; ``None``: not known."""
    is_stopped: bool = False
    """The run was stopped before its end."""
    _record: bytes | None = field(default=None, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.timestamp_ms, self.jobs))

    def job(self, name: str) -> Job:
        """The first job of this name. Raises ``KeyError`` if there is none."""
        for job in self.jobs:
            if job.name == name:
                return job
        names = ", ".join(repr(job.name) for job in self.jobs[:20])
        raise KeyError(f"no job is called {name!r}; there are: {names or 'none'}")

    def save(self, path: StrPath) -> None:
        """Writes the record of a run of :func:`ferrio.run` to a file. :func:`ferrio.read` and the program's commands read it.

        Raises ``ValueError`` for a result that was read from a file, which is there already.
        """
        if self._record is None:
            raise ValueError("only results of ferrio.run have a record to save")
        with open(path, "wb") as file:
            file.write(self._record)

    def to_polars(self, table: str = "jobs") -> polars.DataFrame:
        """A table of the result as a frame of polars (``pip install ferrio[polars]``).

        Tables: ``jobs`` (a row for each job and direction), ``latencies`` (for each kind of latency), ``percentiles``, ``histogram``,
        ``intervals`` and ``clones_intervals`` (for each interval, job and direction), ``logs``, ``disks``, ``findings``. Units stand in the
        names of columns. The latency of ``jobs`` and intervals is the completion latency; of syncs, and where no other was measured, the
        total one. Raises ``ImportError`` without polars, ``ValueError`` for another table.
        """
        from . import _frames

        return _frames.to_polars(_frames.result_table(self, table))

    def to_pandas(self, table: str = "jobs") -> pandas.DataFrame:
        """The same as a frame of pandas (``pip install ferrio[pandas]``). Whole numbers are ``Int64``, of which some may be missing."""
        from . import _frames

        return _frames.to_pandas(_frames.result_table(self, table))
