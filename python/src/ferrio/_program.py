"""The program ``ferrio``: where it is, and how it is called."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ._errors import ProgramError, ProgramNotFound
from ._model import StrPath

_NAME = "ferrio"
_VARIABLE = "FERRIO"
_MOST_MESSAGES = 200


def find_program(program: StrPath | None = None) -> str:
    """The path of the program ``ferrio``.

    It is, in this order: ``program``; the value of the environment variable ``FERRIO``; the program that was installed with this
    package; ``ferrio`` on ``PATH``. Raises :class:`ProgramNotFound` if that one is no program, or there is none.
    """
    told = [("the argument program", program), (f"the environment variable {_VARIABLE}", os.environ.get(_VARIABLE))]
    for origin, value in told:
        if value is not None and os.fspath(value) != "":
            found = shutil.which(os.fspath(value))
            if found is None:
                raise ProgramNotFound(f"{origin} is {os.fspath(value)!r}, which is no program")
            return os.path.abspath(found)
    for path in _beside_package():
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    found = shutil.which(_NAME)
    if found is None:
        raise ProgramNotFound(
            f"the program {_NAME} is neither beside this package nor on PATH: install the wheel of {_NAME}, or set {_VARIABLE} to its path"
        )
    return os.path.abspath(found)


def _beside_package() -> Iterator[str]:
    """Where the wheel may have put the program."""
    try:
        files = importlib.metadata.files(_NAME) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _NAME and file.parent.name in ("bin", "Scripts"):
            yield os.path.abspath(str(file.locate()))
    yield os.path.join(sysconfig.get_path("scripts"), _NAME)


class Outcome(NamedTuple):
    """What a call of the program gave."""

    command: tuple[str, ...]
    exit_code: int
    output: bytes
    messages: tuple[str, ...]

    def error(self) -> ProgramError:
        """The error of this outcome."""
        return error_of(self.command, self.exit_code, self.messages)


def call(program: StrPath | None, arguments: Sequence[str]) -> Outcome:
    """Calls the program and waits for its end. Raises :class:`ProgramNotFound` if it cannot be started."""
    command = (find_program(program), *arguments)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except (OSError, ValueError) as error:
        raise ProgramNotFound(f"{command[0]} cannot be started: {error}") from error
    return Outcome(command, done.returncode, done.stdout, messages_of(done.stderr))


def error_of(command: tuple[str, ...], code: int, messages: tuple[str, ...]) -> ProgramError:
    """The error of a program that ended with this code, as ``subprocess`` tells it."""
    return ProgramError(command, None if code < 0 else code, -code if code < 0 else None, messages)


def messages_of(text: bytes) -> tuple[str, ...]:
    """The lines that a program said, without those that only repeat the line above."""
    lines: list[str] = []
    for line in text.decode("utf-8", "replace").splitlines():
        line = line.rstrip()
        if line and (not lines or lines[-1] != line):
            lines.append(line)
    return tuple(lines[-_MOST_MESSAGES:])


def as_argument(path: StrPath) -> str:
    """A file as an argument, which is never taken for a switch."""
    name = os.fspath(path)
    return os.path.join(os.curdir, name) if name.startswith("-") else name
