"""Rana's rivers with a check, answered by ten people in two languages: who gave cause, and why."""

from datetime import timedelta

from django.utils import timezone

from annotations.models import Question, Response, Submission
from tests.annotations import world

SECONDS = {"fay": 60}
"""Everybody else took 600 seconds."""
NAMES = ("ada", "ben", "cy", "di", "eve", "fay", "gus", "hal", "ida", "joe")


def rivers(owner):
    """Return a version with four questions and one check, and its submissions by name.

    Ben failed the check, cy left three of four without an answer, di wrote the same into three,
    fay took a tenth of the median, gus gave no answer at all, hal is still writing.
    """
    version = world.version(owner, n_questions=4)
    Question.objects.create(
        version=version, external_id="check", position=9, text="Tick often.", role="attention",
        kind="choice", choices=["often", "never"], accepted_answers=["often"],
    )  # fmt: skip
    people = {name: _person(version, name) for name in NAMES}
    return version, people


def _person(version, name):
    one = world.submission(version, name, panel="Prolific")
    end = timezone.now()
    took = timedelta(seconds=SECONDS.get(name, 600))
    done = name != "hal"
    Submission.objects.filter(pk=one.pk).update(
        state="submitted" if done else "open",
        started_at=end - took,
        submitted_at=end if done else None,
        language="de" if name in ("ben", "cy", "di", "eve") else "en",
        signals_off=name == "ben",
    )
    one.refresh_from_db()
    for number, question in enumerate(version.questions.order_by("position"), 1):
        text = f"{name} says {number}"
        if question.role == "attention":
            text = "never" if name == "ben" else "often"
        elif name == "gus" or (name == "cy" and number > 1):
            text = ""
        elif name == "di" and number > 1:
            text = "no idea"
        Response.objects.create(
            submission=one,
            question=question,
            text=text,
            status="text" if text else "empty",
            state="submitted" if done else "draft",
        )
    return one
