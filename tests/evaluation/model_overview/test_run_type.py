"""All views over a question set: a run, its pages, tables and REST, and the ways to it."""

import csv
import io

import pytest
from django.urls import reverse
from django.utils.html import escape
from openpyxl import load_workbook
from rest_framework.test import APIClient

from annotations.models import Question, Share
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.options import OptionError
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.model_overview.messages import CLAIMS, QUESTIONS
from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.model_overview.run.gathering import ViewsParameters
from evaluation.models import ExemplaryAnswer, LLMAnswerScore, LLMResponse, LLMScore, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.evaluation.model_overview.world import (
    LINES,
    model_rows,
    rivers_of,
    steady_rows,
    sure_rows,
    told,
)
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.sentences import site_sentence

GRADING = AqerParameters(embedder="tfidf-word", bootstrap=0)


def done(question_set, parameters=None, kind="views"):
    version = question_set.latest_version()
    parameters = parameters or ViewsParameters(bootstrap=100)
    run = runs.queue_run(version, question_set.owner_id, parameters, kind)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


def scores_of(run):
    rows = LLMAnswerScore.objects.filter(run=run).values_list(
        "llm_response__model__name", "llm_response__question__external_id", "score"
    )
    return {(model, question): score for model, question, score in rows}


@pytest.fixture
def rivers(db, django_user_model, monkeypatch, tmp_path):
    """Rita's set; nobody hears the bell."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create_user("rita", password="rivers", is_staff=True)
    return rivers_of(owner, tmp_path)


@pytest.fixture
def graded(rivers, settings):
    settings.RUN_KINDS = [*settings.RUN_KINDS, *LINES]
    return done(rivers, GRADING, "aqer")


@pytest.fixture
def seen(rivers, graded):
    """All views of the set: graded, sure for two models, steady for three."""
    scores = scores_of(graded)
    told(rivers.latest_version(), "sure", sure_rows(scores))
    told(rivers.latest_version(), "steady", steady_rows(scores))
    return done(rivers)


def page(client, name, **ids):
    sent = client.get(reverse(f"admin:{name}", kwargs=ids))
    assert sent.status_code == 200, sent
    return sent.content.decode()


def table(client, run, name):
    sent = client.get(reverse("admin:results-table", args=[run.public_id, name]))
    return list(csv.DictReader(io.StringIO(b"".join(sent).decode("utf-8-sig"))))


@pytest.mark.medium
def test_numbers_of_all_runs_stand_beside_each_other(client, rivers, graded, seen):
    client.force_login(rivers.owner)
    rows = table(client, seen, "views")
    assert len(rows) == 3 * 12
    scores = scores_of(graded)
    dispersion = dict(
        ExemplaryAnswer.objects.filter(run=graded).values_list(
            "question__external_id", "dispersion"
        )
    )
    # The questions of the set in their order, the models of each.
    assert [row["question"] for row in rows[::3]] == [f"q{n}" for n in range(12)]
    for row in rows:
        key = (row["model"], row["question"])
        assert float(row["crowd_score"]) == pytest.approx(scores[key])
        assert float(row["crowd_dispersion"]) == pytest.approx(dispersion[row["question"]])
        sure = row["sureness"]
        if row["model"] == "Yak":
            assert sure == row["right:direct"] == ""
            assert "sureness: not_looked_at; right:direct: not_looked_at" in row["reason"]
        else:
            sign = -1 if row["model"] == "Elk" else 1
            assert float(sure) == pytest.approx(10 + sign * scores[key])


def test_correlations_are_means_over_models_and_each_model_has_its_own(client, rivers, seen):
    client.force_login(rivers.owner)
    rows = {(r["view"], r["other"], r["model"]): r for r in table(client, seen, "correlations")}
    # Unsure where it is far: -1 for Elk; the other way round for Ox: together 0.
    both = rows["crowd_score", "sureness", ""]
    assert float(both["spearman"]) == pytest.approx(0)
    assert (both["n_models"], both["n_questions"], both["n_answers"]) == ("2", "12", "24")
    own = {model: float(rows["crowd_score", "sureness", model]["spearman"]) for model in ("Elk", "Ox")}  # noqa: E501  # fmt: skip
    assert own == {"Elk": pytest.approx(-1), "Ox": pytest.approx(1)}
    undefined = rows["crowd_score", "sureness", "Yak"]
    assert (undefined["spearman"], undefined["reason"]) == ("", "no_model_with_both")
    # Elk and Ox are equally steady everywhere, so only Yak tells.
    steady = rows["crowd_score", "steadiness", ""]
    yak = [(float(r["crowd_score"]), float(r["steadiness"])) for r in table(client, seen, "views") if r["model"] == "Yak"]  # noqa: E501  # fmt: skip
    assert float(steady["spearman"]) == pytest.approx(spearman(*zip(*yak, strict=True)))
    assert steady["n_models"] == "1"


def test_models_are_compared_on_the_questions_they_share(client, rivers, seen):
    client.force_login(rivers.owner)
    rows = {(row["model"], row["view"]): row for row in table(client, seen, "models")}
    ox = rows["Ox", "steadiness"]
    # 1 everywhere; the others' mean is 0 on even questions and 1/2 on odd ones.
    assert float(ox["mean"]) == 1
    assert float(ox["gain"]) == pytest.approx((1 + 0.5) / 2)
    assert (ox["place"], ox["n_models"], ox["n"]) == ("1", "3", "12")
    percentile = LLMScore.objects.get(run__kind="aqer", model__name="Elk").percentile
    assert float(rows["Elk", "crowd_percentile"]["mean"]) == pytest.approx(percentile)


def test_the_page_answers_questions_and_shows_where_views_disagree(
    client, rivers, seen, rendered_messages
):
    client.force_login(rivers.owner)
    said = page(client, "results-run", run=seen.public_id)
    assert escape(QUESTIONS["uncertainty_distance"]) in said
    untold = [one for one in rendered_messages if one.code.endswith("_distance.untold")]
    assert untold
    for one in untold:
        assert escape(site_sentence(one.code, **one.values)) in said
    assert 'data-chart="views"' in said
    assert 'data-chart="view-correlations"' in said
    rows = table(client, seen, "disagreements")
    strengths = [float(row["strength"]) for row in rows]
    assert strengths == sorted(strengths, reverse=True)
    top = rows[0]
    assert f"<bdi>{top['model']}</bdi> on <bdi>{top['question']}</bdi>" in said
    assert top["text"] in said
    answers = {(name, question): text for name, question, text, _ in model_rows()}
    assert answers[top["model"], top["question"]] in said
    nearest = ExemplaryAnswer.objects.get(
        run__kind="aqer", question__external_id=top["question"]
    ).nearest_response
    assert nearest.text in said
    for name in ("views", "view-correlations"):
        picture = reverse("admin:results-chart", args=[seen.public_id, name])
        assert b"<svg" in client.get(picture).content


def test_a_disagreement_is_the_distance_of_places_among_all_answers(client, rivers, seen):
    client.force_login(rivers.owner)
    rows = table(client, seen, "views")
    # Steadiness: Elk's 12 and six of Yak are 0, the others 1; all 36 answers have a number.
    assert sum(float(row["steadiness"]) for row in rows) == 12 + 6
    ox = [row for row in rows if row["model"] == "Ox"]
    scores = sorted(float(row["crowd_score"]) for row in rows)
    farthest = min(ox, key=lambda row: float(row["crowd_score"]))
    below = sum(score < float(farthest["crowd_score"]) - 1e-9 for score in scores)
    ties = sum(abs(score - float(farthest["crowd_score"])) < 1e-9 for score in scores)
    near = (below + ties / 2) / 36
    # 18 of 36 are below it, and 18 the same.
    steady = (18 + 9) / 36
    # It is surest there among the 24 with a number: its score is the least, and it is sure so.
    sure = sorted(-float(row["sureness"]) for row in rows if row["sureness"])
    value = -float(farthest["sureness"])
    place = (sum(one < value - 1e-9 for one in sure) + sum(abs(one - value) < 1e-9 for one in sure) / 2) / 24  # noqa: E501  # fmt: skip
    right = sorted(float(row["right:direct"] == "1.0") for row in rows if row["right:direct"])
    own = float(farthest["right:direct"])
    noticed = (sum(one < own for one in right) + sum(one == own for one in right) / 2) / 24
    places = [near, place, steady, noticed]
    assert float(farthest["disagreement"]) == pytest.approx(max(places) - min(places))


@pytest.mark.medium
def test_a_model_has_a_page_that_says_what_it_knows(client, rivers, seen, rendered_messages):
    client.force_login(rivers.owner)
    models = ViewsSummary.from_json(seen.summary).models
    said = page(client, "results-views-model", run=seen.public_id, place=models.index("Elk"))
    told = {one.code: one.values for one in rendered_messages}
    for name, heading in CLAIMS.items():
        assert f'<h2 id="claim-{name}">{heading}</h2>' in said
    assert told["views.sure.yes"]["value"] == pytest.approx(1.0)
    percentile = LLMScore.objects.get(run__kind="aqer", model__name="Elk").percentile
    assert told["views.crowd_percentile"]["value"] == percentile
    robust = told["views.mean_robustness"]
    assert (robust["against"], robust["gain"]) == ("worse", pytest.approx(-0.75))
    for code in ("views.sure.yes", "views.crowd_percentile", "views.mean_robustness"):
        assert escape(site_sentence(code, **told[code])) in said
    rendered_messages.clear()
    graded = Run.objects.get(kind="aqer")
    assert reverse("admin:results-run", args=[graded.public_id]) in said
    other = page(client, "results-views-model", run=seen.public_id, place=models.index("Ox"))
    surer = next(one for one in rendered_messages if one.code == "views.sure.no")
    assert escape(site_sentence(surer.code, **surer.values)) in other
    assert client.get(
        reverse("admin:results-views-model", args=[seen.public_id, 3])
    ).status_code == 404  # fmt: skip


@pytest.mark.medium
def test_sides_that_nobody_looked_from_are_offered_as_the_next_step(client, rivers, graded):
    run = done(rivers)
    client.force_login(rivers.owner)
    said = page(client, "results-run", run=run.public_id)
    assert reverse("admin:start", args=[rivers.public_id, "sure"]) in said
    assert reverse("admin:start", args=[rivers.public_id, "eloquent"]) in said
    assert 'id="no-comparison"' not in said  # people disagree more or less
    model = page(client, "results-views-model", run=run.public_id, place=0)
    assert "Not evaluated yet:" in model
    assert reverse("admin:start", args=[rivers.public_id, "steady"]) in model
    assert 'id="no-chart"' in said


@pytest.mark.medium
def test_a_newer_run_is_told_and_older_runs_count_for_models_nobody_else_tells(
    client, rivers, graded
):  # fmt: skip
    scores = scores_of(graded)
    version = rivers.latest_version()
    told(version, "steady", steady_rows(scores))
    told(version, "steady", [("Ox", "q0", "", None, None, 0.25, "")])
    run = done(rivers)
    client.force_login(rivers.owner)
    rows = table(client, run, "views")
    steady = {(r["model"], r["question"]): r["steadiness"] for r in rows}
    # Ox as the newest run tells it; Elk and Yak as the one before.
    assert steady["Ox", "q0"] == "0.25"
    assert steady["Ox", "q1"] == ""
    assert (steady["Elk", "q1"], steady["Yak", "q1"]) == ("0.0", "1.0")
    assert 'id="newer"' not in page(client, "results-run", run=run.public_id)
    told(version, "sure", sure_rows(scores))
    assert 'id="newer"' in page(client, "results-run", run=run.public_id)


@pytest.mark.medium
def test_two_gradings_are_never_mixed(client, rivers, graded):
    again = done(rivers, AqerParameters(embedder="tfidf-char", bootstrap=0), "aqer")
    run = done(rivers)
    client.force_login(rivers.owner)
    rows = table(client, run, "views")
    scores = scores_of(again)
    assert scores != scores_of(graded)
    for row in rows:
        assert float(row["crowd_score"]) == pytest.approx(scores[row["model"], row["question"]])
    assert [one["run"] for one in run.summary["sources"]] == [str(again.public_id)]


@pytest.mark.medium
def test_every_answer_is_listed_page_by_page_and_by_model(client, rivers, seen, monkeypatch):
    client.force_login(rivers.owner)
    address = reverse("admin:results-views-answers", args=[seen.public_id])
    # The first and the last answer of the page, and how many there are.
    for asked, expected in (
        ({}, [1, 36, 36]),
        ({"model": 1}, [1, 12, 12]),
        ({"start": 30}, [31, 36, 36]),
    ):
        said = client.get(address, asked).content.decode()
        assert numbers_of(said.split('id="answers">')[1].split("</p>")[0]) == expected
    assert client.get(address, {"model": 9}).status_code == 404
    assert client.get(address, {"start": "many"}).status_code == 404


def test_tables_are_taken_away_as_workbooks_too(client, rivers, seen):
    client.force_login(rivers.owner)
    address = reverse("admin:results-table", args=[seen.public_id, "views"])
    sent = b"".join(client.get(address, {"format": "xlsx"}))
    sheet = load_workbook(io.BytesIO(sent)).active
    assert sheet.max_row == 1 + 36
    assert client.get(address, {"format": "pdf"}).status_code == 404


def test_the_report_is_read_over_rest(rivers, seen):
    asking = APIClient()
    asking.force_authenticate(rivers.owner)
    sent = asking.get(f"/api/v1/runs/{seen.public_id}/results/").json()
    assert [one["kind"] for one in sent["sources"]] == ["aqer", "sure", "steady"]
    assert sent["answered"][0]["name"] == "uncertainty_distance"
    elk = next(one for one in sent["models"] if one["model"] == "Elk")
    assert [claim["name"] for claim in elk["claims"]] == [
        *("knows", "knows_that_not", "says_the_same"),
    ]
    assert sent["missing"] == []
    listed = asking.get(f"/api/v1/runs/{seen.public_id}/results/tables/").json()["results"]
    assert [one["name"] for one in listed] == [
        *("views", "correlations", "models", "disagreements"),
    ]
    started = asking.post(
        "/api/v1/runs/",
        {"question_set": str(rivers.public_id), "kind": "views"},
        format="json",
    )
    assert started.status_code == 202, started.json()


def test_without_any_run_it_says_what_to_do(rivers):
    with pytest.raises(OptionError) as refused:
        runs.queue_run(rivers.latest_version(), rivers.owner_id, ViewsParameters(), "views")
    assert [one.code for one in refused.value.problems] == ["no_views"]


def test_a_grading_without_models_is_told_when_it_runs(rivers):
    LLMResponse.objects.all().delete()
    done(rivers, GRADING, "aqer")
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, ViewsParameters(), "views")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "failed"
    assert Message.from_stored(run.error) == Message("run.nothing_to_view")


@pytest.mark.medium
def test_the_page_of_the_set_and_of_a_model_lead_to_it(client, rivers, seen):
    client.force_login(rivers.owner)
    said = page(client, "question-set", set_id=rivers.public_id)
    assert f'href="{reverse("admin:results-run", args=[seen.public_id])}">All views</a>' in said
    assert reverse("admin:start", args=[rivers.public_id, "views"]) in said
    elk = LLMScore.objects.filter(model__name="Elk").first().model
    answers = page(client, "model-answers", set_id=rivers.public_id, model_id=elk.public_id)
    place = ViewsSummary.from_json(seen.summary).models.index("Elk")
    assert reverse("admin:results-views-model", args=[seen.public_id, place]) in answers


@pytest.mark.medium
def test_the_same_seed_gives_the_same_numbers(rivers, seen):
    again = done(rivers)
    assert again.input_hash == seen.input_hash
    assert again.signature == seen.signature
    assert again.summary["correlations"] == seen.summary["correlations"]
    other = done(rivers, ViewsParameters(bootstrap=100, seed=1))
    assert other.summary["correlations"] != seen.summary["correlations"]


def test_pages_take_few_queries_however_many_answers_there_are(
    client, rivers, seen, django_assert_max_num_queries
):  # fmt: skip
    client.force_login(rivers.owner)
    assert Question.objects.count() == 12
    for name, ids in (("results-run", {}), ("results-views-answers", {}), ("results-views-model", {"place": 0})):  # noqa: E501  # fmt: skip
        with django_assert_max_num_queries(30):
            page(client, name, run=seen.public_id, **ids)


@pytest.mark.medium
def test_only_who_sees_answers_sees_it(client, rivers, seen, django_user_model):
    users = django_user_model.objects
    outsider = users.create_user("otto", password="x", is_staff=True)
    expert, viewer = (users.create_user(name, is_staff=True) for name in ("ed", "vera"))
    for user, role in ((expert, Share.Role.EXPERT), (viewer, Share.Role.VIEWER)):
        Share.objects.create(question_set=rivers, user=user, role=role)
    pages = [
        reverse("admin:results-views", args=[seen.public_id]),
        reverse("admin:results-views-answers", args=[seen.public_id]),
        reverse("admin:results-views-model", args=[seen.public_id, 0]),
        reverse("admin:results-table", args=[seen.public_id, "views"]),
    ]
    for user, status in ((outsider, 404), (expert, 404), (viewer, 200)):
        client.force_login(user)
        assert [client.get(page).status_code for page in pages] == [status] * 4, user
    told(rivers.latest_version(), "sure", sure_rows(scores_of(Run.objects.get(kind="aqer"))))
    for user, may in ((viewer, False), (rivers.owner, True)):
        client.force_login(user)
        shown = client.get(reverse("admin:results-run", args=[seen.public_id]))
        newer = shown.content.decode().split('id="newer"')[1].split("</div>")[0]
        assert (f'href="{escape(shown.context["again"])}"' in newer) == may
