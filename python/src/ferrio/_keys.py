"""JSON that nobody has checked: every value has the expected type and a possible size, or :class:`Malformed` names the value."""

from __future__ import annotations

import builtins
import json
import math
from collections.abc import Mapping
from typing import Callable, TypeVar

MAX_COUNT = 2**63 - 1
"""The largest count: both programs have no larger one, and frames keep whole numbers of 64 bits."""
_MAX_FIGURE = 1e30
_MAX_DIGITS = 400

T = TypeVar("T")


class Malformed(ValueError):
    """A value that no result has. The reader of the file makes a ``ReadError`` of it."""


def _whole_number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise Malformed(f"a number has {len(digits)} digits")
    return int(digits)


def _no_number(word: str) -> object:
    raise Malformed(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(parse_int=_whole_number, parse_constant=_no_number, strict=False)


def decode(text: str, start: int = 0) -> tuple[object, int]:
    """The JSON value that begins at ``start``, and where it ends. Raises ``json.JSONDecodeError`` or ``Malformed``."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    return value, end


def clean(text: str) -> str:
    """The text with halves of characters, which cannot be written to any file, replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def shown(value: object) -> str:
    """A value in a message: its first characters."""
    text = clean(repr(value) if not isinstance(value, (dict, list)) else f"a {'list' if isinstance(value, list) else 'object'}")
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_count(value: object, where: str) -> int:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Malformed(f"{where} is {shown(value)}, and a whole number is expected")
    if not 0 <= value <= MAX_COUNT:
        raise Malformed(f"{where} is {shown(value)}, which is impossible")
    return value


def as_integer(value: object, where: str) -> int:
    """A whole number of any sign."""
    return as_count(value, where) if not isinstance(value, int) or value >= 0 else -as_count(-value, where)


def whole(value: float) -> int:
    """A figure from 0 as a whole number, at most the largest count."""
    return int(min(value, MAX_COUNT))


def as_figure(value: object, where: str, least: float = 0.0) -> float:
    """A number that is finite and not below ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Malformed(f"{where} is {shown(value)}, and a number is expected")
    if not least <= value <= _MAX_FIGURE:
        raise Malformed(f"{where} is {shown(value)}, which is impossible")
    return float(value)


def as_text(value: object, where: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Malformed(f"{where} is {shown(value)}, and a text is expected")
    return clean(value)


def as_texts(value: object, where: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(as_text(item, where) for item in as_list(value, where))


def as_list(value: object, where: str) -> list[object]:
    """A list."""
    if not isinstance(value, list):
        raise Malformed(f"{where} is {shown(value)}, and a list is expected")
    return value


def as_flag(value: object, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Malformed(f"{where} is {shown(value)}, and true or false is expected")
    return value


class Keys:
    """An object of JSON. Unknown keys are passed over; a key that is missing or null has the default, and without one it is an error."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise Malformed(f"{where} is {shown(value)}, and an object is expected")
        self._value: dict[str, object] = value
        self.where = where

    def _place(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def has(self, name: str) -> bool:
        """The key is there, and is not null."""
        return self._value.get(name) is not None

    def _get(self, name: str, read: Callable[[object, str], T], default: T | None) -> T:
        value = self._value.get(name)
        if value is not None:
            return read(value, self._place(name))
        if default is None:
            raise Malformed(f"{self._place(name)} is missing")
        return default

    def count(self, name: str, default: int | None = None) -> int:
        """A whole number from 0."""
        return self._get(name, as_count, default)

    def figure(self, name: str, default: float | None = None) -> float:
        """A number from 0."""
        return self._get(name, as_figure, default)

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number of any sign."""
        return self._get(name, as_integer, default)

    def signed(self, name: str) -> float:
        """A number of any sign."""
        return self._get(name, lambda value, where: as_figure(value, where, -_MAX_FIGURE), None)

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        return self._get(name, as_text, default)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        return self._get(name, as_flag, default)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; none if the key is missing."""
        return self._get(name, as_texts, ())

    def maybe(self, name: str, read: Callable[[object, str], T]) -> T | None:
        """A value that may be missing."""
        value = self._value.get(name)
        return None if value is None else read(value, self._place(name))

    def keys(self, name: str) -> Keys | None:
        """An object; ``None``: it is missing."""
        return self.maybe(name, Keys)

    def list(self, name: str, most: int = 1_000_000) -> builtins.list[object]:
        """A list; an empty one if the key is missing."""
        items: list[object] = self._get(name, as_list, [])
        if len(items) > most:
            raise Malformed(f"{self._place(name)} has {len(items)} elements, and at most {most} are read")
        return items

    def objects(self, name: str, most: int = 20_000) -> builtins.list[Keys]:
        """A list of objects; an empty one if the key is missing."""
        where = self._place(name)
        return [Keys(item, f"{where}[{index}]") for index, item in enumerate(self.list(name, most))]

    def raw(self, name: str) -> Mapping[str, object]:
        """An object as it is; an empty one if the key is missing or another value."""
        value = self._value.get(name)
        return value if isinstance(value, dict) else {}

    def items(self) -> builtins.list[tuple[str, object]]:
        """Keys and values."""
        return [(clean(name), value) for name, value in self._value.items()]


def percent_key(name: str) -> float | None:
    """The percentile that a key such as ``99.000000`` names; ``None``: it names none (fio 2 has further keys there)."""
    try:
        percent = float(name)
    except ValueError:
        return None
    return percent if math.isfinite(percent) and 0 <= percent <= 100 else None
