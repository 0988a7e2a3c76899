"""`manage.py study judge`: answers and grades in, a measured judge out."""

import csv
import json

import pytest

from evaluation.core.stats.inference.prediction_powered import estimate_powered_mean
from evaluation.llm_judge.options import SCORE
from tests.evaluation.commands.running import manage
from tests.evaluation.runs.run_types.crowds import answers_of, grade_of, write, write_files
from tests.problems import check_problem
from tests.sentences import terminal_sentence

QUICK = ("--embedder", "tfidf-word", "--bootstrap", "30")


def replies():
    """A judge one point too kind, at most 5, which always prefers what it is shown first."""
    found = []
    for worker, question, text in answers_of():
        name = f"score/{question}/worker/{worker}"
        found.append((name, "", str(min(5.0, grade_of(text) + 1))))
        found += [(f"compare/{question}/worker/{worker}/worker/w{n}", "", "A") for n in range(9)]
    return found


@pytest.fixture
def files(tmp_path):
    answers, judgements = write_files(tmp_path)
    scripted = write(tmp_path / "replies.csv", ("question", "sample", "reply"), replies())
    return answers, judgements, scripted


def judge(files, out, *more, model=None):
    answers, judgements, scripted = files
    spec = model or f"replies:{scripted}"
    given = ("--judgements", judgements) if judgements else ()
    return manage(
        "study", "judge", answers, *given, "--model", spec, "--output", out, *QUICK, *more
    )


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_folder_holds_what_it_said_and_what_it_is_worth(files, tmp_path):
    out = tmp_path / "out"
    ran = judge(files, out, "--name", "kind judge")
    assert ran.code == 0, ran.err
    assert {path.name for path in out.iterdir()} == {
        *("metrics.csv", "judge_scores.csv", "judge_pairs.csv", "corrected.csv"),
        *("summary.json", "requests.jsonl"),
    }
    metrics = {row["metric"]: row for row in table(out / "metrics.csv")}
    assert metrics["experts_pearson"]["system"] == "kind judge"
    assert float(metrics["repetition_same"]["value"]) == 1.0
    # It names what is shown first in both orders: never the same verdict.
    assert float(metrics["order_same"]["value"]) == 0.0
    assert float(metrics["order_first"]["value"]) == 1.0
    assert metrics["order_as_graded"]["reason"] == "nothing_to_compare"
    graded = {(w, q): grade_of(t) for w, q, t in answers_of()[::2]}
    errors = [min(5.0, grade + 1) - grade for grade in graded.values()]
    assert float(metrics["experts_error"]["value"]) == pytest.approx(sum(errors) / len(errors))
    rows = table(out / "judge_scores.csv")
    assert len(rows) == 108
    assert sum(row["grade"] != "" for row in rows) == 54
    assert all(row["score"] == row["score_1"] == row["score_2"] for row in rows)
    assert len(table(out / "judge_pairs.csv")) == 24


def test_the_corrected_means_are_those_of_prediction_powered_inference(files, tmp_path):
    out = tmp_path / "out"
    judge(files, out)
    scores = table(out / "judge_scores.csv")
    rows = table(out / "corrected.csv")
    assert [row["of"] for row in rows] == ["workers", *["worker"] * 9]

    def means(some, weight):
        grades = [float(row["grade"] or "nan") for row in some]
        judged = [float(row["score"]) for row in some]
        return estimate_powered_mean(grades, judged, [row["question"] for row in some], weight)

    everybody, first = rows[0], rows[1]
    mine = [row for row in scores if row["worker"] == first["name"]]
    for row, some in ((everybody, scores), (first, mine)):
        for column, weight in (("graded", 0), ("ppi", 1), ("tuned", None)):
            found = means(some, weight)
            assert float(row[column]) == pytest.approx(found.mean)
            assert float(row[f"{column}_low"]) == pytest.approx(found.low)
    # A whole point too kind, but for those at the end of the scale: the judge's mean is taken back.
    true = sum(grade_of(text) for *_, text in answers_of()) / 108
    assert float(everybody["judge"]) > true + 0.5
    assert float(everybody["tuned_low"]) < true < float(everybody["tuned_high"])


def test_the_prompts_are_stored_with_their_hashes(files, tmp_path):
    out = tmp_path / "out"
    judge(files, out)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["prompts"]["score"]["hash"] == SCORE.hash
    assert summary["prompts"]["score"]["template"] == SCORE.template
    assert SCORE.hash[:12] in summary["signature"]
    assert {step["step"] for step in summary["steps"]} == {"score", "compare"}
    template = tmp_path / "mine.txt"
    template.write_text("Q {question} A {answer} 0-5?\n")
    judge(files, tmp_path / "mine", "--score-template", template)
    mine = json.loads((tmp_path / "mine" / "summary.json").read_text())["prompts"]
    assert mine["score"]["template"] == "Q {question} A {answer} 0-5?"
    assert mine["score"]["hash"] != SCORE.hash
    assert mine["compare"] == summary["prompts"]["compare"]


def test_the_same_command_asks_nothing_twice(files, tmp_path):
    out = tmp_path / "out"
    judge(files, out)
    before = (out / "requests.jsonl").read_bytes()
    metrics = (out / "metrics.csv").read_bytes()
    assert judge(files, out).code == 0
    assert (out / "requests.jsonl").read_bytes() == before
    assert (out / "metrics.csv").read_bytes() == metrics


def test_an_answer_without_a_score_is_empty_with_its_reason_and_no_zero(files, tmp_path):
    answers, judgements, scripted = files
    rows = [
        (name, sample, "splendid" if name == "score/q0/worker/w0" else reply)
        for name, sample, reply in replies()
    ]
    more = [(f"score/q0/worker/w0/again-{n}", "", "splendid!") for n in range(2)]
    scripted = write(tmp_path / "bad.csv", ("question", "sample", "reply"), rows + more)
    ran = judge((answers, judgements, scripted), tmp_path / "out")
    assert ran.code == 0
    first = table(tmp_path / "out" / "judge_scores.csv")[0]
    assert (first["worker"], first["score"], first["reason"]) == ("w0", "", "no_number")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["counts"]["asked_again"] == 2
    assert summary["counts"]["without_score"] == 2


def test_a_reply_that_never_came_is_told_by_the_exit_code(files, tmp_path):
    answers, judgements, scripted = files
    rows = [row for row in replies() if row[0] != "score/q0/worker/w0"]
    scripted = write(tmp_path / "gap.csv", ("question", "sample", "reply"), rows)
    assert judge((answers, judgements, scripted), tmp_path / "out").code == 3
    assert table(tmp_path / "out" / "judge_scores.csv")[0]["reason"] == "error"


def test_without_judgements_it_says_that_the_error_is_unknown(files, tmp_path):
    answers, _, scripted = files
    ran = judge((answers, None, scripted), tmp_path / "out")
    assert terminal_sentence("judge.no_judgements") in ran.out
    rows = table(tmp_path / "out" / "corrected.csv")
    assert {(row["tuned"], row["reason"]) for row in rows} == {("", "no_judgements")}


def test_models_are_judged_beside_workers_and_wordings_and_passages_are_shown(files, tmp_path):
    answers, judgements, scripted = files
    models = write(tmp_path / "m.csv", ("model", "question", "answer"), [("small", "q0", "chair")])
    questions = write(
        tmp_path / "q.csv",
        ("question", "text", "passage"),
        [(f"q{n}", f"What is number {n}?", "p" if n == 0 else "") for n in range(12)],
    )
    passages = write(tmp_path / "p.csv", ("passage", "text"), [("p", "All about rivers.")])
    rows = [*replies(), ("score/q0/model/small", "", "1")]
    rows += [
        (f"compare/q0/{one}/{other}", "", "B")
        for n in range(9)
        for one, other in (
            (f"worker/w{n}", "model/small"),
            ("model/small", f"worker/w{n}"),
        )
    ]
    scripted = write(tmp_path / "r.csv", ("question", "sample", "reply"), rows)
    out = tmp_path / "out"
    more = ("--models", models, "--questions", questions, "--passages", passages)
    ran = judge((answers, judgements, scripted), out, *more)
    assert ran.code == 0, ran.err
    last = table(out / "corrected.csv")[-1]
    assert (last["of"], last["name"], last["judge"]) == ("model", "small", "1.0")
    assert last["reason"] == "no_judgements"
    asked = [json.loads(line) for line in (out / "requests.jsonl").read_text().splitlines()]
    first = next(one for one in asked if one["question"] == "score/q0/worker/w0")
    content = first["request"]["messages"][0]["content"]
    assert "Text: All about rivers.\n\nQuestion: What is number 0?" in content
    assert "their id" not in ran.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--repeats", "0"), "repeats"),
        (("--passages", "p.csv"), "--passages: "),
        (("--score-template", "none.txt"), "none.txt: "),
    ],
)
def test_bad_usage_is_refused_before_anything_is_asked(files, tmp_path, more, said):
    ran = judge(files, tmp_path / "out", *more)
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "out" / "requests.jsonl").exists()


def test_a_grade_beyond_the_scale_is_refused_with_its_line(files, tmp_path, told_problems):
    answers, _, scripted = files
    bad = write(tmp_path / "j.csv", ("worker", "question", "grade"), [("w0", "q0", 7)])
    ran = judge((answers, bad, scripted), tmp_path / "out")
    assert ran.code == 2
    (told,) = told_problems
    at = {"file": "j.csv", "line": 2, "column": "grade"}
    check_problem(told, "grade_off_scale", **at, grade=7, low=0, high=5)
    assert str(told) in ran.err
