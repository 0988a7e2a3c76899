"""One small world: Rana owns a set about rivers that Ada and Ben answered; Otto owns another."""

from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotations.models import (
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Worker,
)


def user(name: str, **fields: bool) -> User:
    return User.objects.create(username=name, **fields)


def version(owner: User, name: str = "rivers", n_questions: int = 2) -> QuestionSetVersion:
    """A draft with questions r1, r2 ..."""
    question_set = QuestionSet.objects.create(owner=owner, name=name)
    draft = question_set.draft()
    Question.objects.bulk_create(
        Question(version=draft, external_id=f"r{i}", position=i, text=f"Where is river {i}?")
        for i in range(1, n_questions + 1)
    )
    return draft


def submission(of: QuestionSetVersion, worker: str = "ada", panel: str = "") -> Submission:
    owner = of.question_set.owner
    who, _ = Worker.objects.get_or_create(owner=owner, panel=panel, external_id=worker)
    return Submission.objects.create(version=of, worker=who)


def response(of: Submission, question: str = "r1", text: str = "north") -> Response:
    return Response.objects.create(
        submission=of,
        question=of.version.questions.get(external_id=question),
        text=text,
        status="text" if text else "empty",
    )


@contextmanager
def refused(constraint: str):
    """The database itself refuses what is done inside."""
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        yield
    # SQLite names the columns of a unique constraint and not the constraint itself.
    assert constraint in str(caught.value) or "UNIQUE constraint failed" in str(caught.value)
