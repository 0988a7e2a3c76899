"""The demo's answers in a question set, for tests that grade in the database."""

import pytest

from annotations import demo
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import QuestionSet


@pytest.fixture
def tides(db, django_user_model, monkeypatch):
    """The demo's answers, and a bell that nobody hears."""
    monkeypatch.setattr("evaluation.background.doorbell.ring", lambda: True)
    monkeypatch.setattr("evaluation.background.work.ring", lambda: True)
    owner = django_user_model.objects.create(username="rita")
    question_set = QuestionSet(owner=owner, name="tides")
    import_passages(question_set, demo.PASSAGES)
    import_questions(question_set, demo.QUESTIONS)
    import_answers(question_set, demo.ANSWERS)
    return question_set
