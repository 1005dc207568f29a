"""Storage measured from Python: runs of ferrio, and results of ferrio and fio as typed values and frames.

* :func:`run` runs jobs with the options of fio, and follows them while they go on;
* :func:`read` reads results of fio and ferrio;
* :func:`compare` tells whether results differ, or that they can't tell;
* :func:`findings` says what speaks against figures.

Units stand at the end of names: ``_ns`` nanoseconds, ``_ms`` milliseconds, ``_bytes``; ``n_`` counts.
"""

from __future__ import annotations

import importlib.metadata as _metadata

from ._compare import (
    Change,
    ComparedFact,
    ComparedFigure,
    ComparedFinding,
    ComparedJob,
    Comparison,
    Condition,
    ResultOrPath,
    Side,
    compare,
)
from ._errors import FerrioError, ProgramError, ProgramNotFound, ReadError
from ._findings import findings
from ._model import (
    Accounts,
    BytesAccount,
    Cpu,
    Disk,
    Ending,
    Estimate,
    Evidence,
    Figures,
    Finding,
    Histogram,
    Interval,
    Job,
    JobAccount,
    Latency,
    LevelBytes,
    Log,
    Message,
    OptionOutcome,
    Precision,
    Result,
    SampledRate,
    StrPath,
    Unexamined,
)
from ._program import find_program
from ._read import read
from ._run import JobOptions, JobsToRun, OptionValue, run

try:
    __version__ = _metadata.version("ferrio")
except _metadata.PackageNotFoundError:
    # The package is used from its folder, without being installed.
    __version__ = "0"

__all__ = [
    "Accounts",
    "BytesAccount",
    "Change",
    "ComparedFact",
    "ComparedFigure",
    "ComparedFinding",
    "ComparedJob",
    "Comparison",
    "Condition",
    "Cpu",
    "Disk",
    "Ending",
    "Estimate",
    "Evidence",
    "FerrioError",
    "Figures",
    "Finding",
    "Histogram",
    "Interval",
    "Job",
    "JobAccount",
    "JobOptions",
    "JobsToRun",
    "Latency",
    "LevelBytes",
    "Log",
    "Message",
    "OptionOutcome",
    "OptionValue",
    "Precision",
    "ProgramError",
    "ProgramNotFound",
    "ReadError",
    "Result",
    "ResultOrPath",
    "SampledRate",
    "Side",
    "StrPath",
    "Unexamined",
    "__version__",
    "compare",
    "find_program",
    "findings",
    "read",
    "run",
]
