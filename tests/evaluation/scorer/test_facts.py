"""Facts of an export: the verdicts of the run, without what one person alone says."""

import json

import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.grading.facts.run import find_crowd_facts
from evaluation.scorer.run import build_question_facts, count_shared_words
from evaluation.scorer.runtime.facts import QuestionFacts, decode_words, encode_words

WORDINGS = {"cable": "In which year was the cable laid?", "port": "Which port did it reach?"}
YEARS = ["1858"] * 8 + ["1857", "1899"]
PORTS = [f"at last it came to {port} one day" for port in ["Bergen"] * 8 + ["Malmo", "Zwolle"]]


def people():
    rows = [
        (f"{question}-{at}", f"w{at}", question, text, False, None)
        for question, texts in (
            ("cable", [f"that was in {year}, as they say" for year in YEARS]),
            ("port", PORTS),
        )
        for at, text in enumerate(texts)
    ]
    return Answers.from_rows(rows)


def copied(facts):
    return QuestionFacts.from_json(json.loads(json.dumps(facts.to_json())))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("cable", "that was in 1858"),
        ("cable", "that was in 1857"),
        ("cable", "Long ago"),
        ("cable", "Between 1850 and 1860"),
        ("port", "at last it came to Bergen"),
        ("port", "at last it came to Malmo"),
        ("port", "at last it came to Tromso"),
        ("port", "at last it came to the north"),
    ],
)
def test_verdicts_are_those_of_a_run_with_the_answer(question, answer):
    facts, words = build_question_facts(WORDINGS, people(), None, ())
    words = decode_words(json.loads(json.dumps(encode_words(words))))
    found = copied(facts[question]).find_contradicted(answer, words)
    model = ModelAnswers.from_rows([("m", "m", question, answer, AnswerStatus.TEXT, 0)])
    run = find_crowd_facts(WORDINGS, people(), model)
    expected = [
        (one.slot, one.value, one.crowd, one.n_crowd, one.of)
        for one in run.answers
        if one.kind == "model" and one.verdict == "contradicts"
    ]
    assert [(one.slot, one.value, one.crowd, one.n_crowd, one.of) for one in found] == expected
    if answer in ("that was in 1857", "at last it came to Malmo"):
        assert len(found) == 1


def test_values_and_words_of_one_person_are_left_out():
    facts, words = build_question_facts(WORDINGS, people(), None, ())
    stored = json.dumps([facts[name].to_json() for name in facts]) + json.dumps(encode_words(words))
    assert "1858" in stored
    assert "1899" not in stored
    assert "zwolle" not in stored.casefold()
    assert words.small["came"] == 10
    assert words.inside["bergen"] == 8


def test_an_excluded_person_does_not_vote():
    facts, _ = build_question_facts(WORDINGS, people(), None, {f"w{at}" for at in range(8)})
    (slot,) = facts["cable"].slots
    assert slot.crowd.n == 2


def test_words_are_counted_once_a_person():
    two = Answers.from_rows([("a", "w1", "q", "Bergen Bergen", False, None)])
    assert not count_shared_words(two).first
