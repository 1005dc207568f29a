"""The document of ``ferrio run --json`` and ``ferrio quick --json``: a row for each job and direction, with findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ._audit import Audit, precision_of
from ._fio import messages_of
from ._keys import Keys, Malformed, as_count, as_list, as_text
from ._model import Figures, Job, Latency, Result

_ORDER = ("read", "write", "trim", "sync")
_PERCENTILES = ((50.0, "p50_ns"), (99.0, "p99_ns"), (99.9, "p999_ns"))


def is_document(keys: Keys) -> bool:
    """True if an object is such a document."""
    return keys.has("elapsed_ns") and not keys.has("fio version")


def result_of(keys: Keys) -> Result:
    """The result of a document. Its name and path are left to the caller."""
    audit = Audit(keys)
    jobs: list[Job] = []
    last = ""
    for row in keys.objects("jobs"):
        direction = row.text("direction")
        if direction not in _ORDER:
            raise Malformed(f"{row.where}.direction is {direction!r}, and one of {', '.join(_ORDER)} is expected")
        # Rows of one job follow each other, in the order of directions.
        is_same = bool(jobs) and jobs[-1].name == row.text("job") and _ORDER.index(last) < _ORDER.index(direction)
        if not is_same:
            jobs.append(_job(row))
        last = direction
        job = jobs[-1]
        figures = {**job.figures, direction: _figures(row, direction)}
        n_errors, error = row.count("n_errors", 0), row.integer("error", 0)
        jobs[-1] = replace(job, figures=figures, n_tolerated_errors=n_errors, error=error)
    provenance = keys.raw("provenance")
    described = given_options(provenance)
    starts_ms = [job.start_ms for job in jobs if job.start_ms]
    version = provenance.get("ferrio_version")
    return Result(
        name="",
        form="run",
        program=f"ferrio {version}" if isinstance(version, str) else keys.text("version", ""),
        jobs=tuple(replace(job, options=described.get(job.name, job.options)) for job in jobs),
        start_ms=min(starts_ms, default=None),
        timestamp_ms=keys.maybe("timestamp_ms", as_count),
        global_options=pairs_of(keys.list("global_options"), "global_options"),
        findings=audit.findings,
        unexamined=audit.unexamined,
        n_rules=audit.n_rules,
        accounts=audit.accounts,
        messages=messages_of(keys),
        provenance=dict(provenance),
    )


def pairs_of(items: list[object], where: str) -> Mapping[str, str]:
    """Options, from a list of pairs of name and value."""
    found: dict[str, str] = {}
    for item in items:
        pair = as_list(item, where)
        if len(pair) != 2:
            raise Malformed(f"{where} has an element of {len(pair)} values, and pairs are expected")
        found[as_text(pair[0], where)] = as_text(pair[1], where)
    return found


def given_options(provenance: Mapping[str, object]) -> dict[str, Mapping[str, str]]:
    """The options that were given for each job, by its name, as far as the description of the run has them."""
    found: dict[str, Mapping[str, str]] = {}
    jobs = provenance.get("jobs")
    for job in jobs if isinstance(jobs, list) else []:
        described = Keys(job, "provenance.jobs")
        given = described.raw("options").get("given_options")
        if isinstance(given, list):
            found.setdefault(described.text("name", ""), pairs_of(given, "given_options"))
    return found


def _job(row: Keys) -> Job:
    return Job(
        name=row.text("job"),
        # The document tells no groups.
        group=0,
        figures={},
        n_clones=row.maybe("n_clones", as_count),
        start_ms=row.count("job_start_ms", 0) or None,
    )


def _figures(row: Keys, direction: str) -> Figures:
    n_ios = row.count("n_ios")
    own = _latency(row, n_ios)
    response = row.keys("response")
    precision = row.keys("precision")
    return Figures(
        direction=direction,
        n_ios=n_ios,
        bytes=row.count("bytes"),
        runtime_ns=row.count("runtime_ns"),
        iops=row.figure("ios_per_sec"),
        bytes_per_sec=row.figure("bytes_per_sec"),
        clat=None if direction == "sync" else own,
        lat=own if direction == "sync" else None,
        response=None if response is None else _latency(response, n_ios),
        precision=None if precision is None else precision_of(precision),
    )


def _latency(keys: Keys, n_ios: int) -> Latency | None:
    max_ns = keys.count("max_ns", 0)
    if max_ns == 0:
        return None
    told: list[tuple[float, int | None]] = [(percent, keys.maybe(name, as_count)) for percent, name in _PERCENTILES]
    return Latency(
        n=keys.count("n_latencies", n_ios),
        mean_ns=keys.figure("mean_ns"),
        max_ns=max_ns,
        percentiles={percent: value for percent, value in told if value is not None},
    )
