"""The cosine of a right answer: both errors on labelled pairs, and its tuning."""

import csv
import json

import numpy as np
import pytest

from evaluation.evidence.data_sets import load_beetle
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.judging import RECORDED, LabelledPair, measure_cosine_errors
from tests.evaluation.commands.running import manage
from tests.evaluation.multiqa.test_evaluate import write

FREE = [{"item": "f", "kind": "free", "answers": '["the wind lifts the kite"]'}]
REPLIES = "item,variant,reply\nf,0,the wind lifts it\nf,1,a line holds the kite\n"
HEADER = ("question", "accepted", "reply", "right")


def pairs_file(folder, rows):
    return write(
        folder / "pairs.csv", [dict(zip(HEADER, row, strict=True)) for row in rows], HEADER
    )


def labelled(n=12):
    rows = []
    for number in range(n):
        accepted = f"river {number} flows to the sea"
        rows.append((f"q{number}", accepted, f"river {number} flows to the great sea", "yes"))
        rows.append((f"q{number}", accepted, f"mountain {number} is high", "no"))
    return rows


def evaluate(folder, *more):
    items = write(folder / "items.csv", FREE)
    replies = folder / "replies.csv"
    replies.write_text(REPLIES)
    ran = manage(
        *("evaluate", "multiqa", items, "--replies", replies, "--output", folder / "out"),
        *("--embedder", "tfidf-word", "--bootstrap", "0", *more),
    )
    path = folder / "out" / "summary.json"
    return ran, json.loads(path.read_text()) if path.exists() else None


def test_labelled_pairs_measure_the_cosine_in_use_and_tune_it_where_wanted(tmp_path):
    pairs = pairs_file(tmp_path, labelled())
    ran, summary = evaluate(tmp_path, "--labelled-pairs", pairs, "--cosine", "0.99")
    assert ran.code == 0, ran.err
    errors = summary["cosine_errors"]
    # No reply is equal to its answer: all right ones are missed and no wrong one is taken.
    assert (errors["missed"], errors["taken"], errors["threshold"]) == (1, 0, 0.99)
    assert (errors["n_right"], errors["n_wrong"], errors["auc"]) == (12, 12, 1)
    assert summary["parameters"]["cosine"] == 0.99
    assert set(summary["input_hashes"]) == {"items", "replies", "labelled_pairs"}
    with (tmp_path / "out" / "metrics.csv").open(newline="") as file:
        rows = {row["metric"]: row for row in csv.DictReader(file) if not row["system"]}
    assert [rows[name]["value"] for name in rows] == ["1.0", "0.0", "1.0"]
    assert list(rows) == ["right_missed", "wrong_taken_for_right", "threshold_auc"]
    assert [rows[name]["n"] for name in rows] == ["12", "12", "24"]
    ran, summary = evaluate(tmp_path, "--labelled-pairs", pairs, "--tune-cosine")
    errors = summary["cosine_errors"]
    # Six of the twelve questions tune, and the two kinds are apart: no error on the others.
    assert (errors["missed"], errors["taken"], errors["n_right"]) == (0, 0, 6)
    assert summary["parameters"]["cosine"] == errors["threshold"] != 0.6
    assert f"cosine:{errors['threshold']}" in summary["signature"]
    assert len(summary["warnings"]) == 1


def test_without_pairs_an_encoder_that_was_not_tuned_is_refused(tmp_path):
    ran, summary = evaluate(tmp_path, "--tune-cosine")
    assert (ran.code, summary) == (2, None)
    ran, summary = evaluate(tmp_path)
    assert (ran.code, summary["cosine_errors"]) == (0, None)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([("q", "a", "b", "perhaps")], "line 2, column right, flag_neither"),
        ([("q", "a", "", "yes")], "line 2, column reply, pair_text_missing"),
        (
            [("q", "a", "b", "yes"), ("q", "c", "b", "no")],
            "line 3, column right, pair_labels_differ",
        ),
        ([("q", "the wind", "a line", "yes")], "pairs_of_one_class"),
    ],
)
def test_pairs_that_will_not_do_are_refused(tmp_path, rows, fault):
    ran, _ = evaluate(tmp_path, "--labelled-pairs", pairs_file(tmp_path, rows))
    assert (ran.code, ran.refusals) == (2, (f"pairs.csv, {fault}",))


def build_beetle_pairs(folder):
    """Return pairs of right and contradictory first attempts with the most central right one."""
    from evaluation.core.backends import get_embedder

    found = load_beetle(folder)
    by_question = {}
    for question, text, label in zip(found.questions, found.texts, found.labels, strict=True):
        by_question.setdefault(question, {}).setdefault(label, {})[text] = None
    embedder, pairs = get_embedder("minilm"), []
    for question, labels in sorted(by_question.items()):
        right = list(labels.get("correct", ()))
        if len(right) < 3:
            continue
        vectors = np.asarray(embedder.embed(right))
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        accepted = right[int((vectors @ vectors.T).sum(axis=1).argmax())]
        pairs += [
            LabelledPair(question, (accepted,), text, label == "correct")
            for label in ("correct", "contradictory")
            for text in labels.get(label, ())
            if text != accepted
        ]
    return pairs


@pytest.mark.data
@pytest.mark.model
@pytest.mark.long
def test_the_recorded_errors_of_minilm_are_those_on_beetle(data_folder):
    pairs = build_beetle_pairs(data_folder)
    default, tuned = RECORDED["minilm"]
    assert default.threshold == MultiqaParameters().cosine
    for parameters, recorded in (
        (MultiqaParameters(), default),
        (MultiqaParameters(tune_cosine=True), tuned),
    ):
        found = measure_cosine_errors(pairs, parameters, recorded.source)
        assert found.threshold == pytest.approx(recorded.threshold, abs=1e-4)
        for name in ("missed", "taken", "auc"):
            assert getattr(found, name) == pytest.approx(getattr(recorded, name), abs=0.002), name
        assert (found.n_right, found.n_wrong) == (recorded.n_right, recorded.n_wrong)
