"""Reports in JSON, of fio and of ferrio in its place: ``--output-format=json`` and ``json+``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ._audit import Audit, PrecisionOfJobs, precision_of_jobs, shares_of
from ._keys import Keys, Malformed, as_count, as_figure, as_text, percent_key, shown, whole
from ._model import Cpu, Disk, Figures, Histogram, Job, Latency, Message, Precision, Result, SampledRate

_MOST = 20_000
_SECTOR_BYTES = 512
_NS_PER_MS = 1_000_000
_BYTES_PER_KIB = 1024


def is_report(keys: Keys) -> bool:
    """True if an object is such a report."""
    return keys.has("fio version") or keys.has("jobs") or keys.has("client_stats")


def result_of(keys: Keys) -> Result:
    """The result of a report. Its name, path and form are left to the caller."""
    ferrio = keys.keys("ferrio")
    precision: PrecisionOfJobs = {} if ferrio is None else precision_of_jobs(ferrio.objects("precision", _MOST))
    of_hosts = [job for job in keys.objects("client_stats", _MOST) if job.text("jobname", "") != "All clients"]
    found = keys.objects("jobs", _MOST) + of_hosts
    jobs = tuple(_job(job, precision) for job in found)
    audit = None if ferrio is None else Audit(ferrio)
    seconds = keys.maybe("timestamp", as_count)
    version = keys.text("fio version", "")
    if ferrio is not None and ferrio.has("version"):
        version = f"ferrio {ferrio.text('version')}"
    timestamp_ms = keys.maybe("timestamp_ms", as_count)
    starts_ms = [job.start_ms for job in jobs if job.start_ms]
    return Result(
        name="",
        form="json",
        program=version,
        jobs=jobs if ferrio is None else _numbered(jobs, ferrio.raw("provenance")),
        start_ms=min(starts_ms, default=None),
        timestamp_ms=whole(seconds * 1000) if timestamp_ms is None and seconds is not None else timestamp_ms,
        global_options=options_of(keys.keys("global options")),
        disks=tuple(_disk(disk) for disk in keys.objects("disk_util", _MOST)),
        findings=None if audit is None else audit.findings,
        unexamined=() if audit is None else audit.unexamined,
        n_rules=0 if audit is None else audit.n_rules,
        accounts=None if audit is None else audit.accounts,
        messages=() if ferrio is None else messages_of(ferrio),
        provenance=dict({} if ferrio is None else ferrio.raw("provenance")),
    )


def _numbered(jobs: tuple[Job, ...], provenance: Mapping[str, object]) -> tuple[Job, ...]:
    """The jobs with their numbers, if they are the workers that the run describes, one by one."""
    described = provenance.get("jobs")
    numbers: list[int] = []
    for item in described if isinstance(described, list) else []:
        keys = Keys(item, "provenance.jobs")
        first, n_clones = keys.count("first_number", 0), keys.count("n_clones", 0)
        if len(numbers) + n_clones > len(jobs):
            return jobs
        numbers += range(first, first + n_clones)
    if len(numbers) != len(jobs):
        return jobs
    return tuple(replace(job, number=number, n_clones=1) for job, number in zip(jobs, numbers))


def options_of(keys: Keys | None) -> Mapping[str, str]:
    """Options, from an object."""
    if keys is None:
        return {}
    return {name: as_text(value, f"{keys.where}.{name}") for name, value in keys.items()}


def messages_of(keys: Keys) -> tuple[Message, ...]:
    """The messages of a document of ferrio, which are texts or objects."""
    found: list[Message] = []
    for item in keys.list("messages"):
        if isinstance(item, str):
            found.append(Message(None, False, as_text(item, "messages")))
        elif isinstance(item, dict):
            message = Keys(item, "messages")
            is_error = message.text("stream", message.text("kind", "info")) == "error"
            found.append(Message(message.maybe("epoch_ms", as_count), is_error, message.text("text", "")))
    return tuple(found)


def _job(keys: Keys, precision: PrecisionOfJobs) -> Job:
    name, host = keys.text("jobname", ""), keys.text("hostname", "")
    figures: dict[str, Figures] = {}
    for direction in ("read", "write", "trim", "mixed"):
        told = keys.keys(direction)
        found = None if told is None else _direction(told, direction, precision.get((name, direction)))
        if found is not None:
            figures[direction] = found
    syncs = _syncs(keys.keys("sync"), figures)
    if syncs is not None:
        figures["sync"] = syncs
    start_ms = max(0, keys.integer("job_start", 0))
    cpu = Cpu(
        user_percent=keys.figure("usr_cpu", 0.0),
        system_percent=keys.figure("sys_cpu", 0.0),
        n_switches=keys.count("ctx", 0),
        n_major_faults=keys.count("majf", 0),
        n_minor_faults=keys.count("minf", 0),
    )
    return Job(
        name=f"{name} on {host}" if host else name,
        group=max(0, keys.integer("groupid", 0)),
        figures=figures,
        description=keys.text("desc", ""),
        options=options_of(keys.keys("job options")),
        start_ms=start_ms or None,
        error=keys.integer("error", 0),
        n_tolerated_errors=keys.count("total_err", 0),
        cpu=cpu,
        depths=dict(shares_of(keys.keys("iodepth_level"))),
    )


def _direction(keys: Keys, direction: str, precision: Precision | None) -> Figures | None:
    n_ios, n_bytes = keys.count("total_ios", 0), keys.count("io_bytes", 0)
    if n_ios == 0 and n_bytes == 0:
        return None
    bytes_per_sec = keys.maybe("bw_bytes", as_figure)
    return Figures(
        direction=direction,
        n_ios=n_ios,
        bytes=n_bytes,
        runtime_ns=whole(keys.count("runtime", 0) * _NS_PER_MS),
        iops=keys.figure("iops", 0.0),
        bytes_per_sec=keys.figure("bw", 0.0) * _BYTES_PER_KIB if bytes_per_sec is None else bytes_per_sec,
        slat=latency_of(keys.keys("slat_ns")),
        clat=latency_of(keys.keys("clat_ns")),
        lat=latency_of(keys.keys("lat_ns")),
        n_short=keys.count("short_ios", 0),
        n_dropped=keys.count("drop_ios", 0),
        sampled_iops=_sampled(keys, "iops", "stddev", 1),
        sampled_bytes_per_sec=_sampled(keys, "bw", "dev", _BYTES_PER_KIB),
        precision=precision,
    )


def _syncs(keys: Keys | None, figures: Mapping[str, Figures]) -> Figures | None:
    """Syncs have no runtime in a report: theirs is that of the direction with the longest one."""
    if keys is None:
        return None
    latency = latency_of(keys.keys("lat_ns"))
    # fio's report counts no syncs of fdatasync, and none of a group; the number of their latencies is right.
    n_ios = max(keys.count("total_ios", 0), 0 if latency is None else latency.n)
    if n_ios == 0:
        return None
    runtime_ns = max((told.runtime_ns for told in figures.values()), default=0)
    iops = n_ios * 1e9 / runtime_ns if runtime_ns else 0.0
    return Figures(direction="sync", n_ios=n_ios, bytes=0, runtime_ns=runtime_ns, iops=iops, bytes_per_sec=0.0, lat=latency)


def _sampled(keys: Keys, name: str, deviation: str, unit: int) -> SampledRate | None:
    n = keys.count(f"{name}_samples", 0)
    if n == 0:
        return None
    low, high = keys.figure(f"{name}_min", 0.0) * unit, keys.figure(f"{name}_max", 0.0) * unit
    mean, stddev = keys.figure(f"{name}_mean", 0.0) * unit, keys.figure(f"{name}_{deviation}", 0.0) * unit
    return SampledRate(n=n, min=low, max=high, mean=mean, stddev=stddev)


def latency_of(keys: Keys | None) -> Latency | None:
    """A latency; ``None``: it has no samples. fio writes that as zeros."""
    if keys is None:
        return None
    max_ns = keys.figure("max", 0.0)
    n = keys.maybe("N", as_count)
    if max_ns <= 0 or n == 0:
        return None
    told, bins = keys.keys("percentile"), keys.keys("bins")
    return Latency(
        n=n or 0,
        mean_ns=keys.figure("mean", 0.0),
        min_ns=whole(keys.figure("min", 0.0)),
        max_ns=whole(max_ns),
        stddev_ns=keys.figure("stddev", 0.0),
        percentiles=_percentiles(told),
        histogram=Histogram(() if bins is None else _bins(bins)),
    )


def _percentiles(keys: Keys | None) -> Mapping[float, int]:
    found: dict[float, int] = {}
    for name, value in [] if keys is None else keys.items():
        percent = percent_key(name)
        # fio 2 writes further keys among the percentiles.
        if percent is not None and isinstance(value, (int, float)):
            found[percent] = whole(as_figure(value, f"percentile.{name}"))
    return dict(sorted(found.items()))


def _bins(keys: Keys) -> list[tuple[int, int]]:
    return [(bin_of(name), as_count(count, f"bins.{name}")) for name, count in keys.items()]


def bin_of(name: str) -> int:
    """The latency that stands for a bucket, from its key."""
    if not (name.isascii() and name.isdigit() and len(name) < 19):
        raise Malformed(f"a bin is {shown(name)}, and a whole number is expected")
    return int(name)


def _disk(keys: Keys) -> Disk:
    read_sectors, written_sectors = keys.maybe("read_sectors", as_count), keys.maybe("write_sectors", as_count)
    return Disk(
        name=keys.text("name", ""),
        n_reads=keys.count("read_ios", 0),
        n_writes=keys.count("write_ios", 0),
        read_bytes=None if read_sectors is None else whole(read_sectors * _SECTOR_BYTES),
        written_bytes=None if written_sectors is None else whole(written_sectors * _SECTOR_BYTES),
        busy_percent=keys.figure("util", 0.0),
    )
