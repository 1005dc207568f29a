"""Findings about results that no audit came with."""

from __future__ import annotations

import json
import os

from . import _program
from ._audit import Audit
from ._compare import ResultOrPath
from ._errors import FerrioError
from ._keys import Keys, Malformed, decode
from ._model import Finding, Result, StrPath
from ._read import read

_EXAMINED = (0, 1)


def findings(result: ResultOrPath, *, program: StrPath | None = None) -> tuple[Finding, ...]:
    """What speaks against the figures of a result, the worst first.

    ``result`` is a result, or a file as :func:`ferrio.read` takes it. Documents and records of ferrio have an audit already. Of other
    reports, such as those of fio, the program looks at the evidence that they contain (options, figures, counters of disks), see
    :func:`ferrio.find_program`.

    Raises :class:`ReadError` for a file that is no result, :class:`ProgramError` if the program refuses it, ``ValueError`` for a result
    that has neither an audit nor a file.
    """
    if not isinstance(result, Result):
        result = read(result, program=program)
    if result.findings is not None:
        return result.findings
    if result.path is None:
        raise ValueError("the result has neither an audit nor a file that could be examined")
    outcome = _program.call(program, ["check", "--json", f"--result={os.fspath(result.path)}"])
    if outcome.exit_code not in _EXAMINED or not outcome.output:
        raise outcome.error()
    try:
        found = Audit(Keys(decode(outcome.output.decode("utf-8", "replace"))[0], "")).findings
    except (Malformed, json.JSONDecodeError) as error:
        raise FerrioError(f"the output of {outcome.command[0]} check cannot be read: {error}") from error
    return found or ()
