"""Two people's answers, and the kind of run that counts their words."""

import pytest

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet
from tests.evaluation.runs.run_types.settings import LINE

QUESTIONS = """\
question,text
q1,Where does it begin?
q2,Where does it end?
"""
# Ann: 3 + 1 words, Ben: 2 + 4 words; three of them have more than six letters.
ANSWERS = """\
worker,question,answer
ann,q1,in the mountains
ann,q2,westward
ben,q1,the hills
ben,q2,to the northern sea
"""


@pytest.fixture
def with_words(settings):
    """The line that adds the kind."""
    settings.RUN_KINDS = [*settings.RUN_KINDS, LINE]


@pytest.fixture
def rivers(db, django_user_model, monkeypatch, tmp_path, with_words):
    """A question set of Rita's, who may sign in; nobody hears the bell."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create_user("rita", password="rivers", is_staff=True)
    question_set = QuestionSet(owner=owner, name="rivers")
    for load, text in ((import_questions, QUESTIONS), (import_answers, ANSWERS)):
        file = tmp_path / f"{load.__name__}.csv"
        file.write_text(text)
        load(question_set, file)
    return question_set
