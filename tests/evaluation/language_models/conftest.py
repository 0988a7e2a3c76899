"""Rana's set of six questions, two of one wording, and a server that answers them."""

import pytest

from annotations.models import Question
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import fake_chat
from tests.evaluation.language_models import model


@pytest.fixture
def rana(db, monkeypatch, settings):
    """Nobody hears the bell, and models on this machine may be asked with any database."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8", "::1/128"]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def version(rana):
    made = crowd.version(rana, "rivers", n_questions=5)
    Question.objects.create(version=made, external_id="r6", position=6, text="Where is river 1?")
    return made


@pytest.fixture
def chat():
    with fake_chat() as server:
        yield server


@pytest.fixture
def small(rana, chat):
    return model(rana, "small", chat.spec, price_in=1.0, price_out=2.0)
