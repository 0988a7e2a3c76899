"""A set of problems, its owner, and two models."""

import pytest

from annotations.exchange.importing import import_word_problems
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet
from tests.evaluation.core.backends.chat.fake import FakeChat
from tests.evaluation.umwp.world import lines, registered, replied


@pytest.fixture
def server():
    made = FakeChat(replied)
    yield made
    made.close()


@pytest.fixture
def rita(db, django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]  # where the tests' models are
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return django_user_model.objects.create_user("rita", password="rivers", is_staff=True)


@pytest.fixture
def question_set(rita):
    made = QuestionSet(owner=rita, name="problems")
    import_word_problems(made, make_bytes_source("problems.jsonl", lines()))
    return made


@pytest.fixture
def small(rita, server):
    return registered(rita, "small", server)


@pytest.fixture
def large(rita, server):
    return registered(rita, "large", server, size="7B", tuning="base")
