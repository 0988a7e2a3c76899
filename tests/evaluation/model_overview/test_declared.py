"""Views that kinds declare: their tables have the columns, in the database and in files."""

import csv

import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.models import ExemplaryAnswer, LLMAnswerScore, LLMScore
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import list_kinds
from tests.evaluation.commands.running import manage
from tests.evaluation.model_overview.test_run_type import rivers  # noqa: F401
from tests.evaluation.model_overview.world import write_files

KINDS = [kind for kind in list_kinds().values() if kind.views]


def by_view(told):
    found = {}
    for view, (model, question, value, reason) in told:
        found.setdefault(view.name, {})[model, question] = (value, reason)
    return found


def test_every_view_has_a_name_of_its_own():
    names = [viewed.view.name for kind in KINDS for viewed in kind.views]
    assert "crowd_score" in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_views_stand_in_tables_of_their_kind_and_have_words_for_readers(kind):
    for viewed in kind.views:
        view = viewed.view
        assert viewed.table in kind.tables, viewed
        assert view.words.endswith("."), view
        assert view.title[0].isupper(), view
        if view.lowest is not None and view.highest is not None:
            assert view.lowest < view.highest, view


def test_a_grading_tells_scores_of_answers_dispersion_of_questions_and_percentiles(rivers):  # noqa: F811
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=0)
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, parameters, "aqer")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    found = by_view(list_kinds()["aqer"].read_observations(run))
    assert set(found) == {"crowd_score", "crowd_dispersion", "crowd_percentile"}
    scores = LLMAnswerScore.objects.filter(run=run).values_list(
        "llm_response__model__name", "llm_response__question__external_id", "score"
    )
    assert len(scores) == 3 * 12
    for model, question, score in scores:
        assert found["crowd_score"][model, question][0] == score
    for row in ExemplaryAnswer.objects.filter(run=run).select_related("question"):
        dispersion = found["crowd_dispersion"]["", row.question.external_id]
        assert dispersion == (row.dispersion, "")
    for row in LLMScore.objects.filter(run=run).select_related("model"):
        assert found["crowd_percentile"][row.model.name, ""][0] == row.percentile


def test_the_files_of_a_grading_have_the_columns_that_its_views_need(tmp_path):
    answers, models = write_files(tmp_path)
    out = tmp_path / "out"
    ran = manage(
        *("evaluate", "aqer", answers, "--models", models, "--embedder", "tfidf-word"),
        *("--bootstrap", "0", "--output", out),
    )
    assert ran.code == 0, ran.err
    for viewed in list_kinds()["aqer"].views:
        with (out / viewed.file_name).open(newline="") as file:
            header = next(csv.reader(file))
        assert set(viewed.needs) <= set(header), viewed
