from pathlib import Path

import pytest

from tests.evaluation.commands.asking import write_questions
from tests.evaluation.commands.crowd import Crowd, make_crowd
from tests.evaluation.core.backends.chat.fake import FakeChat


@pytest.fixture
def crowd(tmp_path: Path) -> Crowd:
    (tmp_path / "in").mkdir()
    return make_crowd(tmp_path / "in")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def chat():
    server = FakeChat()
    yield server
    server.close()


@pytest.fixture
def questions(tmp_path):
    return write_questions(tmp_path / "questions.jsonl", 4)
