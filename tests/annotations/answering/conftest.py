"""Rana's set: two passages with three and two questions, open to workers."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User

from annotations.answering import collecting, links
from annotations.models import Passage, Question, QuestionSet
from tests.annotations.answering.walker import Walker

TIDES = "The tide follows the moon, and the harbour follows the tide."
TELEGRAPH = "The cable was laid in 1858 and broke after three weeks."


def made_set(owner, name="tides"):
    question_set = QuestionSet.objects.create(owner=owner, name=name, language="en")
    draft = question_set.draft()
    for place, (key, text, n) in enumerate([("tides", TIDES, 3), ("cable", TELEGRAPH, 2)]):
        passage = Passage.objects.create(
            version=draft, external_id=key, title=f"About {key}", text=text, position=place
        )
        for number in range(1, n + 1):
            Question.objects.create(
                version=draft,
                external_id=f"{key}{number}",
                position=10 * place + number,
                text=f"What does the {key} do in case {number}?",
                passage=passage,
            )
    return question_set


def published(question_set, base_url="", **settings):
    settings = {"places": 3, "protocol": "recall"} | settings
    made = collecting.publish_question_set(question_set, base_url=base_url, **settings).collection
    return SimpleNamespace(
        collection=made, link=links.build_collection_link(made), version=made.version
    )


@pytest.fixture(autouse=True)
def browsers_are_closed():
    yield
    Walker.close_all()


@pytest.fixture
def rana(db):
    return User.objects.create_user("rana", is_staff=True)


@pytest.fixture
def tides(rana):
    return made_set(rana)


@pytest.fixture
def book(tides):
    """Open book: questions come at once."""
    return published(tides, protocol="open")
