"""One small world: Rana owns a set about rivers that Ada and Ben answered; Otto owns another."""

import io
from contextlib import contextmanager

import PIL.Image
import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotations.exchange.reading.images import reencode_image
from annotations.models import (
    Image,
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


def image(of: QuestionSet, colour: str = "teal") -> Image:
    """A picture of a river, 8 x 4 pixels."""
    checked = reencode_image(picture(colour=colour), "river.png")
    return Image.objects.create(
        question_set=of,
        content=checked.content,
        media_type=checked.media_type,
        width=checked.width,
        height=checked.height,
        sha256=checked.sha256,
    )


def picture(
    kind: str = "PNG", size: tuple[int, int] = (8, 4), colour: str = "teal", **how
) -> bytes:
    """The bytes of a file."""
    written = io.BytesIO()
    PIL.Image.new("RGB", size, colour).save(written, kind, **how)
    return written.getvalue()


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
