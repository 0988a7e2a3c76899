"""The written numbers against AQER written out cell by cell."""

from functools import partial

import numpy as np
import pytest

from tests.evaluation.commands.crowd import (
    ALONE,
    assert_every_gap_has_its_reason,
    make_crowd,
    summary_of,
    table,
)
from tests.evaluation.commands.running import evaluate
from tests.evaluation.consensus.methods.literal import (
    cosine,
    exemplar,
    literal_aqer,
    negative_distance,
)

SWITCHES = [
    (),
    ("--leave-one-out",),
    ("--difficulty",),
    ("--discrimination",),
    ("--leave-one-out", "--difficulty", "--discrimination"),
    ("--stopping=paper", "--tolerance=0.01"),
    ("--max-iterations=1",),
]


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def close(value: float | None):
    return pytest.approx(value, abs=1e-9) if value is not None else None


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: " ".join(s) or "no switch")
def test_every_number_is_that_of_the_literal_method(crowd, output, similarity, switches):
    ran = evaluate(
        crowd.answers,
        f"--models={crowd.models}",
        f"--embedder=precomputed:{crowd.vectors}",
        f"--similarity={similarity}",
        "--bootstrap=20",
        f"--output={output}",
        *switches,
    )
    assert (ran.code, ran.err) == (0, "")
    measure = cosine if similarity == "cosine" else negative_distance
    options = dict(switch.lstrip("-").split("=") for switch in switches if "=" in switch)
    expected = literal_aqer(
        crowd.of_workers,
        similarity=measure,
        leave_one_out="--leave-one-out" in switches,
        difficulty="--difficulty" in switches,
        discrimination="--discrimination" in switches,
        stopping=options.get("stopping", "relative"),
        tolerance=float(options.get("tolerance", 1e-6)),
        max_iterations=int(options.get("max-iterations", 100)),
    )

    for row in table(output / "workers.csv"):
        worker = row["worker"]
        assert number(row["raw"]) == close(expected["raw"][worker])
        assert number(row["grade"]) == close(expected["grades"][worker])
        assert number(row["weight"]) == close(expected["weights"][worker])
        assert int(row["n_answers"]) == sum(w == worker for w, _ in crowd.of_workers)
    for row in table(output / "answers.csv"):
        cell = row["worker"], row["question"]
        assert number(row["score"]) == close(expected["scores"].get(cell))
        assert number(row["score_leave_one_out"]) == close(expected["left_out"].get(cell))
    assert summary_of(output)["trace"] == pytest.approx(expected["trace"], abs=1e-9)

    made = partial(exemplar, crowd.of_workers, weights=expected["weights"])
    with np.load(output / "exemplars.npz", allow_pickle=False) as file:
        written = dict(zip(file["questions"].tolist(), file["vectors"], strict=True))
    assert written.keys() == {question for _, question in crowd.of_workers}
    for question, vector in written.items():
        np.testing.assert_allclose(vector, made(question), atol=1e-9)
    check_exemplars(output, crowd, measure, made, expected["weights"])
    check_models(output, crowd, measure, made, expected["final_scores"], similarity)
    check_contrast(output, crowd, similarity)
    assert_every_gap_has_its_reason(output)


def check_exemplars(output, crowd, measure, made, weights):
    for row in table(output / "exemplars.csv"):
        question = row["question"]
        mine = {w: x for (w, q), x in crowd.of_workers.items() if q == question}
        nearest = max(mine, key=lambda w: measure(mine[w], made(question)))
        assert (row["nearest_worker"], int(row["n_answers"])) == (nearest, len(mine))
        votes = np.array([weights[w] for w in mine])
        votes = votes if votes.sum() > 0 else np.ones(len(votes))
        units = np.array([x / np.linalg.norm(x) for x in mine.values()])
        spread = 1 - np.linalg.norm(votes @ units / votes.sum())
        assert float(row["dispersion"]) == pytest.approx(spread, abs=1e-9)


def check_models(output, crowd, measure, made, scores, similarity):
    """Check the models; an empty or refused answer scores as the worst worker, by cosine <= 0.

    Models and the worst worker are compared with the exemplary answers of the final weights.
    """

    def silent(question):
        lowest = min(score for (_, q), score in scores.items() if q == question)
        return min(0.0, lowest) if similarity == "cosine" else lowest

    expected = {
        cell: measure(x, made(cell[1])) for cell, x in crowd.of_models.items() if cell[1] != "q9"
    }
    expected |= {("m-1", "q3"): silent("q3"), ("m-2", "q2"): silent("q2")}
    reasons = {
        ("m-1", "q3"): "empty",
        ("m-1", "q9"): "no_exemplar",
        ("m-2", "q2"): "refused",
        ("m-3", "q1"): "error",
    }
    for row in table(output / "model_answers.csv"):
        cell = row["model"], row["question"]
        assert number(row["score"]) == close(expected.get(cell))
        assert row["reason"] == reasons.get(cell, "")
    for row in table(output / "models.csv"):
        mine = {c: s for c, s in expected.items() if c[0] == row["model"]}
        spoken = [s for c, s in mine.items() if c in crowd.of_models]
        assert float(row["score"]) == pytest.approx(np.mean(list(mine.values())), abs=1e-9)
        assert float(row["score_answered"]) == pytest.approx(np.mean(spoken), abs=1e-9)
        assert (int(row["n"]), int(row["n_answered"])) == (len(mine), len(spoken))
        # m-3 has a missing answer: no rank until it is asked again.
        assert (row["rank"] == "") == (row["model"] == "m-3")


def check_contrast(output, crowd, similarity):
    """Contrast subtracts cosines: by distance its cells are empty, and the summary says why."""
    workers, models = table(output / "workers.csv"), table(output / "models.csv")
    filled = [bool(row["contrast"]) for row in (*workers, *models)]
    assert filled == [similarity == "cosine"] * (5 + 3)
    needs_cosine = {
        (entry["file"], entry["column"], entry["count"])
        for entry in summary_of(output)["undefined"]
        if entry["reason"] == "contrast_needs_cosine"
    }
    columns = ("contrast", "contrast_low", "contrast_high")
    expected = {("answers.csv", "contrast", len(crowd.of_workers))}
    expected |= {("workers.csv", column, 5) for column in columns}
    expected |= {("models.csv", column, 3) for column in columns}
    expected.add(("model_answers.csv", "contrast", 5))
    assert needs_cosine == (set() if similarity == "cosine" else expected)


def test_ranks_follow_the_grades_of_workers_with_enough_answers(crowd, output):
    evaluate(
        crowd.answers,
        f"--embedder=precomputed:{crowd.vectors}",
        "--bootstrap=0",
        "--output",
        output,
    )
    rows = table(output / "workers.csv")
    # Eli answered q3 to q6 only, four questions: too few for a rank.
    assert {row["worker"] for row in rows if row["support"] == "too_few"} == {"Eli"}
    ranked = sorted((row for row in rows if row["rank"]), key=lambda row: int(row["rank"]))
    grades = [float(row["grade"]) for row in ranked]
    assert grades == sorted(grades, reverse=True)
    assert [row["rank"] for row in ranked] == ["1", "2", "3", "4"]


def test_intervals_hold_the_estimate_and_stay_on_the_scale(crowd, output):
    evaluate(
        crowd.answers,
        "--leave-one-out",
        f"--embedder=precomputed:{crowd.vectors}",
        f"--output={output}",
    )
    for row in table(output / "workers.csv"):
        assert float(row["raw_low"]) <= float(row["raw"]) <= float(row["raw_high"])
        assert 0 <= float(row["grade_low"]) <= float(row["grade_high"]) <= 1


def test_vectors_keep_their_own_float_precision(tmp_path, output):
    crowd = make_crowd(tmp_path, dtype="float16")
    ran = evaluate(
        crowd.answers,
        f"--embedder=precomputed:{crowd.vectors}",
        "--bootstrap=0",
        "--output",
        output,
    )
    assert ran.code == 0
    assert summary_of(output)["parameters"]["precision"] == "float16"


def test_a_lone_answer_scores_one_and_has_no_leave_one_out_score(crowd, output):
    evaluate(
        crowd.answers,
        f"--embedder=precomputed:{crowd.vectors}",
        "--bootstrap=0",
        "--output",
        output,
    )
    row = next(
        row for row in table(output / "answers.csv") if (row["worker"], row["question"]) == ALONE
    )
    assert float(row["score"]) == pytest.approx(1.0)
    assert row["score_leave_one_out"] == ""
    assert any("single answer" in warning for warning in summary_of(output)["warnings"])


def test_entailment_gives_the_first_weights_and_the_signature_names_the_model(
    crowd, output, monkeypatch
):
    class Entailment:
        def compute_entailment_probabilities(self, pairs, progress=None):
            if progress is not None:
                progress(len(pairs), len(pairs))
            return np.array([len(hypothesis) / 100 for _, hypothesis in pairs])

    monkeypatch.setattr("evaluation.consensus.inputs.EntailmentModel.load", lambda _: Entailment())
    ran = evaluate(
        crowd.answers,
        f"--embedder=precomputed:{crowd.vectors}",
        "--init=entailment",
        "--nli=some-model",
        "--bootstrap=0",
        f"--output={output}",
    )
    assert (ran.code, ran.err) == (0, "")
    found = summary_of(output)
    assert "|init:entailment(some-model)|" in found["signature"]
    # The start shows in the first step; where the iteration settles, it does not.
    evaluate(
        crowd.answers,
        f"--embedder=precomputed:{crowd.vectors}",
        "--bootstrap=0",
        "--output",
        output,
    )
    assert summary_of(output)["trace"][0] != pytest.approx(found["trace"][0])
