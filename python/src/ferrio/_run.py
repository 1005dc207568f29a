"""Runs of the program: started, followed, stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, Callable, Union

from . import _jsonl, _program
from ._errors import FerrioError, ProgramError, ProgramNotFound
from ._keys import Malformed
from ._model import Interval, Result, StrPath
from ._read import MAX_DOCUMENT_BYTES, document_of

OptionValue = Union[str, int, float, bool, "os.PathLike[str]", None]
"""The value of an option of a job. ``True`` is 1, ``False`` is 0, ``None`` leaves the option out; colons in paths are escaped."""

JobOptions = Mapping[str, OptionValue]
"""The options of a job, with fio's names: ``{"name": "readers", "rw": "randread", "size": "1g"}``."""

JobsToRun = Union[StrPath, JobOptions, Sequence[Union[str, JobOptions]]]
"""A job file, the options of a job, or a list of options of jobs and arguments of the command line."""

_OPTION = re.compile(r"[A-Za-z0-9_]+")
_SWITCHES = frozenset(
    [
        "append_terse",
        "client",
        "cmdhelp",
        "csv",
        "daemonize",
        "debug",
        "enghelp",
        "eta",
        "help",
        "html",
        "json",
        "keep",
        "live",
        "minimal",
        "output",
        "output_format",
        "parse_only",
        "profile",
        "readonly",
        "record",
        "section",
        "server",
        "showcmd",
        "status_interval",
        "terse_version",
        "version",
        "web",
    ]
)
"""Switches of the program, which are no options of jobs."""
_OWN = ("output", "output-format", "record", "minimal", "append-terse", "status-interval", "eta")
"""Switches that a run sets itself."""
_USUAL_INTERVAL_S = 1.0
_SHORTEST_INTERVAL_S = 0.001
_STOP_LIMIT_S = 30.0
_MAX_RECORD_BYTES = 1 << 30
_MAX_MESSAGE_BYTES = 256 << 10
_INTERRUPTED = 128


def run(
    jobs: JobsToRun,
    *,
    global_options: JobOptions | None = None,
    on_interval: Callable[[Interval], bool | None] | None = None,
    interval_s: float | None = None,
    keep_intervals: bool = True,
    check: bool = True,
    cwd: StrPath | None = None,
    program: StrPath | None = None,
) -> Result:
    """Runs jobs and returns their figures, with the findings of ferrio's audit.

    ``jobs`` is a job file of fio (a path), or the options of one job, or a list with the options of several jobs (they start together).
    Such a list may also have arguments of the command line (``"--name=a"``), which are passed on as they are. ``global_options`` hold for
    all jobs.

    ``on_interval`` is called for every interval of every worker, while the run goes on; ``interval_s`` is the length of an interval in
    seconds (1 with ``on_interval``). The run is stopped, and its figures until then are returned, if the callback returns ``False``.
    An exception of the callback, and Ctrl-C, stop the run and go on. The intervals stand in :attr:`Result.intervals` too, unless
    ``keep_intervals`` is ``False``: an interval takes some kilobytes. Without both arguments the result has no intervals, and its
    precision rests on intervals of 0.1 s.

    Jobs write to the files and devices that their options name. Paths are relative to ``cwd``.

    Raises :class:`ProgramError` if an option is refused, a job fails or the program is killed. The figures of the other jobs, or those
    until the program was killed, are its :attr:`~ProgramError.result`; with ``check=False`` they are returned instead, if there are any.
    Raises :class:`ProgramNotFound` without a program, see :func:`ferrio.find_program`.
    """
    interval_s = _interval(on_interval is not None, interval_s)
    arguments = _arguments(jobs, global_options)
    with tempfile.TemporaryDirectory(prefix="ferrio-run-") as folder:
        record = os.path.join(folder, "record")
        # Beside lines, --status-interval would also write a whole report for each interval: the report comes from the record then.
        form = ["json+"] if interval_s is None else ["jsonl", f"--status-interval={round(interval_s * 1e6)}us"]
        switches = ["--eta=never", f"--record={record}", f"--output-format={form[0]}", *form[1:]]
        command = (_program.find_program(program), *switches, *arguments)
        with open(os.path.join(folder, "messages"), "w+b") as messages:
            running = _Run(command, cwd, messages, _jsonl.Records(keep_intervals, is_live=True), on_interval)
            if interval_s is None:
                report = running.read_report()
            else:
                running.follow_lines()
                report = _report_of(record, command[0])
            outcome = _Outcome(running, report, _tail(messages), _record_of(record))
    return outcome.result(check)


def _interval(has_callback: bool, interval_s: float | None) -> float | None:
    if interval_s is None:
        return _USUAL_INTERVAL_S if has_callback else None
    if not _SHORTEST_INTERVAL_S <= interval_s <= 1e6:
        raise ValueError(f"interval_s is {interval_s}, and at least {_SHORTEST_INTERVAL_S} seconds are possible")
    return interval_s


def _arguments(jobs: JobsToRun, global_options: JobOptions | None) -> list[str]:
    arguments: list[str] = []
    if global_options is not None:
        arguments += _options(global_options, "global")
    if isinstance(jobs, (str, os.PathLike)):
        return [*arguments, _program.as_argument(jobs)]
    items: Sequence[str | JobOptions] = [jobs] if isinstance(jobs, Mapping) else jobs
    if not items:
        raise ValueError("there is no job to run")
    for item in items:
        if isinstance(item, Mapping):
            arguments += _options(item, None)
        elif isinstance(item, str):
            arguments.append(_checked_argument(item))
        else:
            raise TypeError(f"a job is a mapping of options, or an argument as str, not {type(item).__name__}")
    return arguments


def _checked_argument(argument: str) -> str:
    switch = argument.lstrip("-").partition("=")[0]
    if argument.startswith("--") and switch in _OWN:
        raise ValueError(f"{argument.partition('=')[0]} is set by ferrio.run itself")
    return argument


def _options(options: JobOptions, section: str | None) -> list[str]:
    """Options as arguments, the name first: it begins a job."""
    name = options.get("name", "job") if section is None else section
    if section is not None and "name" in options:
        raise ValueError("the global options have no name")
    if not isinstance(name, str) or not name or (name == "global" and section is None):
        raise ValueError(f"the name of a job is {name!r}, and a text other than 'global' is expected")
    arguments = [f"--name={name}"]
    for option, value in options.items():
        if not isinstance(option, str) or not _OPTION.fullmatch(option):
            raise ValueError(f"{option!r} is no name of an option")
        if option in _SWITCHES:
            raise ValueError(f"{option} is a switch of the program, and no option of a job")
        if option != "name" and value is not None:
            arguments.append(f"--{option}={_value(option, value)}")
    return arguments


def _value(option: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        # Names of files are separated by colons.
        return os.fspath(value).replace(":", "\\:")
    raise TypeError(f"the value of {option} is of the type {type(value).__name__}, and str, int, float, bool or a path is expected")


class _Run:
    """A run that goes on."""

    def __init__(
        self,
        command: tuple[str, ...],
        cwd: StrPath | None,
        messages: IO[bytes],
        records: _jsonl.Records,
        on_interval: Callable[[Interval], bool | None] | None,
    ) -> None:
        self.command, self.records, self._on_interval = command, records, on_interval
        self.is_stopped = False
        self.exit_code = 0
        try:
            # In a session of its own: Ctrl-C reaches this program alone, which then stops the run once.
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise ProgramNotFound(f"{command[0]} cannot be started: {error}") from error

    def read_report(self) -> bytes:
        """Reads the report that the program writes at its end."""
        with self._ended() as output:
            report = output.read(MAX_DOCUMENT_BYTES + 1)
            # The program would wait for a reader of the rest.
            while output.read(1 << 20):
                pass
            return report

    def follow_lines(self) -> None:
        """Reads the lines that the program writes until its end."""
        timer: threading.Timer | None = None
        try:
            with self._ended() as output:
                for line in iter(lambda: output.readline(_jsonl.MAX_LINE_BYTES), b""):
                    interval = self._interval_of(line)
                    if interval is None or self._on_interval is None or self.is_stopped:
                        continue
                    if self._on_interval(interval) is False:
                        timer = self._stop()
        finally:
            if timer is not None:
                timer.cancel()

    @contextmanager
    def _ended(self) -> Iterator[IO[bytes]]:
        """The output of the program, which has ended afterwards in any case."""
        output = self._process.stdout
        assert output is not None
        try:
            yield output
            # A program that closes its output may still be at work.
            self.exit_code = self._process.wait()
        except BaseException:
            self._end()
            raise
        finally:
            output.close()

    def _interval_of(self, line: bytes) -> Interval | None:
        """Takes a line; the interval of a worker, if the line is one."""
        try:
            return self.records.add(line)
        except (Malformed, json.JSONDecodeError) as error:
            # A program that is killed may leave half a line.
            if line.endswith(b"\n"):
                raise FerrioError(f"the output of {self.command[0]} cannot be read: {error}") from error
            return None

    def _stop(self) -> threading.Timer:
        """Asks the program to end, and kills it if it does not."""
        self.is_stopped = True
        self._process.send_signal(signal.SIGINT)
        timer = threading.Timer(_STOP_LIMIT_S, self._kill)
        timer.daemon = True
        timer.start()
        return timer

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> None:
        """Ends the program after an error here."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.communicate(timeout=_STOP_LIMIT_S)
            except BaseException:
                self._kill()
                self._process.wait()


class _Outcome:
    """What a run has given."""

    def __init__(self, running: _Run, report: bytes, messages: tuple[str, ...], record: bytes | None) -> None:
        self._run, self._report, self._messages, self._record = running, report, messages, record

    def result(self, check: bool) -> Result:
        """The result. Raises ``ProgramError`` if there is none, or the run failed and ``check`` is true."""
        code = self._run.exit_code
        result = self._result()
        # A job that went on after errors has an error, and the run has not failed.
        is_fine = code == 0 or (code == _INTERRUPTED and self._run.is_stopped)
        if result is None or (check and not is_fine):
            told = tuple(message.text for message in self._run.records.messages if message.is_error)
            error = _program.error_of(self._run.command, code, self._messages or told)
            raise ProgramError(error.command, error.exit_code, error.signal, error.messages, result)
        return result

    def _result(self) -> Result | None:
        try:
            result = document_of(self._report)
        except (Malformed, json.JSONDecodeError):
            # The program was killed before its report: there are the intervals.
            if not self._run.records.has_begun:
                return None
            result = self._run.records.result()
        records, code = self._run.records, self._run.exit_code
        return replace(
            result,
            name=result.jobs[0].name if result.jobs else "",
            form="record",
            intervals=records.intervals,
            clones_intervals=records.clones_intervals,
            messages=records.messages or result.messages,
            remarks=(*result.remarks, *(remark for remark in records.remarks if remark not in result.remarks)),
            exit_code=None if code < 0 else code,
            is_stopped=code >= _INTERRUPTED,
            _record=self._record,
        )


def _report_of(record: str, program: str) -> bytes:
    """The report in a record; empty: the run has left none."""
    if not os.path.exists(record):
        return b""
    return _program.call(program, ["report", "--output-format=json+", record]).output


def _record_of(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_RECORD_BYTES + 1)
    except OSError:
        return None
    return content if 0 < len(content) <= _MAX_RECORD_BYTES else None


def _tail(messages: IO[bytes]) -> tuple[str, ...]:
    """The last messages."""
    length = messages.seek(0, os.SEEK_END)
    messages.seek(max(0, length - _MAX_MESSAGE_BYTES))
    return _program.messages_of(messages.read())
