"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ferrio

DATA = Path(__file__).parent / "data"


@pytest.fixture
def data() -> Path:
    """The folder with results of fio and ferrio, see its README."""
    return DATA


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch) -> None:
    # Runs are kept in no database of the user.
    monkeypatch.setenv("FERRIO_STATE", "off")


@pytest.fixture
def program() -> str:
    """The program, without which a test is skipped."""
    if not os.environ.get("FERRIO"):
        pytest.skip("FERRIO names no program")
    return ferrio.find_program()
