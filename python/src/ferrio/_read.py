"""Results in files: which form each has, and which logs belong to which report."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, overload

from . import _fio, _jsonl, _logs, _native, _program, _text
from ._errors import ReadError
from ._keys import Keys, Malformed, clean, decode
from ._model import Log, Result, StrPath

MAX_DOCUMENT_BYTES = 128 << 20
_SNIFFED_BYTES = 64 << 10
_RECORD = b"ferrio record "


# A str is an iterable of str too; the first of these comes first.
@overload
def read(paths: StrPath, *, program: StrPath | None = None) -> Result: ...  # type: ignore[overload-overlap]


@overload
def read(paths: Iterable[StrPath], *, program: StrPath | None = None) -> list[Result]: ...


def read(paths: StrPath | Iterable[StrPath], *, program: StrPath | None = None) -> Result | list[Result]:
    """Reads results of fio and ferrio.

    Files are reports in JSON (``json``, ``json+``, ``ferrio run --json``), records of a run (``jsonl``), performance logs, and records of
    ferrio (``--record``). The last are of the program's own form: ``program`` reads them, see :func:`ferrio.find_program`, and so it does
    with fio's text for people and its terse lines.

    One file gives one result. Several files give a list: logs (``NAME_bw.1.log``) belong to the report before them, and logs before any
    report are a result for each start of their names. A performance log alone is a result without jobs, with :attr:`Result.logs`.

    Of several reports in one file (``--status-interval``) the last one counts. Lines of fio above and below a report are left out.
    Reports have at most 128 MiB.

    Raises :class:`ReadError` if a file cannot be read or is no result, whatever its bytes are, and :class:`ProgramNotFound` for a record,
    text or terse lines if there is no program.
    """
    if isinstance(paths, (str, os.PathLike)):
        return _read_all([paths], program)[0]
    return _read_all(list(paths), program)


def _read_all(paths: Sequence[StrPath], program: StrPath | None) -> list[Result]:
    results: list[Result] = []
    logs: list[list[Log]] = []
    first_logs: list[Log] = []
    for path in paths:
        found = _read_one(path, program)
        if isinstance(found, Result):
            results.append(found)
            logs.append([])
        else:
            (logs[-1] if logs else first_logs).append(found)
    with_logs = [replace(result, logs=tuple(own)) for result, own in zip(results, logs)]
    return _of_logs(first_logs) + with_logs


def _of_logs(logs: Sequence[Log]) -> list[Result]:
    """A result for each folder and prefix."""
    groups: dict[tuple[str, str], list[Log]] = {}
    for log in logs:
        groups.setdefault((os.path.dirname(log.path), log.prefix), []).append(log)
    return [Result(name=prefix, form="logs", program="", path=group[0].path, logs=tuple(group)) for (_, prefix), group in groups.items()]


def _read_one(path: StrPath, program: StrPath | None) -> Result | Log:
    name = os.fspath(path)
    try:
        with _opened(name) as file:
            return _read_open(file, name, program)
    except OSError as error:
        raise ReadError(clean(name), f"it cannot be read: {error.strerror or error}") from error
    except _logs.MalformedRow as error:
        raise ReadError(clean(name), str(error), error.line) from None
    except Malformed as error:
        raise ReadError(clean(name), str(error)) from None
    except ValueError as error:
        # A name with a zero byte.
        raise ReadError(clean(name), f"it cannot be read: {error}") from error


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    # A pipe that nobody writes to would be waited for without an end, and a device may have none.
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Malformed("it is no regular file: results are read from files alone")
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _read_open(file: BinaryIO, name: str, program: StrPath | None) -> Result | Log:
    start = file.read(_SNIFFED_BYTES)
    file.seek(0)
    log_name = _logs.parse_name(os.path.basename(name))
    if log_name is not None and (log_name.is_packed or not _has_document(start)):
        return _logs.read_log(file, name, log_name)
    if not start:
        raise Malformed("it is empty")
    short = clean(os.path.basename(name))
    if start.startswith(_RECORD):
        result, form = _of_record(name, program), "record"
    elif start.startswith(_jsonl.START):
        result, form = _of_lines(file, name), "jsonl"
    elif _has_document(start):
        result = read_document(file, name)
        form = result.form
    elif (text := _text.form_of(start)) is not None:
        result, form = _of_text(name, program), text
    elif start[:1].isdigit() and b"," in start:
        raise Malformed(
            "its name does not say what it logs: it has to end in _bw.log, _iops.log, _lat.log, _slat.log or _clat.log, "
            "with the number of the job before .log or without"
        )
    else:
        raise Malformed("it is no result: neither a JSON report nor a performance log of fio or ferrio, nor a record of ferrio")
    return replace(result, name=short, path=name, form=form)


def _has_document(start: bytes) -> bool:
    """A line begins with a brace."""
    return any(line.lstrip().startswith(b"{") for line in start.splitlines())


def _of_record(name: str, program: StrPath | None) -> Result:
    outcome = _program.call(program, ["report", "--output-format=json+", _program.as_argument(name)])
    if outcome.exit_code != 0:
        raise Malformed(" ".join(outcome.messages) or str(outcome.error()))
    return document_of(outcome.output)


def _of_text(name: str, program: StrPath | None) -> Result:
    outcome = _program.call(program, ["report", "--csv", _program.as_argument(name)])
    if outcome.exit_code != 0:
        raise Malformed(" ".join(outcome.messages) or str(outcome.error()))
    return _text.result_of(outcome.output)


def _of_lines(file: BinaryIO, name: str) -> Result:
    records = _jsonl.Records()
    number = 0
    while True:
        line = file.readline(_jsonl.MAX_LINE_BYTES)
        number += 1
        # What follows the records, such as a document in JSON, is passed over.
        if not line or (records.has_ended and not line.startswith(_jsonl.START)):
            return records.result()
        try:
            if len(line) == _jsonl.MAX_LINE_BYTES:
                raise Malformed(f"it has more than {_jsonl.MAX_LINE_BYTES} bytes: no result has such a line")
            records.add(line)
        except (Malformed, json.JSONDecodeError) as error:
            # A run that was cut off has cut its last line.
            if number > 1 and _jsonl.is_cut(error, line):
                return records.result()
            raise ReadError(clean(name), _reason(error), number) from None


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"its JSON cannot be read: {error.msg} in column {error.colno}"
    return str(error)


def read_document(file: BinaryIO, name: str) -> Result:
    """Reads a report in JSON."""
    content = file.read(MAX_DOCUMENT_BYTES + 1)
    try:
        return document_of(content)
    except json.JSONDecodeError as error:
        raise ReadError(clean(name), _reason(error), error.lineno) from None


def document_of(content: bytes) -> Result:
    """The result of a report. Raises ``Malformed`` or ``json.JSONDecodeError``."""
    if len(content) > MAX_DOCUMENT_BYTES:
        raise Malformed(f"it has more than {MAX_DOCUMENT_BYTES} bytes: no report is that large")
    text = content.decode("utf-8", "replace")
    keys, n_reports = _last_report(text)
    if _native.is_document(keys):
        result = _native.result_of(keys)
    elif _fio.is_report(keys):
        result = _fio.result_of(keys)
    else:
        raise Malformed('it is JSON without the key "jobs": no report of fio or ferrio')
    if n_reports > 1:
        remark = f"The file has {n_reports} reports; the figures are those of the last one."
        result = replace(result, remarks=(*result.remarks, remark))
    return result


def _last_report(text: str) -> tuple[Keys, int]:
    """The last of the reports of a file, and their number. Messages of fio may stand above and below a report."""
    at = _start_of_report(text, 0)
    last: object | None = None
    n_reports = 0
    while at is not None:
        last, end = decode(text, at)
        n_reports += 1
        at = _start_of_report(text, end)
    if n_reports == 0:
        raise Malformed("it has no report")
    return Keys(last, ""), n_reports


def _start_of_report(text: str, start: int) -> int | None:
    """Where the next line begins whose first character is a brace."""
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        blank = len(line) - len(line.lstrip())
        if line[blank : blank + 1] == "{":
            return at + blank
        at = end + 1
    return None
