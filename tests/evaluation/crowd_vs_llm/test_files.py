"""`manage.py evaluate panels`: files in, files out."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.crowd_vs_llm.world import PASTES, model_rows, people_rows, write_files
from tests.evaluation.runs.run_types.crowds import write
from tests.evaluation.runs.run_types.texts import places_of
from tests.sentences import terminal_sentence

QUICK = ("--embedder", "tfidf-word", "--bootstrap", "20")
FILES = {
    *("panels.csv", "panel_distances.csv", "panel_models.csv", "panel_questions.csv"),
    "summary.json",
}


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def panels(people, models, out):
    return manage("evaluate", "panels", people, "--models", models, *QUICK, "--output", out)


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_writes_panels_their_distances_models_and_questions(files, tmp_path, rendered_messages):
    out = tmp_path / "out"
    ran = panels(*files, out)
    assert ran.code == 0, ran.err
    assert {path.name for path in out.iterdir()} == FILES
    found = {row["name"]: row for row in table(out / "panels.csv")}
    assert list(found)[:4] == ["people", "models", "people_and_models", "unflagged_people"]
    counts = {name: (row["people"], row["models"], row["answers"]) for name, row in found.items()}
    # Nine workers answered 12 questions; Yak refused one of its 12.
    assert counts["people"] == ("9", "0", "108")
    assert counts["models"] == ("0", "3", "35")
    assert counts["people_and_models"] == ("9", "3", "143")
    assert counts["unflagged_people"] == ("8", "0", "96")
    assert float(found["models"]["agreement"]) > float(found["people"]["agreement"])
    summary = json.loads((out / "summary.json").read_text())
    assert summary["flagged_workers"] == [PASTES]
    assert summary["counts"]["model_answers"] == 36
    assert summary["said"][0] in ran.out
    code = "panels.farther_than_halves"
    values = next(one.values for one in rendered_messages if one.code == code)
    assert values["questions"] == 12
    assert summary["said"][0] == terminal_sentence(code, **values)
    assert terminal_sentence("panels.models_copy") in summary["warnings"]
    assert summary["signature"].startswith("panels|embedder:Tfidf")


def test_scores_by_people_are_those_of_a_grading(files, tmp_path):
    panels(*files, tmp_path / "out")
    graded = manage(
        *("evaluate", "aqer", files[0], "--models", files[1]),
        *("--embedder", "tfidf-word", "--bootstrap", "0", "--output", tmp_path / "aqer"),
    )
    assert graded.code == 0, graded.err
    expected = {row["model"]: row for row in table(tmp_path / "aqer" / "models.csv")}
    rows = table(tmp_path / "out" / "panel_models.csv")
    by_people = {row["model"]: row for row in rows if row["panel"] == "people"}
    assert list(by_people) == list(expected)
    for model, row in by_people.items():
        assert float(row["score"]) == pytest.approx(float(expected[model]["score"]))
        assert (row["n"], row["rank"]) == (expected[model]["n"], expected[model]["rank"])


def test_questions_come_farthest_apart_first_with_the_best_responses(files, tmp_path):
    panels(*files, tmp_path / "out")
    rows = table(tmp_path / "out" / "panel_questions.csv")
    cosines = [float(row["people_and_models"]) for row in rows]
    assert cosines == sorted(cosines)
    distances = {(r["first"], r["second"]): r for r in table(tmp_path / "out/panel_distances.csv")}
    apart = distances["people", "models"]
    assert float(apart["cosine"]) == pytest.approx(sum(cosines) / 12)
    assert float(apart["least"]) == pytest.approx(cosines[0])
    said = {(question, text) for _, question, text in people_rows()}
    models = {(question, text) for _, question, text, _ in model_rows()}
    for row in rows:
        assert (row["question"], row["best_of_people"]) in said
        assert (row["question"], row["best_of_models"]) in models
        assert (row["question"], row["best_of_both"]) in said | models


def test_one_model_makes_a_panel_that_scores_nobody(files, tmp_path):
    header = ("model", "question", "answer", "status")
    alone = write(tmp_path / "one.csv", header, model_rows(("Elk",)))
    ran = panels(files[0], alone, tmp_path / "out")
    assert ran.code == 0, ran.err
    rows = {row["panel"]: row for row in table(tmp_path / "out" / "panel_models.csv")}
    assert (rows["models"]["score"], rows["models"]["reason"]) == ("", "no_exemplar")
    assert rows["people"]["rank"] == "1"
    assert terminal_sentence("panels.few_models", models=1) in ran.out


def test_an_answer_that_could_not_be_fetched_keeps_a_model_out_of_the_ranks(files, tmp_path):
    rows = [(*row[:3], "error") if row[:2] == ("Ox", "q3") else row for row in model_rows()]
    models = write(tmp_path / "m.csv", ("model", "question", "answer", "status"), rows)
    panels(files[0], models, tmp_path / "out")
    found = {(r["model"], r["panel"]): r for r in table(tmp_path / "out" / "panel_models.csv")}
    row = found["Ox", "people"]
    assert (row["rank"], row["reason"], row["n"]) == ("", "missing_answers", "11")


def test_the_same_seed_gives_the_same_files(files, tmp_path):
    for name in ("one", "two"):
        panels(*files, tmp_path / name)
    for name in FILES:
        one, two = ((tmp_path / part / name).read_bytes() for part in ("one", "two"))
        assert one == two


def test_models_without_a_text_are_refused(files, tmp_path):
    header = ("model", "question", "answer", "status")
    silent = write(tmp_path / "s.csv", header, [("Elk", "q0", "", "refused")])
    ran = panels(files[0], silent, tmp_path / "out")
    assert ran.code == 2
    assert places_of(ran.err) == [("s.csv", None, None)]
    assert not (tmp_path / "out").exists()
