"""Findings, what was not examined, and precision: the same keys in all documents of ferrio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from ._keys import Keys, as_count, as_figure, as_text
from ._model import (
    Accounts,
    BytesAccount,
    Ending,
    Estimate,
    Evidence,
    Finding,
    JobAccount,
    LevelBytes,
    OptionOutcome,
    Precision,
    Unexamined,
)

_MOST = 100_000


def findings_of(items: list[Keys]) -> tuple[Finding, ...]:
    """Findings from their objects."""
    return tuple(map(finding_of, items))


def finding_of(keys: Keys) -> Finding:
    """A finding from its object."""
    direction = keys.text("direction", "none")
    evidence = tuple(Evidence(item.text("what"), item.signed("value"), item.text("unit", "")) for item in keys.objects("evidence"))
    return Finding(
        id=keys.text("id"),
        title=keys.text("title"),
        severity=keys.text("severity"),
        jobs=keys.texts("jobs"),
        direction=None if direction == "none" else direction,
        evidence=evidence,
        explanation=keys.text("explanation", ""),
        cure=keys.text("cure", ""),
        page=keys.text("page", ""),
    )


class Audit:
    """The audit of a document: its keys ``findings``, ``unexamined``, ``n_rules`` and ``accounts``."""

    def __init__(self, keys: Keys) -> None:
        has_audit = keys.has("findings")
        self.findings: tuple[Finding, ...] | None = findings_of(keys.objects("findings", _MOST)) if has_audit else None
        self.unexamined = tuple(
            Unexamined(
                subject=item.text("subject"),
                reason=item.text("reason"),
                jobs=item.texts("jobs"),
                rules=item.texts("rules"),
                is_of_machine=item.flag("is_of_machine", False),
            )
            for item in keys.objects("unexamined", _MOST)
        )
        self.n_rules = keys.count("n_rules", 0)
        accounts = keys.keys("accounts")
        self.accounts = None if accounts is None else _accounts(accounts)


def _accounts(keys: Keys) -> Accounts:
    return Accounts(ending=_ending(keys.keys("ending")), jobs=tuple(map(_job_account, keys.objects("jobs", _MOST))))


def _ending(keys: Keys | None) -> Ending:
    if keys is None or keys.text("ending") == "as_asked":
        return Ending(is_as_asked=True)
    by = keys.keys("by")
    if by is None:
        return Ending(is_as_asked=False, jobs=keys.texts("jobs"))
    return Ending(is_as_asked=False, by=by.text("by"), signal=by.maybe("signal", as_count), jobs=keys.texts("jobs"))


def _job_account(keys: Keys) -> JobAccount:
    time = keys.keys("time")
    parts = {} if time is None else {name: time.count(name) for name, _ in time.items() if name.endswith("_ns") and name != "whole_ns"}
    options = tuple(
        OptionOutcome(item.text("option"), item.text("asked", ""), item.text("outcome"), item.maybe("because", as_text))
        for item in keys.objects("options", _MOST)
    )
    return JobAccount(
        job=keys.text("job"),
        options=options,
        time_ns={name[: -len("_ns")]: value for name, value in parts.items()},
        bytes=tuple(map(_bytes_account, keys.objects("bytes"))),
        meanings=keys.texts("meanings"),
    )


def _bytes_account(keys: Keys) -> BytesAccount:
    return BytesAccount(
        direction=keys.text("direction"),
        n_ios=keys.count("n_ios"),
        bytes=keys.count("bytes"),
        kernel_bytes=keys.maybe("kernel_bytes", as_count),
        levels=tuple(
            LevelBytes(
                devices=level.texts("devices"),
                bytes=level.count("bytes"),
                n_requests=level.maybe("n_requests", as_count),
                is_shared=level.flag("is_shared", False),
            )
            for level in keys.objects("levels")
        ),
        unseen=keys.maybe("unseen", as_text),
    )


def _estimate(keys: Keys | None) -> Estimate:
    if keys is None:
        return Estimate(None, None, None, "not_measured")
    interval = keys.keys("interval")
    if interval is None:
        return Estimate(None, None, None, keys.text("unknown", "not_measured"))
    return Estimate(interval.signed("value"), interval.signed("low"), interval.signed("high"), None)


def precision_of(keys: Keys) -> Precision:
    """The precision of a job in a direction."""
    return Precision(
        confidence_percent=keys.figure("confidence_percent"),
        interval_ns=keys.count("interval_ns"),
        n_intervals=keys.count("n_intervals"),
        iops=_estimate(keys.keys("ios_per_sec")),
        bytes_per_sec=_estimate(keys.keys("bytes_per_sec")),
        mean_ns=_estimate(keys.keys("mean_ns")),
        p50_ns=_estimate(keys.keys("p50_ns")),
        p99_ns=_estimate(keys.keys("p99_ns")),
        p999_ns=_estimate(keys.keys("p999_ns")),
    )


PrecisionOfJobs = dict[tuple[str, str], Optional[Precision]]
"""Precision by name of the job and direction; ``None``: several jobs have this name."""


def precision_of_jobs(items: list[Keys]) -> PrecisionOfJobs:
    """The precision of all jobs, which the document tells by their names."""
    found: PrecisionOfJobs = {}
    for keys in items:
        place = (keys.text("job"), keys.text("direction"))
        found[place] = None if place in found else precision_of(keys)
    return found


def shares_of(keys: Keys | None) -> Mapping[str, float]:
    """Shares in percent by class."""
    return {} if keys is None else {name: as_figure(value, f"{keys.where}.{name}") for name, value in keys.items()}
