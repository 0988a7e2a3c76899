"""Real students as workers: small files by hand, and the published data once."""

import csv
from collections.abc import Sequence

import pytest

from evaluation.evidence.data_sets import (
    BEETLE,
    BEETLE_QUESTIONS,
    load_beetle,
    load_beetle_references,
)
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.cross_encoders import save_cross_encoder

HEADER = ("worker", "question", "order", "answer", "label")
RIGHT = "the bulb is in a closed path"
SKILLS = {"ann": 4, "bob": 3, "cy": 2, "dan": 1, "eve": 0}


def folder_of(path, rows: Sequence[Sequence[object]], header=HEADER):
    (path / "beetle2013").mkdir()
    with (path / "beetle2013" / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def students(names=tuple(SKILLS), wrong="contradictory"):
    """Each gives as many right answers to the four questions as the table of skills says."""
    return [
        (name, f"q{q}", 1, RIGHT if q < SKILLS[name] else f"{name}{q}", label)
        for name in names
        for q in range(4)
        for label in ["correct" if q < SKILLS[name] else wrong]
    ]


def reproduced(folder, output):
    return manage(
        *("reproduce", "real-workers", "--data", folder, "--output", output),
        *("--embedder=tfidf-word", "--core", "--repetitions=2"),
    )


@pytest.mark.long
@pytest.mark.model
def test_who_answers_like_the_others_and_rightly_is_found(tmp_path):
    ran = reproduced(folder_of(tmp_path, students()), tmp_path / "out")
    assert (ran.code, ran.err) == (0, "")
    rows = {(r["setting"], r["method"]): r for r in table(tmp_path / "out" / "agreement.csv")}
    assert (rows["all", "aqer"]["workers"], rows["all", "aqer"]["answers"]) == ("5", "20")
    # 4, 3, 2 and 1 right answers to the questions: ann and bob share .375 of their words with the
    # others, cy .3125, dan .1875, eve 0. With 1, .75, .5, .25, 0: .2344 / sqrt(.1016 x .625).
    assert float(rows["all", "f1"]["pearson"]) == pytest.approx(0.9303, abs=0.0001)
    assert rows["40-percent", "aqer"]["answers"] == "8"
    assert summary_of(tmp_path / "out")["correct"] == pytest.approx(10 / 20)


def test_the_first_attempt_is_the_one_of_lowest_order_and_its_label_counts(tmp_path):
    rows = [("ann", "q", 10, "late", "correct"), ("ann", "q", 9, "early", "incorrect")]
    found = load_beetle(folder_of(tmp_path, rows))
    assert (found.texts, found.labels.tolist()) == (["early"], ["incorrect"])


@pytest.mark.parametrize(
    ("header", "rows", "found"),
    [
        # In the order of the answers, whose first question is b.
        (("question", "reference"), [("a", "A"), ("b", "B")], [("b", "B"), ("a", "A")]),
        (("question", "reference"), [("a", "A"), ("b", "")], []),
        (("question", "reference"), [("a", "A")], []),
        (("question", "text"), [("a", "Why?"), ("b", "Why?")], []),
    ],
)
def test_reference_answers_are_used_where_each_question_has_one(tmp_path, header, rows, found):
    answers = [("ann", "b", 1, "said", "correct"), ("ann", "a", 2, "said", "correct")]
    folder = folder_of(tmp_path, answers)
    students = load_beetle(folder)
    assert load_beetle_references(folder, students) == {}
    with (folder / BEETLE_QUESTIONS).open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    assert list(load_beetle_references(folder, students).items()) == found


@pytest.mark.model
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (students(("ann",)), "fewer_than_3_workers"),
        ([(*row[:4], "correct") for row in students()], "equal_true_values"),
    ],
)
def test_one_student_or_one_label_give_empty_rows_with_the_reason(tmp_path, rows, reason):
    ran = reproduced(folder_of(tmp_path, rows), tmp_path / "out")
    assert (ran.code, ran.err) == (0, "")
    found = table(tmp_path / "out" / "agreement.csv")
    assert {row["pearson"] for row in found} == {""}
    reasons = {
        entry["reason"]
        for entry in summary_of(tmp_path / "out")["undefined"]
        if entry["file"] == "agreement.csv" and ["all", "aqer"] in entry["rows"]
    }
    assert reasons == {reason}


@pytest.mark.parametrize(
    ("rows", "header", "code", "named"),
    [
        (students(wrong="perhaps"), HEADER, "data_set_label_unknown", " 'perhaps' "),
        ([row[:4] for row in students()], HEADER[:4], "data_set_label_unknown", " '' "),
        ([], HEADER, "data_set_empty", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path, rows, header, code, named):
    folder = folder_of(tmp_path, rows, header)
    ran = reproduced(folder, tmp_path / "out")
    assert (ran.code, ran.refusals) == (2, (f"{folder / BEETLE}, {code}",))
    assert named in ran.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    ran = reproduced(tmp_path / "nowhere", tmp_path / "out")
    assert ran.code == 2
    assert "nowhere" in ran.err


FIVE_WAY = ("correct", "contradictory", "partially_correct_incomplete")
TEXTS = {
    "correct": "the bulb is in a closed path",
    "contradictory": "the bulb is in an open path",
    "partially_correct_incomplete": "the bulb is in a path",
}


@pytest.fixture
def five_way(tmp_path):
    """Six students, each with one answer of each label and one correct one besides."""
    rows = [
        (f"s{s}", f"q{q}", 1, f"{TEXTS[label]} {'x' * s}".strip(), label)
        for s in range(6)
        for q in range(4)
        for label in [FIVE_WAY[(s + q) % 3] if q < 3 else "correct"]
    ]
    folder = folder_of(tmp_path, rows)
    with (folder / "beetle2013" / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("question", "text"), *((f"q{q}", f"Why does bulb {q} light?") for q in range(4))]
        )
    return folder


@pytest.mark.long
@pytest.mark.model
def test_a_judge_and_an_entailment_model_stand_beside_cosine(five_way, tmp_path):
    """The judge tells the labels apart, so its AUC is 1; the other model is one at random."""
    marks = {"closed": "5", "open": "0", "a path": "3"}

    def judged(body):
        shown = body["messages"][0]["content"]
        return said(next(mark for word, mark in marks.items() if word in shown))

    words = [*TEXTS.values(), *("x" * s for s in range(6))]
    nli = save_cross_encoder(tmp_path / "nli", words, ["contradiction", "entailment", "neutral"])
    judge = FakeChat(judged)
    try:
        ran = manage(
            *("reproduce", "real-workers", "--data", five_way, "--output", tmp_path / "out"),
            *("--embedder=tfidf-word", "--repetitions=2", "--judge", judge.spec, "--nli", nli),
        )
    finally:
        judge.close()
    assert (ran.code, ran.err) == (0, "")
    rows = {(r["method"], r["measure"]): r for r in table(tmp_path / "out" / "answers.csv")}
    measure = "auc_partially_correct_incomplete_over_contradictory"
    assert float(rows["judge", measure]["value"]) == 1.0
    # Six partly right and six contradictory answers; -P(contradiction), ties half.
    found = float(rows["contradiction", measure]["value"])
    assert 0 <= found <= 1
    assert (found * 72).is_integer()
    told = " ".join(ran.out.split())
    assert " partially_correct_incomplete " in told
    assert "judge 1.00 (95% 1.00 to 1.00)" in told
    assert f"model {found:.2f} " in told


@pytest.mark.long
@pytest.mark.model
def test_without_models_the_sentence_says_that_nothing_was_measured(five_way, tmp_path):
    ran = reproduced(five_way, tmp_path / "out")
    told = " ".join(ran.out.split())
    assert told.count("--core") == 2


@pytest.mark.data
@pytest.mark.model
@pytest.mark.long
def test_on_real_students_the_figures_are_those_of_the_evidence(data_folder, tmp_path):
    output = tmp_path / "out"
    asked = ("--data", data_folder, "--output", output, "--core")
    ran = manage("reproduce", "real-workers", *asked)
    assert (ran.code, ran.err) == (0, "")
    rows = {(r["setting"], r["method"]): r for r in table(output / "agreement.csv")}
    known = {"aqer": (0.751, 0.752), "mean_vote": (0.752, 0.762), "leave_one_out": (0.753, 0.754)}
    known["question_contrast"] = (0.770, 0.779)
    for method, (linear, of_ranks) in {**known, "tfidf_char": (0.784, 0.779)}.items():
        assert float(rows["all", method]["pearson"]) == pytest.approx(linear, abs=0.005)
        assert float(rows["all", method]["spearman"]) == pytest.approx(of_ranks, abs=0.005)
    assert float(rows["40-percent", "aqer"]["pearson"]) == pytest.approx(0.692, abs=0.005)
    answers = {(r["method"], r["measure"]): r for r in table(output / "answers.csv")}
    for measure, value in (
        ("correlation_within_questions", 0.431),
        ("value_of_the_best_answer", 0.750),
        ("auc_correct_over_contradictory", 0.741),
        ("auc_incorrect_over_contradictory", 0.457),
    ):
        assert float(answers["aqer", measure]["value"]) == pytest.approx(value, abs=0.005)
