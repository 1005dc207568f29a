"""What users read first: the README, and the notebook."""

from __future__ import annotations

import doctest
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.usefixtures("program")


def test_the_readme_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried > 10


@pytest.mark.parametrize("notebook", sorted(path.name for path in (ROOT / "examples").glob("*.ipynb")))
def test_a_notebook_runs(notebook: str, tmp_path: Path) -> None:
    content = nbformat.read(ROOT / "examples" / notebook, as_version=4)  # type: ignore[no-untyped-call]
    # Outputs are those of a machine, and change with each run.
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in content.cells)
    NotebookClient(content, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in content.cells for output in cell.get("outputs", ())]
    assert outputs and not any(output.output_type == "error" for output in outputs)
