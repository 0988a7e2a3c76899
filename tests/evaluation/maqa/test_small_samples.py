"""Measures of semantic entropy at 3, 5 and 10 replies, in the table of ``evaluate maqa``."""

from math import log

import pytest
from sklearn.metrics import roc_auc_score

from evaluation.maqa.methods.uncertainty import compute_coverage_entropy
from evaluation.maqa.run.small_samples import SampleRow
from tests.evaluation.maqa.small_files import evaluate, rows, summary

# Numbers, so that no model is needed: each different one is a meaning of its own.
SAID = (
    ("1", "1", "1", "1", "1"),
    ("2", "2", "2", "9", "2"),
    ("3", "8", "7", "3", "3"),
    ("4", "6", "5", "9", "9"),
)


def replies(system="s"):
    return [
        {"system": system, "item": item, "sample": sample, "answers": [answer]}
        for item, given in enumerate(SAID)
        for sample, answer in enumerate(given)
    ]


def questions():
    return [{"question": "?", "answer": [number]} for number in ("1", "2", "3", "4")]


def test_each_size_takes_the_first_replies_and_ten_replies_are_not_there(tmp_path):
    ran = evaluate(tmp_path, replies(), "--bootstrap", 50, questions=questions())
    assert ran.code == 0, ran.err
    found = {
        (int(row["samples"]), row["measure"]): row for row in rows(tmp_path, "semantic_samples.csv")
    }
    assert {size for size, _ in found} == {3, 5}
    assert {row["n"] for row in found.values()} == {"4"}
    # Of the first three replies two questions have one meaning, two have three.
    assert float(found[3, "semantic_entropy"]["mean"]) == pytest.approx((0 + 0 + 2 * log(3)) / 4)
    labels = ([0] * 3, [0] * 3, [0, 1, 2], [0, 1, 2])
    expected = sum(map(compute_coverage_entropy, labels)) / 4
    assert float(found[3, "semantic_entropy_coverage"]["mean"]) == pytest.approx(expected)
    # Different numbers are orthogonal, so the kernel's entropy is the plug-in one.
    for size in (3, 5):
        plain, kernel = found[size, "semantic_entropy"], found[size, "kernel_entropy"]
        assert float(kernel["mean"]) == pytest.approx(float(plain["mean"]))
        assert float(kernel["difference"]) == pytest.approx(0)
        assert plain["difference"] == ""
    # Right above .5: the shares of right ones are 1, 1, 1/3, 1/3 of three and 1, 4/5, 3/5, 1/5.
    assert float(found[3, "semantic_entropy"]["auroc"]) == 1
    entropies = [0, 0.5, 0.95, 1.33]
    assert float(found[5, "semantic_entropy"]["auroc"]) == roc_auc_score(
        [1, 1, 1, 0], [-one for one in entropies]
    )


def test_items_have_the_corrected_entropies_and_the_summary_says_what_was_calibrated(tmp_path):
    assert evaluate(tmp_path, replies(), "--bootstrap", 0, questions=questions()).code == 0
    third = rows(tmp_path, "items.csv")[2]
    # 3, 8, 7, 3, 3: coverage 3/5, so 3/(3/5) = 5 meanings.
    assert float(third["meanings_estimated"]) == pytest.approx(5)
    assert float(third["semantic_entropy_coverage"]) == pytest.approx(
        compute_coverage_entropy([0, 1, 2, 0, 0])
    )
    assert float(third["kernel_entropy"]) == pytest.approx(float(third["semantic_entropy"]))
    assert summary(tmp_path)["meaning_threshold"] is None


def test_texts_are_said_not_to_be_calibrated(tmp_path):
    said = [
        {"item": 0, "sample": sample, "answers": [text]}
        for sample, text in enumerate(("the north sea", "the northern seas", "Baltic"))
    ]
    assert evaluate(tmp_path, said, "--bootstrap", 0, questions=questions()).code == 0
    assert summary(tmp_path)["meaning_threshold"] == {
        "same_cosine": 0.8,
        "reason": "not_asked",
        "errors": None,
    }


@pytest.mark.parametrize(
    ("low", "is_better"), [(0.01, True), (0.0, False), (-0.1, False), (None, False)]
)
def test_a_measure_is_better_only_where_the_whole_interval_is_above_0(low, is_better):
    row = SampleRow("s", 5, "kernel_entropy", 1.0, 0.8, 0.7, 0.9, 0.1, low, 0.2, 40, None)
    assert row.is_better is is_better


@pytest.mark.parametrize(("n_right", "has_interval"), [(9, False), (10, True)])
def test_a_difference_has_an_interval_from_10_right_and_10_wrong_questions(
    tmp_path, n_right, has_interval
):
    asked = [{"question": "?", "answer": ["1"]}] * (n_right + 12)
    # Two of three replies are right, or none; so the right questions have fewer meanings.
    made = [
        {"item": item, "sample": sample, "answers": [answer]}
        for item in range(len(asked))
        for sample, answer in enumerate("112" if item < n_right else "345")
    ]
    assert evaluate(tmp_path, made, "--bootstrap", 20, questions=asked).code == 0
    found = {row["measure"]: row for row in rows(tmp_path, "semantic_samples.csv")}
    row = found["semantic_entropy_coverage"]
    assert (row["auroc"], float(row["difference"])) == ("1.0", 0)
    assert (row["difference_low"] != "") is has_interval
