"""Held-out responders as models: who votes, what is compared, and the files of the command."""

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.evidence.baselines import METHODS, Corpus
from evaluation.evidence.data_sets import AnswerAssignment, assign_answers
from evaluation.evidence.studies.model_scoring import (
    RESPONDERS,
    VOTERS,
    HeldOutPanel,
    draw_panels,
    reproduce_model_scoring,
    score_held_out_workers,
)
from evaluation.evidence.studies.worker_grading import COUNTS, reproduce_questions
from evaluation.evidence.tables import EvidenceRequest
from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.evidence.test_tables import corpus as graded_answers

FEW = ("aqer", "leave_one_out", "f1", "reference_answer")


@pytest.mark.parametrize("voters", VOTERS)
def test_everybody_is_held_out_once_and_never_votes_for_oneself(voters):
    some = draw_panels(RESPONDERS, voters, np.random.default_rng(0))
    held = np.concatenate([panel.held_out for panel in some])
    assert sorted(held.tolist()) == list(range(RESPONDERS))
    for panel in some:
        assert len(set(panel.voters.tolist())) == voters
        assert not set(panel.voters.tolist()) & set(panel.held_out.tolist())
    # 26 - 5 can be held out at once, then 16, 11 and 1.
    assert len(some) == {5: 2, 10: 2, 15: 3, 25: 26}[voters]


def test_more_responders_can_be_dealt_where_there_are_so_many_answers():
    answers = graded_answers(n_questions=3, n_answers=27)
    dealt = assign_answers(answers, 2, seed=1, crowd=26)
    assert np.bincount(dealt.workers).tolist() == [3] * 26
    truth = dealt.compute_true_grades(answers.grades)
    tiers = truth.reshape(13, 2).mean(axis=1)
    assert (np.diff(tiers) <= 0).all()


def test_questions_with_too_few_answers_are_left_out():
    answers = graded_answers(n_questions=3, n_answers=27)
    keep = np.arange(81) != 80  # the last question keeps 26 answers
    answers = type(answers)(
        [text for text, kept in zip(answers.texts, keep, strict=True) if kept],
        answers.questions[keep],
        answers.grades[keep],
    )
    dealt = assign_answers(answers, 1, seed=1, crowd=27)
    assert set(answers.questions[dealt.rows].tolist()) == {"q0", "q1"}


def test_who_is_held_out_scores_as_a_model_does():
    rng = np.random.default_rng(5)
    n, questions = RESPONDERS, 4
    vectors = rng.standard_normal((n * questions, 6))
    corpus = Corpus(["t"] * (n * questions), np.repeat(range(questions), n), lambda _: vectors)
    dealt = AnswerAssignment(np.arange(n * questions), np.tile(np.arange(n), questions))
    panel = HeldOutPanel(np.array([3, 0]), np.array([7, 5, 9, 20]))
    rest = np.setdiff1d(np.arange(n), panel.held_out)
    found = score_held_out_workers(
        METHODS["aqer"], corpus, dealt, [panel, HeldOutPanel(rest, np.array([0, 3, 1]))], 0
    )

    votes = np.isin(dealt.workers, panel.voters)
    out = np.isin(dealt.workers, panel.held_out)
    aqer = AQER(n_draws=0).fit(vectors[votes], dealt.workers[votes], corpus.question[votes])
    models = aqer.score_models(vectors[out], dealt.workers[out], corpus.question[out])
    expected = dict(zip(models.models.tolist(), models.scores, strict=True))
    assert found[0] == pytest.approx(expected[0])
    assert found[3] == pytest.approx(expected[3])


@pytest.fixture
def request_(tmp_path, monkeypatch):
    """A corpus of 12 questions with 26 answers each, the worse the fewer right words."""
    folder = tmp_path / "mohler2011"
    folder.mkdir()
    right = "the stack gives back last what came in first"
    lines, asked = ["question_id,answer,grade_average"], ["question_id,question,reference_answer"]
    for question in range(12):
        asked.append(f"q{question},what does a stack do {question},{right}")
        for n in range(26):
            words = right.split()[: 9 - n // 4] + [f"wrong{n}{k}" for k in range(n // 4)]
            lines.append(f"q{question},{' '.join(words)} q{question},{5 - n / 6}")
    (folder / "answers.csv").write_text("\n".join(lines) + "\n")
    (folder / "questions.csv").write_text("\n".join(asked) + "\n")
    for study in ("model_scoring", "worker_grading"):
        monkeypatch.setattr(
            f"evaluation.evidence.studies.{study}.list_methods",
            lambda *, core: [METHODS[name] for name in FEW],
        )
    return EvidenceRequest(tmp_path, tmp_path / "out", "bow", repetitions=2)


@pytest.mark.long
def test_model_scoring_writes_scores_intervals_and_best_responses(request_):
    reproduce_model_scoring(request_)
    out = request_.output
    rows = table(out / "table.csv")
    assert [(row["setting"], row["method"]) for row in rows] == [
        (f"M={voters}", method) for voters in VOTERS for method in FEW
    ]
    assert all(float(row["pearson_mean"]) > 0.8 for row in rows)
    placed = table(out / "intervals.csv")
    assert len(placed) == len(VOTERS) * RESPONDERS
    assert all(float(row["low"]) <= float(row["score"]) <= float(row["high"]) for row in placed)
    assert header_of(out / "best_response.csv")[:3] == ["setting", "method", "grade_mean"]
    best = {
        (row["setting"], row["method"]): float(row["grade_mean"])
        for row in table(out / "best_response.csv")
    }
    assert best["12x2", "best_possible"] == 5.0
    # 24 answers at 5, 5 - 1/6 ...: 5 - 23/12.
    assert best["12x2", "random"] == pytest.approx(5 - 23 / 12)
    assert best["12x2", "aqer"] > best["12x2", "random"]
    found = summary_of(out)
    assert found["questions_used"] == 12
    assert found["study"] == "model-scoring"
    assert {path.stem for path in out.glob("*.svg")} == {
        *("model_scoring", "intervals", "best_response_10x2", "best_response_12x2")
    }


def test_questions_leaves_out_counts_beyond_the_data(request_):
    reproduce_questions(request_)
    rows = table(request_.output / "table.csv")
    counts = [count for count in COUNTS if count <= 12]
    assert counts == [3, 5, 10]
    assert [row["setting"] for row in rows] == [
        f"questions={count}" for count in counts for _ in FEW
    ]
    assert all(float(row["pearson_mean"]) > 0.8 for row in rows if row["setting"][-2:] == "10")
    assert (request_.output / "questions.svg").exists()
