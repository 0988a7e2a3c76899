"""Every kind that tells views: what its command writes is read, and its views stand together."""

import csv
import json

import pytest

from evaluation.runs.run_types import list_kinds
from tests.evaluation.commands.running import manage
from tests.evaluation.model_overview.every_kind import COMMANDS, evaluated

KINDS = [kind for kind in list_kinds().values() if kind.views]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluated")
    return {kind.name: evaluated(kind.name, folder) for kind in KINDS}


def test_there_is_an_evaluation_of_every_kind_that_tells_views():
    assert {kind.name for kind in KINDS} <= set(COMMANDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_its_files_have_the_columns_of_its_views_and_say_what_they_are(kind, folders):
    folder = folders[kind.name]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["signature"].partition("|")[0] == kind.name
    for viewed in kind.views:
        rows = rows_of(folder / viewed.file_name)
        assert set(viewed.needs) <= set(rows[0]), viewed


def test_all_of_them_stand_together(folders, tmp_path):
    ran = manage("evaluate", "views", *folders.values(), "--bootstrap", "20", "--output", tmp_path)
    assert ran.code == 0, ran.err
    rows = {(row["model"], row["question"]): row for row in rows_of(tmp_path / "views.csv")}
    assert len(rows) == 3 * 12
    models = {(row["model"], row["view"]): row for row in rows_of(tmp_path / "models.csv")}
    # Elk always says the same, Ox hardly ever.
    for view in ("reply_similarity", *RISING):
        names = [name for _, name in models if name.partition(":")[0] == view]
        for name in dict.fromkeys(names):
            elk, ox = (float(models[model, name]["mean"]) for model in ("Elk", "Ox"))
            assert elk > ox, name
    summary = json.loads((tmp_path / "summary.json").read_text())
    sides = {viewed.view.side for kind in KINDS for viewed in kind.views}
    assert (
        set(summary["missing"]) == {"crowd", "uncertainty", "robustness", "answerability"} - sides
    )


# Views that rise with saying the same, being sure, and noticing that there is no answer.
RISING = ("certainty_in_other_words", "consistency", "stated_confidence", "notices")
