"""Words around counts of 0, 1 and 2: one thing is no "things"."""

import re
from collections.abc import Mapping
from typing import ClassVar

import pytest

from evaluation.core.messages.catalogue import COMMON
from evaluation.core.messages.message import (
    SENTENCE,
    Message,
    fill_template,
    format_count,
    format_p_value,
)
from evaluation.core.options import SITE

NOUNS = ("worker", "answer", "question", "model", "notice", "pair", "round", "person", "alarm")
N = {"n": 1, "m": 2000, "p": 3}
WRONG = re.compile(
    rf"(?<![\d.,])1 ({'|'.join(f'{noun}s' for noun in NOUNS)}|people|replies|iterations)\b"
)


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("outcome.excluded", ("workers",)),
        ("alarms.ring.said", ("count",)),
        ("alarms.notices.said", ("count",)),
        ("alarms.dismissed.said", ("count",)),
        ("alarms.answered.said", ("count", "dismissed")),
        ("convergence.settled.said", ("count",)),
        ("workers.few.said", ("workers",)),
        ("too_few.workers", ("workers",)),
        ("outcome.settled", ("graded",)),
        ("look.without_rank", ("without_rank",)),
        ("verdict.bad.text", ("count", "all")),
        ("verdict.care.text", ("count", "all")),
        ("verdict.unknown.text", ("count", "all")),
        ("convergence.moving.said", ("count",)),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_one_is_said_as_one(code, values, n):
    said = SITE.format_message(Message(code, dict.fromkeys(values, n)))
    assert str(n) in said or n == 1
    assert not WRONG.search(said), said
    if n == 1:
        assert not re.search(r"\b1 of 1 checks (say|ask)\b", said), said


def test_counted():
    assert [format_count(n, "model") for n in (0, 1, 2)] == ["0 models", "1 model", "2 models"]


class Ones(Mapping):
    """One of everything; what is a text or a code by its name."""

    known: ClassVar = {"reason": "no_camps", "why": "it was not", "cost": ""}
    known |= {"fewest": 5, "usual": 6, "system": "Small", "leader": "Small", "title": "Robust"}
    known |= {"raise": "max_tokens"}

    def __init__(self, **known):
        self.own = self.known | known

    def __getitem__(self, name):
        return self.own.get(name, 1)

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __contains__(self, name):
        return name not in (SENTENCE, "option", "people")


@pytest.mark.parametrize("code", COMMON)
def test_every_sentence_says_one_thing_in_the_singular(code):
    claim = {"crowd": "The tide."} if code.startswith("meaning.") else {}
    said = SITE.format_message(Message(code, Ones(**claim)))
    assert not WRONG.search(said), said


def test_nouns_in_templates_are_counted():
    said = fill_template("{n:reply} to {m:question} of {p:person}, {x:.2f}", {**N, "x": 0.5})
    assert said == "1 reply to 2,000 questions of 3 people, 0.50"


def test_a_probability_in_a_sentence_is_never_nought():
    assert [format_p_value(p) for p in (0.0, 0.0009, 0.001, 0.0314)] == [
        *("p < 0.001", "p < 0.001", "p = 0.001", "p = 0.031")
    ]
