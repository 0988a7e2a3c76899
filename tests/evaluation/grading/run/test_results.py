"""Rows of the tables: numbers where they are defined, and for every empty cell its reason."""

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Answers, ModelAnswers, select_graded_answers
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading import crowd
from evaluation.grading.crowd import EmptyCellReasons
from evaluation.grading.run.grading import grade_answers
from evaluation.grading.run.results import compute_leave_one_out_means, find_rank_bounds

WORDS = ["red", "green", "blue", "black", "white", "brown", "grey", "pink"]
TEXT, EMPTY = AnswerStatus.TEXT, AnswerStatus.EMPTY
FOUR = ("ada", "ben", "cy", "dan")


def answers():
    """Four on five questions; one on one; one who says nothing; one on a question of his own."""
    rows = [
        (worker, f"q{q}", " ".join([f"river q{q}", *WORDS[:number], WORDS[number * q % 8]]))
        for number, worker in enumerate(FOUR)
        for q in range(1, 6)
    ]
    rows += [("one", "q1", "river q1"), ("mute", "q1", ""), ("alone", "only", "by myself")]
    rows.append(("mute", "nobody", ""))
    return Answers.from_rows((key, *row, False) for key, row in enumerate(rows))


def spoken():
    rows = [("good", f"q{q}", f"river q{q} red", TEXT) for q in range(1, 6)]
    rows += [
        ("good", "unasked", "red", TEXT),
        ("bad", "q1", "", AnswerStatus.ERROR),
        ("bad", "q2", "", AnswerStatus.REFUSED),
        ("bad", "q3", "river q3 blue", TEXT),
        *(("silent", f"q{q}", "", EMPTY) for q in (1, 2)),
    ]
    return ModelAnswers.from_rows((key, *row, 0) for key, row in enumerate(rows))


def graded(given=None, models=None, **parameters):
    parameters = AqerParameters(embedder="bow", **{"bootstrap": 0, **parameters})
    return grade_answers(select_graded_answers(parameters, given or answers(), models or spoken()))


def reasons(of, table):
    """Why cells of a table are empty: the rows by column and reason, each counted."""
    found = {}
    for entry in of.undefined.list_reasons():
        if entry["file"] == f"{table}.csv":
            assert entry["count"] == len(entry["rows"])
            found.setdefault(entry["column"], {})[entry["reason"]] = entry["rows"]
    return found


NUMBERS = ("grade", "raw", "raw_low", "raw_high", "grade_low", "grade_high", "weight")
INTERVALS = ("raw_low", "raw_high", "grade_low", "grade_high")


@pytest.mark.parametrize(
    ("draws", "why", "without"),
    [
        (0, "no_draws", [*FOUR, "one", "alone"]),
        (4, "fewer_than_2_questions", ["one", "alone"]),
    ],
)
def test_every_worker_has_a_row_and_every_empty_cell_its_reason(draws, why, without):
    grading = graded(bootstrap=draws)
    of = grading.build_results()
    rows = {row.worker: row for row in of.iterate_workers()}
    assert list(rows) == [*FOUR, "one", "mute", "alone"]
    aqer = grading.graded.aqer
    for at, worker in enumerate(aqer.workers_.tolist()):
        row = rows[worker]
        assert (row.grade, row.raw, row.weight) == (
            aqer.grades_[at], aqer.raw_[at], aqer.weights_[at],
        )  # fmt: skip
        assert row.n_answers == aqer.n_answers_[at]
    assert [rows[worker].support for worker in rows] == ["ok"] * 4 + ["too_few"] * 3
    assert sorted(rows[worker].rank for worker in FOUR) == [1, 2, 3, 4]
    # Who answers nothing has no vote: the weight is 0, and not empty.
    assert rows["mute"] == ("mute", *(None,) * 6, 0.0, 0, "too_few", None)
    silent = {
        column: {"no_answers": ["mute"]} for column in (*NUMBERS, "rank") if column != "weight"
    }
    wanted = {
        **silent,
        **{column: {why: without, "no_answers": ["mute"]} for column in INTERVALS},
        "rank": {"too_few": ["one", "alone"], "no_answers": ["mute"]},
    }
    assert reasons(of, "workers") == wanted


def test_every_answer_has_a_row_with_the_scores_of_its_own():
    grading = graded()
    of = grading.build_results()
    rows = list(of.iterate_answers())
    given = grading.inputs.all_answers
    assert [row[:2] for row in rows] == list(zip(given.workers, given.questions, strict=True))
    scores = [row.score for row in rows if row.worker != "mute"]
    assert scores == grading.graded.aqer.scores_.tolist()
    assert (rows[-2].score, rows[-2].score_leave_one_out) == (pytest.approx(1.0), None)
    empty = [["mute", "q1"], ["mute", "nobody"]]
    assert reasons(of, "answers") == {
        "score": {"empty": empty},
        "score_leave_one_out": {
            "empty": empty,
            "only_answer_to_its_question": [["alone", "only"]],
        },
        "contrast": {
            "empty": empty,
            "only_answer_to_its_question": [["alone", "only"]],
        },
    }


def test_every_worker_and_model_has_a_question_contrast_or_a_reason():
    grading = graded()
    of = grading.build_results()
    workers, models = of.build_worker_contrasts(), of.build_model_contrasts()
    answers = {
        (row.worker, row.question): row.contrast
        for row in grading.build_results().iterate_answers()
    }
    for worker in FOUR:
        mean = np.mean([answers[worker, f"q{q}"] for q in range(1, 6)])
        assert workers[worker].contrast == pytest.approx(mean)
        assert workers[worker].contrast_low < mean < workers[worker].contrast_high
    assert workers["one"][0] == answers["one", "q1"]
    assert workers["mute"] == workers["alone"] == (None, None, None)
    found = reasons(of, "workers")
    # Five questions have answers by several people; the sixth was answered by one person alone.
    assert found["contrast"] == {
        "no_answers": ["mute"],
        "only_answer_to_its_question": ["alone"],
    }
    assert found["contrast_low"] == {
        "fewer_than_2_questions": ["one"],
        "only_answer_to_its_question": ["alone"],
        "no_answers": ["mute"],
    }
    # Empty and refused answers count as the lowest contrast of a worker, at most 0.
    assert models["silent"].contrast == pytest.approx(
        np.mean([min(0, *(answers[w, f"q{q}"] for w in FOUR)) for q in (1, 2)])
        if answers["one", "q1"] >= min(answers[w, "q1"] for w in FOUR)
        else np.mean([min(0, answers["one", "q1"]), min(0, *(answers[w, "q2"] for w in FOUR))])
    )
    assert models["good"].contrast > models["bad"].contrast


def test_every_question_has_a_row_also_one_that_nobody_answered():
    grading = graded()
    of = grading.build_results()
    rows = {row.question: row for row in of.iterate_exemplars()}
    assert [(name, row.n_answers) for name, row in rows.items()] == [
        ("q1", 5), ("q2", 4), ("q3", 4), ("q4", 4), ("q5", 4), ("only", 1), ("nobody", 0),
    ]  # fmt: skip
    for name, row in rows.items():
        if name != "nobody":
            assert grading.inputs.answered.questions[row.nearest] == name
    assert rows["only"].dispersion == pytest.approx(0)
    assert rows["nobody"] == ("nobody", 0, None, None)
    assert reasons(of, "exemplars") == {
        column: {"no_answers": ["nobody"]}
        for column in ("nearest_worker", "nearest_answer", "dispersion")
    }


@pytest.mark.parametrize("draws", [0, 4])
def test_every_model_has_a_row_and_every_empty_cell_its_reason(draws):
    of = graded(bootstrap=draws).build_results()
    rows = {row.model: row for row in of.iterate_models()}
    assert [(name, row.n, row.n_answered) for name, row in rows.items()] == [
        ("good", 5, 5), ("bad", 2, 1), ("silent", 2, 0),
    ]  # fmt: skip
    # What a model does not say counts nothing: of two answers one is worth its score.
    assert rows["bad"].score == pytest.approx(rows["bad"].score_answered / 2)
    assert (rows["silent"].score, rows["silent"].score_answered) == (0.0, None)
    assert (rows["good"].rank, rows["bad"].rank) == (1, None)
    # A percentile is among 10 workers at least.
    wanted = {
        "percentile": {
            "fewer_than_10_supported_workers": ["good"],
            "missing_answers": ["bad"],
            "no_text_answers": ["silent"],
        },
        "rank": {"missing_answers": ["bad"]},
        "score_answered": {"no_text_answers": ["silent"]},
    }
    if not draws:
        everybody = {"no_draws": ["good", "bad", "silent"]}
        wanted |= {"score_low": everybody, "score_high": everybody}
    else:
        for row in rows.values():
            assert row.score_low <= row.score_high
    assert reasons(of, "models") == wanted


def test_an_answer_of_a_model_without_a_score_says_what_came_instead():
    of = graded().build_results()
    told = [(row.model, row.question, row.score, row.reason) for row in of.iterate_model_answers()]
    assert all(score is not None for _, _, score, _ in told[:5])
    assert [reason for *_, reason in told[:5]] == [None] * 5
    assert told[5:8] == [
        ("good", "unasked", None, "no_exemplar"),
        ("bad", "q1", None, "error"),
        ("bad", "q2", 0.0, "refused"),
    ]
    assert told[8][3] is None
    assert told[9:] == [("silent", "q1", 0.0, "empty"), ("silent", "q2", 0.0, "empty")]
    without = {"no_exemplar": [["good", "unasked"]], "error": [["bad", "q1"]]}
    assert reasons(of, "model_answers") == {"score": without, "contrast": without}


@pytest.mark.parametrize(("model", "n"), [("good", 5), ("silent", 2)])
def test_the_contrast_of_a_model_is_the_mean_of_its_answers_contrasts(model, n):
    of = graded().build_results()
    rows = [row for row in of.iterate_model_answers() if row.model == model]
    contrasts = [row.contrast for row in rows if row.contrast is not None]
    assert len(contrasts) == n
    assert of.build_model_contrasts()[model].contrast == pytest.approx(np.mean(contrasts))


def test_without_models_there_are_no_rows_of_theirs():
    of = grade_answers(
        select_graded_answers(AqerParameters(embedder="bow", bootstrap=0), answers())
    ).build_results()
    assert list(of.iterate_models()) == list(of.iterate_model_answers()) == []


def test_two_workers_are_not_graded_and_every_cell_says_so():
    rows = [("ada", "q1", "red"), ("ben", "q1", "green"), ("ada", "q2", "red"), ("ben", "q2", "b")]
    few = Answers.from_rows((key, worker, q, f"{text} river", False) for key, (worker, q, text) in
                     enumerate(rows))  # fmt: skip
    models = ModelAnswers.from_rows([(0, "m", "q1", "red river", TEXT, 0)])
    of = graded(few, models, bootstrap=4).build_results()
    (ada, ben), (model,) = of.iterate_workers(), of.iterate_models()
    assert (ada.grade, ada.weight, ada.rank, ben.rank) == (None, None, None, None)
    assert ada.raw is not None
    fewer = {"fewer_than_3_workers": ["ada", "ben"]}
    of_workers = reasons(of, "workers")
    assert of_workers["grade"] == of_workers["weight"] == of_workers["rank"] == fewer
    assert of_workers["grade_low"] == of_workers["grade_high"]
    assert model.score is not None
    of_models = reasons(of, "models")
    assert of_models["percentile"] == {"fewer_than_3_workers": ["m"]}
    assert of_models["score_low"] == of_models["score_high"]


def test_whoever_shares_no_question_has_no_raw_score_under_leave_one_out():
    of = graded(leave_one_out=True).build_results()
    rows = {row.worker: row for row in of.iterate_workers()}
    assert (rows["alone"].raw, rows["alone"].grade, rows["alone"].weight) == (None, None, 0.0)
    found = reasons(of, "workers")
    assert found["raw"] == {"no_shared_question": ["alone"], "no_answers": ["mute"]}
    assert found["grade"] == {"no_shared_question": ["alone"], "no_answers": ["mute"]}


def test_empty_cells_are_counted_all_and_named_up_to_a_thousand(monkeypatch):
    monkeypatch.setattr(crowd, "NAMED", 2)
    cells = EmptyCellReasons()
    for row in ("a", "b", "c"):
        assert cells.convert_number(float("nan"), "t.csv", "x", row, "why") is None
    assert cells.convert_number(0.0, "t.csv", "x", "d", "why") == 0.0
    assert type(cells.convert_number(np.float64(2), "t.csv", "x", "e", "why")) is float
    cells.add_reason("t.csv", "x", "f", "else")
    cells.add_reason("t.csv", "y", "g", "why")
    assert cells.list_reasons() == [
        {"file": "t.csv", "column": "x", "reason": "why", "count": 3, "rows": ["a", "b"]},
        {"file": "t.csv", "column": "x", "reason": "else", "count": 1, "rows": ["f"]},
        {"file": "t.csv", "column": "y", "reason": "why", "count": 1, "rows": ["g"]},
    ]


def test_bounds_of_ranks_are_those_of_the_workers_that_have_one():
    grading = graded(bootstrap=20)
    aqer = grading.graded.aqer
    found = find_rank_bounds(aqer)
    assert list(found) == list(FOUR)
    for at, worker in enumerate(FOUR):
        assert found[worker] == (aqer.rank_low_[at], aqer.rank_high_[at])
        assert all(type(bound) is int for bound in found[worker])
    assert find_rank_bounds(graded().graded.aqer) == {}


def test_a_left_out_mean_is_that_of_a_workers_answers_with_a_score():
    grading = graded()
    aqer, given = grading.graded.aqer, grading.inputs.answered
    found = compute_leave_one_out_means(aqer, given.workers)
    scores = aqer.leave_one_out_scores_
    for worker in (*FOUR, "one"):
        mine = [s for s, w in zip(scores, given.workers, strict=True) if w == worker]
        assert found[worker] == pytest.approx(sum(mine) / len(mine))
    assert "alone" not in found
    assert len(found) == 5
