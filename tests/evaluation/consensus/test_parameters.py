"""The options of a grading: what the estimator takes, what a signature shows, what contradicts."""

import hashlib

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.consensus.methods import estimator
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import (
    build_aqer_signature,
    collect_versions,
    combine_hashes,
    hash_file,
)
from evaluation.core.options import API, SITE, TERMINAL

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
    assert tuple(AqerParameters.get_options()[name].choices) == known


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
    [found] = AqerParameters(**values).find_problems()
    assert found.code == (code or "unit_length_of_mean")
    with pytest.raises(ValueError, match=r"must|^unit_length is"):
        AqerParameters(**values).build_estimator().fit(*THREE)


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
    assert asked.find_problems() == []
    assert isinstance(asked.build_estimator().fit(*THREE), AQER)


def test_no_more_draws_than_100000_by_any_door():
    assert AqerParameters(bootstrap=100_000).find_problems() == []
    [found] = AqerParameters(bootstrap=100_001).find_problems()
    assert (
        TERMINAL.format_problem(AqerParameters, found) == "--bootstrap: 100001 is more than 100000"
    )


def test_a_signature_names_every_parameter_in_one_order():
    asked = AqerParameters(
        init="entailment", nli="m", include_rejected=True, bootstrap_workers=True,
        collapse_copies=True, group_vote=0.5, weight_cap=0.1, exclude_workers=("b", "a"),
        camps=True, spelling="de",
    )  # fmt: skip
    assert build_aqer_signature(asked, "M", "r", "p", "0123456789abcdef").rpartition("|")[0] == (
        "aqer|embedder:M|revision:r|precision:p|similarity:cosine|init:entailment(m)"
        "|aggregation:mean|stopping:relative(1e-06)|iterations:100|leave_one_out:no|difficulty:no"
        "|discrimination:no|rejected:graded|draws:400|draws_of:questions+workers|seed:0"
        # SHA-256 of "a\nb" begins with 7e18f737311b.
        "|remedies:exclude_workers(2-7e18f737311b)+collapse_copies(0.5)+weight_cap(0.1)+camps"
        "+spelling(de)|inputs:0123456789ab"
    )
    assert "|remedies:none|" in build_aqer_signature(AqerParameters(), "M", "r", "p", "0")


def test_only_a_run_by_question_contrast_names_it_in_its_signature():
    switched = AqerParameters(question_contrast=True)
    signed = build_aqer_signature(switched, "M", "r", "p", "0")
    assert "|discrimination:no|question_contrast:yes|rejected:left_out|" in signed
    assert "contrast" not in build_aqer_signature(AqerParameters(), "M", "r", "p", "0")


def test_a_plain_run_has_no_remedies_and_everything_else():
    asked = AqerParameters(seed=3, camps=True, collapse_copies=True, group_vote=0.5)
    assert asked.remedies == ("collapse_copies", "camps")
    assert asked.reset_remedies() == AqerParameters(seed=3)


def test_every_sentence_can_be_said_by_every_door():
    for words in (TERMINAL, SITE, API):
        for name in AqerParameters.get_options():
            assert "{" not in words.format_help(AqerParameters, name)
        for code in AqerParameters.sentences:
            text = AqerParameters.sentences[code]
            assert "{" not in words.fill_option_names(AqerParameters, text, reason="why")
            assert words is TERMINAL or "--" not in words.fill_option_names(
                AqerParameters, text, reason=""
            )


@pytest.mark.parametrize(
    ("values", "code", "option"),
    [
        (
            {"embedder": "precomputed:v.npz", "precision": "bfloat16"},
            "precision_of_file",
            "precision",
        ),
        ({"init": "entailment"}, "nli_needed", "init"),
        ({"aggregation": "majority"}, "majority_needs_bow", "aggregation"),
        (
            {"aggregation": "majority", "embedder": "tfidf-word"},
            "majority_needs_bow",
            "aggregation",
        ),
        ({"camps": True, "anchors": True}, "camps_or_anchors", "camps"),
        ({"camps": True, "suggest_anchors": 4}, "camps_or_anchors", "camps"),
        (
            {"unit_length": True, "aggregation": "majority", "embedder": "bow"},
            "unit_length_of_mean",
            "unit_length",
        ),
        (
            {"spelling": "en", "embedder": "precomputed:v.npz"},
            "spelling_of_vectors",
            "spelling",
        ),
        (
            {"question_contrast": True, "similarity": "euclidean"},
            "contrast_needs_cosine",
            "question_contrast",
        ),
        (
            {"question_contrast": True, "camps": True},
            "contrast_needs_mean_vote",
            "question_contrast",
        ),
        (
            {"question_contrast": True, "aggregation": "majority", "embedder": "bow"},
            "contrast_needs_mean_vote",
            "question_contrast",
        ),
        (
            {"question_contrast": True, "difficulty": True},
            "contrast_of_plain_means",
            "question_contrast",
        ),
    ],
)
def test_what_contradicts_each_other_is_told_where_it_shows(values, code, option):
    [found] = AqerParameters(**values).find_problems()
    assert (found.code, found.option) == (code, option)


@pytest.mark.parametrize(
    "values",
    [
        {"embedder": "precomputed:v.npz"},
        {"embedder": "precomputed:v.npz", "precision": "auto"},
        {"precision": "bfloat16"},
        {"init": "entailment", "nli": "model"},
        {"aggregation": "majority", "embedder": "bow"},
        {"aggregation": "majority", "embedder": "precomputed:v.npz"},
        {"anchors": True, "suggest_anchors": 4},
        {"camps": True, "unit_length": True, "spelling": "en"},
    ],
)
def test_what_goes_together_is_no_contradiction(values):
    assert AqerParameters(**values).find_problems() == []


def test_an_embedder_that_is_none_is_told_with_the_reason():
    [found] = AqerParameters(embedder="nonsense").find_problems()
    assert (found.code, found.option) == ("unreadable", "embedder")
    assert "nonsense" in found.values["reason"]
    # Majority needs bags of words; that an unknown embedder makes none is not told besides.
    found = AqerParameters(embedder="nonsense", aggregation="majority").find_problems()
    assert [wrong.code for wrong in found] == ["unreadable"]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("openai:model@http://127.0.0.1:1/v1", "openai"),
        ("precomputed:v.npz", "precomputed"),
        ("minilm", ""),
        ("nonsense", ""),
    ],
)
def test_only_operators_name_a_server_or_a_file(spec, kind):
    assert AqerParameters.get_options()["embedder"].reserved(spec) == kind


def test_the_estimator_has_every_parameter_of_its_own_and_the_draws():
    asked = AqerParameters(
        similarity="euclidean", init="random", aggregation="mean", stopping="paper",
        tolerance=0.5, max_iterations=7, leave_one_out=True, difficulty=True, discrimination=True,
        bootstrap=11, bootstrap_workers=True, seed=9, weight_cap=0.4, unit_length=True,
    )  # fmt: skip
    made = asked.build_estimator()
    for name, value in asked.list_estimator_options().items():
        assert getattr(made, name) == value, name
    assert (made.n_draws, made.similarity, made.seed, made.weight_cap) == (11, "euclidean", 9, 0.4)
    assert (made.unit_length, made.leave_one_out, made.tolerance) == (True, True, 0.5)


def test_a_signature_shows_how_it_was_asked_for_and_what_was_used():
    asked = AqerParameters(stopping="paper", tolerance=0.25, seed=4, precision="auto")
    text = build_aqer_signature(asked, "M", "r1", "bfloat16", "ab" * 32)
    parts = dict(part.split(":", 1) for part in text.split("|")[1:])
    assert text.startswith("aqer|embedder:M|revision:r1|precision:bfloat16|")
    assert (parts["stopping"], parts["seed"], parts["inputs"]) == ("paper(0.25)", "4", "ab" * 6)
    assert parts["version"]


def test_hashes_are_joined_in_their_order_and_versions_name_what_counted(tmp_path):
    assert combine_hashes(["a", "b"]) == hashlib.sha256(b"a\nb").hexdigest()
    assert combine_hashes([]) == hashlib.sha256(b"").hexdigest()
    path = tmp_path / "a.csv"
    path.write_bytes(b"worker\n")
    assert hash_file(path) == hashlib.sha256(b"worker\n").hexdigest()
    found = collect_versions({"model": "7"})
    assert list(found) == ["crowdgrade", "python", "numpy", "scipy", "model"]
    assert (found["numpy"], found["model"]) == (np.__version__, "7")
    assert list(collect_versions()) == ["crowdgrade", "python", "numpy", "scipy"]
