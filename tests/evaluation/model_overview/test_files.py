"""`manage.py evaluate views`: folders of other evaluations in, tables out."""

import csv
import json

import pytest

from evaluation.model_overview.messages import SIDES
from tests.evaluation.commands.running import manage
from tests.evaluation.model_overview.world import LINES, write_files, write_questions
from tests.evaluation.runs.run_types.texts import numbers_of, places_of
from tests.sentences import terminal_sentence

FILES = {
    *("views.csv", "correlations.csv", "models.csv", "disagreements.csv", "summary.json"),
    *("views.svg", "view-correlations.svg"),
}


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def graded(tmp_path):
    """The output of a grading with three models."""
    answers, models = write_files(tmp_path)
    out = tmp_path / "graded"
    ran = manage(
        *("evaluate", "aqer", answers, "--models", models, "--embedder", "tfidf-word"),
        *("--bootstrap", "0", "--output", out),
    )
    assert ran.code == 0, ran.err
    return out


@pytest.fixture
def alike(tmp_path, graded):
    """The output of a comparison of replies: two models, each as steady as it is near."""
    out = tmp_path / "alike"
    out.mkdir()
    rows = [row for row in table(graded / "model_answers.csv") if row["model"] != "Yak"]
    with (out / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("item", "system", "score", "similarity", "reason"))
        writer.writerows(
            (row["question"], row["model"], "", row["score"], "not_judged") for row in rows
        )
    (out / "summary.json").write_text(json.dumps({"signature": "eloquent|draws:20"}))
    return out


def views(*arguments):
    return manage("evaluate", "views", *arguments, "--bootstrap", "50")


def place_of(told):
    """What a refusal is about: what stands before its first colon."""
    return told.removeprefix("CommandError: ").partition(": ")[0]


def test_folders_are_put_together_by_models_and_questions(
    graded, alike, tmp_path, rendered_messages
):
    out = tmp_path / "out"
    ran = views(graded, alike, "--questions", write_questions(tmp_path), "--output", out)
    assert ran.code == 0, ran.err
    assert {path.name for path in out.iterdir()} == FILES
    rows = table(out / "views.csv")
    assert [row["question"] for row in rows[::3]] == [f"q{n}" for n in range(12)]
    scores = {(r["model"], r["question"]): r["score"] for r in table(graded / "model_answers.csv")}
    apart = {row["question"]: row["dispersion"] for row in table(graded / "exemplars.csv")}
    for row in rows:
        assert row["crowd_score"] == scores[row["model"], row["question"]]
        assert row["crowd_dispersion"] == apart[row["question"]]
        yak = row["model"] == "Yak"
        assert row["reply_similarity"] == ("" if yak else row["crowd_score"])
    found = {(r["view"], r["other"], r["model"]): r for r in table(out / "correlations.csv")}
    same = found["crowd_score", "reply_similarity", ""]
    assert (float(same["spearman"]), same["n_models"], same["n_answers"]) == (1.0, "2", "24")
    # No judge was asked, so that view tells nothing and stands nowhere.
    assert "judged_similarity" not in rows[0]
    texts = {row["question"]: row["text"] for row in table(out / "disagreements.csv")}
    assert texts["q3"] == "What is q3?"
    summary = json.loads((out / "summary.json").read_text())
    assert summary["signature"].startswith("views|draws:50|seed:0|inputs:")
    assert summary["missing"] == ["uncertainty", "answerability"]
    assert summary["counts"]["models"] == 3
    said = summary["answered"]["robustness_distance"]
    code = "views.robustness_distance.yes"
    values = next(one.values for one in rendered_messages if one.code == code)
    assert (values["value"], values["models"]) == (1.0, 2)
    assert said == terminal_sentence(code, **values)
    assert said in ran.out
    assert ", ".join(SIDES[one] for one in summary["missing"]).lower() in ran.out.lower()


def test_the_same_as_over_the_database(graded, tmp_path, db, django_user_model, monkeypatch):
    from tests.evaluation.model_overview import test_run_type
    from tests.evaluation.model_overview.world import rivers_of

    monkeypatch.setattr("evaluation.runs.background.leases.notify", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.notify", lambda: True)
    owner = django_user_model.objects.create_user("rita", password="rivers")
    rivers = rivers_of(owner, tmp_path)
    test_run_type.done(rivers, test_run_type.GRADING, "aqer")
    run = test_run_type.done(rivers, test_run_type.ViewsParameters(bootstrap=50))
    assert views(graded, "--output", tmp_path / "out").code == 0
    stored = json.loads((tmp_path / "out" / "summary.json").read_text())
    rows = table(tmp_path / "out" / "correlations.csv")
    (own,) = run.summary["correlations"]
    assert float(rows[0]["spearman"]) == pytest.approx(own["spearman"])
    assert float(rows[0]["low"]) == pytest.approx(own["low"])
    assert [view["view"]["name"] for view in stored["views"]] == [
        view["view"]["name"] for view in run.summary["views"]
    ]


def test_a_folder_without_a_summary_is_named_by_its_kind(graded, alike, tmp_path):
    (alike / "summary.json").unlink()
    ran = views(graded, alike, "--output", tmp_path / "out")
    assert ran.code == 2
    assert place_of(ran.err) == str(alike / "summary.json")
    ran = views(graded, f"eloquent={alike}", "--output", tmp_path / "out")
    assert ran.code == 0, ran.err


def test_a_folder_of_another_kind_is_refused(graded, tmp_path, settings):
    settings.RUN_KINDS = [*settings.RUN_KINDS, *LINES]
    # A kind without a command writes no folder, whatever its runs tell.
    (tmp_path / "sure").mkdir()
    (tmp_path / "sure" / "summary.json").write_text('{"signature": "sure|x"}')
    ran = views(graded, tmp_path / "sure", "--output", tmp_path / "out")
    assert ran.code == 2
    assert place_of(ran.err) == str(tmp_path / "sure" / "summary.json")
    assert "(sure)" in ran.err


@pytest.mark.parametrize(
    "cell",
    ["much", "nan"],
)
def test_a_cell_that_is_no_number_is_named(graded, alike, tmp_path, cell):
    lines = (alike / "items.csv").read_text().splitlines()
    cells = lines[2].split(",")
    cells[3] = cell
    lines[2] = ",".join(cells)
    (alike / "items.csv").write_text("\n".join(lines) + "\n")
    ran = views(graded, alike, "--output", tmp_path / "out")
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("items.csv", 3, None)
    assert f": '{cell}' " in ran.err
    assert not (tmp_path / "out").exists()


def test_missing_tables_columns_and_folders_are_named(graded, alike, tmp_path):
    out = ("--output", tmp_path / "out")
    ran = views(tmp_path / "nowhere", *out)
    assert (ran.code, place_of(ran.err)) == (2, str(tmp_path / "nowhere"))
    (alike / "items.csv").write_text("item,score\nq1,3\n")
    ran = views(graded, alike, *out)
    assert ran.code == 2
    assert "system" in ran.err
    (alike / "items.csv").unlink()
    ran = views(graded, alike, *out)
    assert (ran.code, place_of(ran.err), " items.csv." in ran.err) == (2, str(alike), True)
    before = {path.name: path.read_bytes() for path in graded.iterdir()}
    ran = views(graded, "--output", graded)
    assert (ran.code, place_of(ran.err)) == (2, str(graded))
    assert {path.name: path.read_bytes() for path in graded.iterdir()} == before


def test_a_grading_without_models_is_refused(tmp_path):
    answers, _ = write_files(tmp_path)
    manage(
        *("evaluate", "aqer", answers, "--embedder", "tfidf-word", "--bootstrap", "0"),
        *("--output", tmp_path / "alone"),
    )
    ran = views(tmp_path / "alone", "--output", tmp_path / "out")
    assert ran.code == 2
    assert place_of(ran.err) == str(tmp_path / "alone")
    assert not (tmp_path / "out").exists()


def test_the_same_folder_twice_counts_once_and_is_told(graded, tmp_path):
    ran = views(graded, graded, "--output", tmp_path / "out")
    assert ran.code == 0, ran.err
    # 36 scores, 12 dispersions and 3 percentiles again.
    assert [51] in [numbers_of(line) for line in ran.out.splitlines()]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["exclusions"] == [{"reason": "told_again", "count": 51, "named": []}]
