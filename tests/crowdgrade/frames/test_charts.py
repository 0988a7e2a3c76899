"""The charts of each function show the numbers of its tables."""

import json
from math import sqrt
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import crowdgrade
from crowdgrade.frames import COMMANDS
from crowdgrade.frames.charts import CHARTS
from tests.contracts.inputs import write_input

DEMO = Path(__file__).resolve().parents[3] / "annotations" / "demo"
FAST = {"embedder": "tfidf-char", "bootstrap": 20}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs") / "in"
    write_input(folder, DEMO)
    return folder


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def draw(result: crowdgrade.Result, name: str) -> ElementTree.Element:
    picture = result.plot(name)
    assert (bool(picture.title), bool(picture.explanation)) == (True, True)
    return ElementTree.fromstring(picture.svg.encode())


def list_texts(drawn: ElementTree.Element) -> list[str]:
    return [str(text.text) for text in drawn.iterfind(".//{*}text")]


def list_marks(drawn: ElementTree.Element) -> list[ElementTree.Element]:
    return drawn.findall(".//*[@class='chart-mark']")


def test_each_function_declares_its_charts() -> None:
    assert set(CHARTS) == set(COMMANDS)


@pytest.mark.medium
def test_panels_are_drawn_with_a_mark_for_each_score() -> None:
    answers, models = read(DEMO / "answers.csv"), read(DEMO / "model_answers.csv")
    found = crowdgrade.panels(answers, models, **FAST)
    assert found.pictures == ["panels"]
    drawn = draw(found, "panels")
    rows = found.rows("panel_models")
    scored = [row for row in rows if row["score"] is not None and row["panel"] == "people"]
    scored.sort(key=lambda row: -row["score"])
    names = [mark.findtext("./*[@class='chart-label']") for mark in list_marks(drawn)]
    assert len(names) == len({row["model"] for row in rows}) == 4
    assert names == [row["model"] for row in scored]  # the best under the panel of people first
    # A dot shows the score under the people's consensus: positions rise with the scores.
    places = [
        float(mark.find("./*[@class='chart-dot']").get("cx"))  # type: ignore[union-attr,arg-type]
        for mark in list_marks(drawn)
    ]
    assert places == sorted(places, reverse=True)
    spread = (places[0] - places[1]) / (places[0] - places[3])
    scores = [row["score"] for row in scored]
    assert spread == pytest.approx((scores[0] - scores[1]) / (scores[0] - scores[3]), abs=0.01)


@pytest.mark.medium
def test_the_planner_draws_the_error_that_the_answers_let_expect() -> None:
    answers = read(DEMO / "answers.csv")
    found = crowdgrade.plan(answers, **FAST)
    assert found.pictures == ["planner"]
    graded = crowdgrade.grade(answers, facts=False, **FAST)
    scores = graded.answers["score_leave_one_out"].dropna()
    counts = graded.exemplars["n_answers"]
    assert counts.min() >= 2
    typical = found.summary["typical_answer"]
    # The demo has no question with a single answer, so these are means over all of them.
    assert typical["left_out"] == pytest.approx(scores.mean())
    assert typical["answers"] == pytest.approx(counts.mean())
    similar, n = typical["similarity"], round(typical["answers"])
    error = 1 - similar * sqrt(n) / sqrt((n - 1) * similar**2 + 1)
    shown = found.plot().svg
    assert f"{n} answers: {error:.3f}" in shown
    assert {"now", "10 more"} <= set(list_texts(draw(found, "planner")))


def test_without_a_forecast_there_is_no_planner_to_draw() -> None:
    answers = read(DEMO / "answers.csv")
    found = crowdgrade.plan(answers, similarity="euclidean", **FAST)
    assert (found.pictures, found.summary["typical_answer"]["similarity"]) == ([], None)
    with pytest.raises(ValueError, match=r"no data .*'planner'"):
        found.plot("planner")
    with pytest.raises(ValueError, match="plan has no "):
        found.plot()
    assert "Pictures" not in found._repr_html_()


def test_multiqa_draws_accuracy_and_with_people_their_similarity(inputs: Path) -> None:
    items = [json.loads(line) for line in (inputs / "items.jsonl").read_text().splitlines()]
    frame, replies = pd.DataFrame(items), read(inputs / "replies.csv")
    found = crowdgrade.multiqa(frame, replies, **FAST)
    assert found.pictures == ["accuracy"]
    drawn = draw(found, "accuracy")
    shown = {
        (row["system"], row["metric"])
        for row in found.rows("metrics")
        if row["group"] is None and row["value"] is not None
        if row["metric"] in ("worst_case", "plurality", "accuracy", "best_case")
    }
    assert len(list_marks(drawn)) == len(shown) == 8
    people = [{"worker": w, "question": "f1", "answer": "the sun is a star"} for w in "abc"]
    crowd = pd.DataFrame(people)
    assert crowdgrade.multiqa(frame, replies, crowd=crowd, **FAST).pictures == [
        "accuracy",
        "crowd_scores",
    ]


def test_umwp_draws_f1_and_with_sizes_f1_by_size(inputs: Path) -> None:
    problems = [json.loads(line) for line in (inputs / "problems.jsonl").read_text().splitlines()]
    replies = read(inputs / "problem_replies.csv")
    options = {"encoder": "tfidf-char", "threshold": 0.8, "bootstrap": 20}
    found = crowdgrade.umwp(problems, replies, **options)
    assert found.pictures == ["f1"]
    defined = [
        f"{row['system']}, {row['group'].removeprefix('form:')}"
        for row in found.rows("metrics")
        if row["metric"] == "f1" and row["value"] is not None
        if (row["group"] or "").startswith("form:") and "," not in row["group"]
    ]
    marks = list_marks(draw(found, "f1"))
    assert sorted(mark.findtext("./*[@class='chart-label']") for mark in marks) == sorted(defined)
    sizes = pd.DataFrame({"system": ["one"], "size": ["7B"], "tuning": ["chat"]})
    sized = crowdgrade.umwp(problems, replies, systems=sizes, **options)
    assert sized.pictures == ["f1", "f1_by_size"]
    assert sized.plot("f1_by_size").svg.encode() == sized.files["f1_by_size.svg"]


def test_maqa_draws_confidence_by_question_and_the_curves(inputs: Path) -> None:
    questions = json.loads((inputs / "several.json").read_text())
    replies = [json.loads(line) for line in (inputs / "several.jsonl").read_text().splitlines()]
    found = crowdgrade.maqa(questions, replies, similarity="overlap", **FAST)
    curves = [name for name in found.pictures if name.startswith(("roc_", "reliability_"))]
    assert found.pictures == ["confidence", *curves]
    assert curves
    marks = list_marks(draw(found, "confidence"))
    assert 0 < len(marks) <= len(found.rows("items"))


def test_eloquent_draws_scores_and_none_without_judgements(inputs: Path) -> None:
    prompts = json.loads((inputs / "prompts.json").read_text())
    replies, judgements = read(inputs / "prompt-replies.csv"), read(inputs / "judgements.csv")
    found = crowdgrade.eloquent(prompts, replies, judgements=[judgements], **FAST)
    assert found.pictures == ["figure1"]
    assert "<svg" in found.plot()._repr_svg_()
    without = crowdgrade.eloquent(prompts, **FAST)
    assert without.pictures == []
    with pytest.raises(ValueError, match="eloquent has no picture 'figure1'"):
        without.plot("figure1")


def test_a_notebook_names_the_pictures() -> None:
    found = crowdgrade.plan(read(DEMO / "answers.csv"), **FAST)
    assert "<p>Pictures for plot(): planner</p>" in found._repr_html_()
