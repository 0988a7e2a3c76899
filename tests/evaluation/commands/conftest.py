from pathlib import Path

import pytest

from tests.evaluation.commands.crowd import Crowd, make_crowd


@pytest.fixture
def crowd(tmp_path: Path) -> Crowd:
    (tmp_path / "in").mkdir()
    return make_crowd(tmp_path / "in")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"
