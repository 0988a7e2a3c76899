"""The sentences of refused waves, each once."""

import pytest

from annotations.answering.waves import SENTENCES, WaveError

REFUSED = [
    (
        "no_questions",
        {},
        "there is nothing to ask again: it has no questions yet",
    ),
    (
        "unknown_people",
        {"known": "same, others, anybody"},
        "people is one of same, others, anybody",
    ),
    (
        "name_missing",
        {},
        "the new wave needs a name",
    ),
    (
        "name_too_long",
        {"most": 200},
        "a question set's name has 1 to 200 characters",
    ),
    (
        "name_taken",
        {},
        "the owner has a question set of this name",
    ),
    (
        "same_set",
        {},
        "a set is no later wave of itself",
    ),
    (
        "other_owner",
        {},
        "the two are of different owners, whose people and models are not the same",
    ),
    (
        "linked_already",
        {"earlier": "march"},
        "it is a later wave of “march” already",
    ),
    (
        "linked_elsewhere",
        {},
        "it is a later wave of another set already: take that link away first",
    ),
    (
        "circle",
        {"earlier": "april", "later": "march"},
        "“april” is itself a later wave of “march”",
    ),
    (
        "no_common_question",
        {},
        "the two have no question in common: questions are matched by their ids",
    ),
    (
        "not_linked",
        {},
        "it is no later wave of another set",
    ),
    (
        "not_published",
        {"asked": "the same people again"},
        "it was made to ask the same people again, which is settled when it is published: publish "
        "it first, or delete it",
    ),
    (
        "replies_not_seen",
        {},
        "you do not see what came back in the wave before",
    ),
]


@pytest.mark.parametrize(("code", "values", "sentence"), REFUSED)
def test_refused_waves(code, values, sentence):
    assert str(WaveError(code, **values)) == sentence


def test_each_refused_wave_has_a_sentence_here():
    assert [code for code, *_ in REFUSED] == list(SENTENCES)
