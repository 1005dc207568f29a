"""The exceptions of the package. All are kinds of :class:`FerrioError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import Result


class FerrioError(Exception):
    """Any error of this package that is not a wrong argument (``TypeError``, ``ValueError``)."""


class ReadError(FerrioError):
    """A file cannot be read, or is no result."""

    path: str
    """The file; bytes that are no UTF-8 are replaced."""
    line: int | None
    """The line in which the error was noticed, from 1; ``None``: it is about the whole file."""
    reason: str
    """The reason, as a sentence without its subject and its period."""

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        self.path, self.reason, self.line = path, reason, line
        super().__init__(path, reason, line)

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"


class ProgramNotFound(FerrioError):
    """The program ``ferrio`` is neither beside the package nor on ``PATH``, or cannot be started."""


class ProgramError(FerrioError):
    """The program ended with an error."""

    command: tuple[str, ...]
    """The program and its arguments."""
    exit_code: int | None
    """Its exit code; ``None``: a signal killed it."""
    signal: int | None
    """Number of the signal that killed it; ``None``: none did."""
    messages: tuple[str, ...]
    """What it said, a line each; the last ones, if it said a great deal."""
    result: Result | None
    """The figures that there are in spite of the error, such as those of the other jobs of a run; ``None``: there are none."""

    def __init__(
        self,
        command: tuple[str, ...],
        exit_code: int | None,
        signal: int | None,
        messages: tuple[str, ...],
        result: Result | None = None,
    ) -> None:
        self.command, self.exit_code, self.signal = command, exit_code, signal
        self.messages, self.result = messages, result
        super().__init__(command, exit_code, signal, messages, result)

    def __str__(self) -> str:
        how = f"exit code {self.exit_code}" if self.signal is None else f"killed by signal {self.signal}"
        return "\n".join([f"ferrio: {how}", *self.messages])
