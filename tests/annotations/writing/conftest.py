"""Rana has two questions with an answer and one without; Wanda and Will write, three check."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations import writing
from annotations.models import Question, QuestionSet, WritingMember

APPLES = "Tom has 3 apples and buys 4 more. How many has he?"
ROPES = "A rope of 10 m is cut into 4 parts. How long is each?"
MADE = "Tom has 3 apples and buys some more. How many has he?"


def published_set(owner, name="problems"):
    question_set = QuestionSet.objects.create(owner=owner, name=name)
    draft = question_set.draft()
    for place, (item, text, answers, answerable) in enumerate(
        [
            ("1", APPLES, ["7.0"], True),
            ("2", ROPES, [["2.5", "2,500"]], True),
            ("3", "Tom has apples. How many pears?", [], False),
        ]
    ):
        Question.objects.create(
            version=draft, external_id=item, position=place, text=text, accepted_answers=answers,
            answerable=answerable, metadata={"source": "made"},
        )  # fmt: skip
    draft.publish()
    return draft


@pytest.fixture
def world(db):
    return made_world()


def made_world():
    people = {"rana": User.objects.create_user("rana", is_staff=True)}
    for name in ("wanda", "will", "vic", "val", "vin", "vito"):
        # Who has signed in before takes part at once.
        people[name] = User.objects.create_user(name, last_login=timezone.now())
    version = published_set(people["rana"])
    project = writing.start_project(version)
    for name in ("wanda", "will"):
        writing.invite_user(project, people[name], WritingMember.Role.WRITER)
    for name in ("vic", "val", "vin", "vito"):
        writing.invite_user(project, people[name], WritingMember.Role.VALIDATOR)
    return SimpleNamespace(**people, people=people, version=version, project=project)


@pytest.fixture
def handed_in(world):
    """A problem of Wanda's that is being checked."""
    problem = writing.take_question(world.project, world.wanda.pk)
    writing.submit_problem(problem, MADE, 2)
    problem.refresh_from_db()
    return problem
