"""The options of a grading: what the estimator takes, what a signature shows, what contradicts."""

import numpy as np
import pytest

from evaluation.flow.parameters import AqerParameters
from evaluation.flow.signatures import aqer_signature
from evaluation.methods import AQER
from evaluation.methods.aqer import estimator
from evaluation.options import API, FORM, TERMINAL

THREE = np.eye(3), ["ann", "ben", "cem"], [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("similarity", estimator.SIMILARITIES),
        ("init", estimator.INITIALIZATIONS),
        ("aggregation", estimator.AGGREGATIONS),
        ("stopping", estimator.STOPPING_RULES),
    ],
)
def test_the_choices_are_those_of_the_estimator(name, known):
    assert tuple(AqerParameters.options()[name].choices) == known


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"tolerance": -1e-9}, "min_value"),
        ({"max_iterations": 0}, "min_value"),
        ({"weight_cap": 0.0}, "min_value"),
        ({"weight_cap": 1.001}, "max_value"),
        ({"bootstrap": 1}, "min_value"),
        ({"similarity": "dot"}, "invalid_choice"),
        ({"unit_length": True, "aggregation": "majority", "embedder": "bow"}, None),
    ],
)
def test_what_the_options_refuse_the_estimator_refuses_too(values, code):
    [found] = AqerParameters(**values).problems()
    assert found.code == (code or "unit_length_of_mean")
    with pytest.raises(ValueError, match=r"must|is for the mean vote"):
        AqerParameters(**values).estimator().fit(*THREE)


@pytest.mark.parametrize(
    "values",
    [
        {"tolerance": 0.0},
        {"tolerance": 5.0},
        {"max_iterations": 1},
        {"weight_cap": 1.0},
        {"bootstrap": 2},
        {"bootstrap": 0},
        {"seed": 2**63 - 1, "init": "random"},
    ],
)
def test_the_ends_of_the_bounds_are_taken_by_both(values):
    asked = AqerParameters(**values)
    assert asked.problems() == []
    assert isinstance(asked.estimator().fit(*THREE), AQER)


def test_no_more_draws_than_100000_by_any_door():
    assert AqerParameters(bootstrap=100_000).problems() == []
    [found] = AqerParameters(bootstrap=100_001).problems()
    assert TERMINAL.told(AqerParameters, found) == "--bootstrap: 100001 is more than 100000"


def test_a_signature_names_every_parameter_in_one_order():
    asked = AqerParameters(
        init="entailment", nli="m", include_rejected=True, bootstrap_workers=True,
        collapse_copies=True, group_vote=0.5, weight_cap=0.1, exclude_workers=("b", "a"),
        camps=True, spelling="de",
    )  # fmt: skip
    assert aqer_signature(asked, "M", "r", "p", "0123456789abcdef").rpartition("|")[0] == (
        "aqer|embedder:M|revision:r|precision:p|similarity:cosine|init:entailment(m)"
        "|aggregation:mean|stopping:relative(1e-06)|iterations:100|leave_one_out:no|difficulty:no"
        "|discrimination:no|rejected:graded|draws:400|draws_of:questions+workers|seed:0"
        # SHA-256 of "a\nb" begins with 7e18f737311b.
        "|remedies:exclude_workers(2-7e18f737311b)+collapse_copies(0.5)+weight_cap(0.1)+camps"
        "+spelling(de)|inputs:0123456789ab"
    )
    assert "|remedies:none|" in aqer_signature(AqerParameters(), "M", "r", "p", "0")


def test_a_plain_run_has_no_remedies_and_everything_else():
    asked = AqerParameters(seed=3, camps=True, collapse_copies=True, group_vote=0.5)
    assert asked.remedies == ("collapse_copies", "camps")
    assert asked.without_remedies() == AqerParameters(seed=3)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"aggregation": "majority"},
            (
                "--aggregation majority counts words and needs --embedder bow",
                "“How answers become the exemplary one: weighted majority of each word” counts",
                "aggregation majority counts words and needs embedder bow",
            ),
        ),
        (
            {"camps": True, "anchors": True},
            (
                "--camps takes several answers for right, --anchors and --suggest-anchors look",
                "“Several right answers” takes several answers for right, “Use experts' grades”",
                "camps takes several answers for right, anchors and suggest_anchors look",
            ),
        ),
        (
            {"nli": "model"},
            (
                "--nli is only used with --init entailment",
                "“Entailment model” is only used with “First weights: by entailment among the",
                "nli is only used with init entailment",
            ),
        ),
    ],
)
def test_each_door_tells_a_contradiction_in_its_words(values, told):
    [found] = AqerParameters(**values).problems()
    for words, beginning in zip((TERMINAL, FORM, API), told, strict=True):
        assert words.told(AqerParameters, found).startswith(beginning)


def test_every_sentence_can_be_said_by_every_door():
    for words in (TERMINAL, FORM, API):
        for name in AqerParameters.options():
            assert "{" not in words.help(AqerParameters, name)
        for code in AqerParameters.sentences:
            text = AqerParameters.sentences[code]
            assert "{" not in words.text(AqerParameters, text, reason="why")
            assert words is TERMINAL or "--" not in words.text(AqerParameters, text, reason="")
