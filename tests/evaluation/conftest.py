"""The demo's answers in a question set, and Rana, who is signed in to the site."""

import pytest
from django.contrib.auth.models import User

from annotations import demo
from annotations.exchange import InputError, Problem
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import QuestionSet


@pytest.fixture
def told_problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """The problems of files (code, place and values) that were told since the test began."""
    told: list[Problem] = []
    text = InputError.__str__

    def record(error: InputError) -> str:
        told.extend(error.problems)
        return text(error)

    monkeypatch.setattr(InputError, "__str__", record)
    return told


@pytest.fixture
def tides(db, django_user_model, monkeypatch):
    """The demo's answers, and a bell that nobody hears."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create(username="rita")
    question_set = QuestionSet(owner=owner, name="tides")
    import_passages(question_set, demo.PASSAGES)
    import_questions(question_set, demo.QUESTIONS)
    import_answers(question_set, demo.ANSWERS)
    return question_set


@pytest.fixture
def rana(db):
    return User.objects.create(username="rana", is_staff=True)


@pytest.fixture
def site(client, rana):
    client.force_login(rana)
    return client
