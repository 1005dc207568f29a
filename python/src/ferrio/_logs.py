"""Performance logs of fio and ferrio: ``NAME_bw.1.log`` and its family."""

from __future__ import annotations

import re
from array import array
from typing import BinaryIO, NamedTuple

from ._keys import MAX_COUNT, Malformed, shown
from ._model import Log

_MAX_LINE_BYTES = 64 << 10
_MOST_ROWS = 50_000_000
_MAX_DIGITS = 19
_MAX_DIRECTION = 2
_DIRECTIONS = ("read", "write", "trim")
_SNIFFED_ROWS = 1000
_NAME = re.compile(
    r"(?P<prefix>.*)_(?P<kind>clat_hist|slat|clat|iops|lat|bw)(?:\.(?P<number>[0-9]{1,9}))?\.log(?P<packed>\.fz)?", re.DOTALL
)


class LogName(NamedTuple):
    """What the name of a log tells."""

    prefix: str
    kind: str
    job_number: int | None
    is_packed: bool


def parse_name(name: str) -> LogName | None:
    """What the name of a file tells; ``None``: it is not that of a log."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    number = found["number"]
    return LogName(found["prefix"], found["kind"], None if number is None else int(number), found["packed"] is not None)


class _Form(NamedTuple):
    """Which columns the rows have: ``time, value[, maximum], direction, size[, offset][, priority][, issue time]``."""

    n_columns: int
    has_maximum: bool

    @property
    def n_behind(self) -> int:
        """Number of columns behind the size."""
        return self.n_columns - (5 if self.has_maximum else 4)

    def pattern(self) -> re.Pattern[bytes]:
        """A row of this form, with the columns that are kept as groups."""
        number = rb"\s*([0-9]{1,18})\s*"
        behind = {0: [], 1: [b"[^,]*"], 2: [number, b"[^,]*"]}.get(self.n_behind, [number, b"[^,]*", number])
        maximum = [number] if self.has_maximum else []
        return re.compile(b",".join([number, number, *maximum, rb"\s*([0-2])\s*", number, *behind]))


def _number(text: bytes, column: int) -> int:
    text = text.strip()
    if not text.isdigit() or len(text) > _MAX_DIGITS or int(text) > MAX_COUNT:
        raise Malformed(f"column {column} is {shown(text.decode('utf-8', 'replace')[:40])}, and a whole number from 0 is expected")
    return int(text)


def _form_of(rows: list[bytes]) -> _Form:
    """The form of the first rows. Six or seven columns can be with or without a maximum: the direction tells, which is 0, 1 or 2, and a
    maximum is at least the value."""
    n_columns = len(rows[0].split(b","))
    if not 4 <= n_columns <= 8:
        raise Malformed(f"it has {n_columns} columns, which no performance log has")
    may_be_without = may_be_with = True
    for row in rows:
        columns = row.split(b",")
        if len(columns) != n_columns:
            break
        try:
            _, value, third, fourth = (_number(text, index + 1) for index, text in enumerate(columns[:4]))
            fifth = _number(columns[4], 5) if n_columns > 4 else 0
        except Malformed:
            # The row is read once more, with its number.
            break
        may_be_without &= third <= _MAX_DIRECTION and (fourth > _MAX_DIRECTION or fifth <= _MAX_DIRECTION)
        may_be_with &= fourth <= _MAX_DIRECTION and (third >= value or (third == 0 and fifth > 0))
    has_maximum = n_columns == 8 or (n_columns in (6, 7) and may_be_with and not may_be_without)
    return _Form(n_columns, has_maximum)


class _Columns:
    """The columns of a log so far."""

    def __init__(self, form: _Form) -> None:
        self.form = form
        self.time_ms, self.value, self.size = array("q"), array("q"), array("q")
        self.maximum = array("q") if form.has_maximum else None
        # Behind the size: a priority; an offset and a priority; these and an issue time. fio 3.0 has none of them.
        self.offset = array("q") if form.n_behind >= 2 else None
        self.issue_ns = array("q") if form.n_behind >= 3 else None
        self.direction: list[str] = []
        self._pattern = form.pattern()
        kept = (self.time_ms, self.value, self.maximum, self.size, self.offset, self.issue_ns)
        self._kept = [column for column in kept if column is not None]
        self._direction_at = 3 if form.has_maximum else 2

    def add(self, row: bytes) -> None:
        """Adds a row. Raises ``Malformed`` if it is none."""
        found = self._pattern.fullmatch(row)
        if found is None:
            self._add_slowly(row)
            return
        numbers = [int(text) for text in found.groups()]
        self.direction.append(_DIRECTIONS[numbers.pop(self._direction_at)])
        for column, number in zip(self._kept, numbers):
            column.append(number)

    def _add_slowly(self, row: bytes) -> None:
        """Adds a row with numbers of 19 digits, or finds out what is wrong with it."""
        columns = row.split(b",")
        if len(columns) != self.form.n_columns:
            raise Malformed(f"it has {len(columns)} columns, and the rows above have {self.form.n_columns}")
        at = 2
        if self.maximum is not None:
            self.maximum.append(_number(columns[2], 3))
            at = 3
        direction = _number(columns[at], at + 1)
        if direction > _MAX_DIRECTION:
            raise Malformed(f"the direction is {direction}, which is impossible")
        self.time_ms.append(_number(columns[0], 1))
        self.value.append(_number(columns[1], 2))
        self.direction.append(_DIRECTIONS[direction])
        self.size.append(_number(columns[at + 1], at + 2))
        if self.offset is not None:
            self.offset.append(_number(columns[at + 2], at + 3))
        if self.issue_ns is not None:
            self.issue_ns.append(_number(columns[at + 4], at + 5))


class MalformedRow(Malformed):
    """A row that is none, with the number of its line from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def read_log(file: BinaryIO, path: str, name: LogName) -> Log:
    """Reads a log, row by row. Raises ``Malformed`` for one that is none."""
    if name.is_packed:
        raise Malformed("it is compressed (log_store_compressed): `fio --inflate-log=FILE` or `ferrio --inflate-log=FILE` writes its rows")
    if name.kind == "clat_hist":
        raise Malformed(
            "it is a log of histograms (write_hist_log), which this package does not read; `ferrio report` and `ferrio plot` do"
        )
    rows: list[tuple[int, bytes]] = []
    columns: _Columns | None = None
    number = 0
    try:
        while True:
            line = file.readline(_MAX_LINE_BYTES)
            if not line:
                break
            number += 1
            if len(line) == _MAX_LINE_BYTES:
                raise Malformed(f"it has more than {_MAX_LINE_BYTES} bytes: no row is that long")
            row = line.strip()
            if not row:
                continue
            if columns is not None:
                columns.add(row)
            else:
                rows.append((number, row))
                if len(rows) == _SNIFFED_ROWS:
                    columns = _begin(rows)
            if number > _MOST_ROWS:
                raise Malformed(f"it has more than {_MOST_ROWS} rows")
    except MalformedRow:
        raise
    except Malformed as error:
        raise MalformedRow(str(error), number) from None
    return _log(path, name, _begin(rows) if columns is None else columns)


def _begin(rows: list[tuple[int, bytes]]) -> _Columns:
    """The columns with the first rows in them."""
    try:
        columns = _Columns(_form_of([row for _, row in rows]) if rows else _Form(5, False))
    except Malformed as error:
        raise MalformedRow(str(error), rows[0][0]) from None
    for number, row in rows:
        try:
            columns.add(row)
        except Malformed as error:
            raise MalformedRow(str(error), number) from None
    return columns


def _log(path: str, name: LogName, columns: _Columns) -> Log:
    return Log(
        path=path,
        kind=name.kind,
        prefix=name.prefix,
        job_number=name.job_number,
        is_windowed=len(columns.size) > 0 and not any(columns.size),
        time_ms=columns.time_ms,
        value=columns.value,
        direction=tuple(columns.direction),
        block_size_bytes=columns.size,
        maximum=columns.maximum,
        offset_bytes=columns.offset,
        issue_ns=columns.issue_ns,
    )
