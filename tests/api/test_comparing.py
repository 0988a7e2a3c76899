"""The API compares models as the pages do."""

import pytest

from evaluation.core.options import API
from evaluation.model_comparison.report import build_leaderboard, build_pair_detail
from tests.evaluation.grading.results import world as graded
from tests.evaluation.grading.results.compared import SCORES, compared, model_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana):
    return compared(rana)


@pytest.fixture
def results(run):
    return f"runs/{run.public_id}/results/"


def test_the_leaderboard_of_a_run_and_of_its_set_are_one(api, rana, run, results):
    asking = api(rana)
    sent = asking.get(f"{results}leaderboard/").json()
    report = build_leaderboard(run)
    assert sent["verdict"] == API.format_message(report.verdict)
    assert [row["standing"]["name"] for row in sent["models"]] == list(SCORES)
    assert [row["rank"] for row in sent["models"]] == [1, 1, 3]
    assert sent["models"][0]["costs"]["reason"] == "cost_not_told"
    assert [entry["by"] for entry in sent["related"]] == ["version", "strategy"]
    of_set = f"question-sets/{run.version.question_set.public_id}/leaderboard/"
    assert asking.get(of_set).json() == sent
    assert asking.get(f"{of_set}?run={run.public_id}").json() == sent
    relaxed = asking.get(f"{of_set}?correction=benjamini-hochberg").json()
    assert relaxed["correction"] == "benjamini-hochberg"
    assert asking.get(f"{of_set}?correction=none").status_code == 400


def test_a_set_without_a_run_that_is_done_has_no_leaderboard(api, rana):
    run = graded.queued(rana)
    of_set = f"question-sets/{run.version.question_set.public_id}/leaderboard/"
    assert api(rana).get(of_set).status_code == 409


def test_two_models_in_full(api, rana, run, results):
    asking = api(rana)
    pair = f"{results}comparisons/{model_of(run, 'Ox 2')}/{model_of(run, 'Ox 1')}/"
    sent = asking.get(f"{pair}detail/").json()
    detail, _ = build_pair_detail(run, model_of(run, "Ox 2"), model_of(run, "Ox 1"))
    assert sent["verdict"] == API.format_message(detail.verdict)
    assert (sent["n_first"], sent["n_second"], sent["relation"]) == (10, 2, "version")
    assert [group["name"] for group in sent["groupings"][0]["groups"]] == ["north", "south"]
    rows = asking.get(f"{pair}questions/?limit=2").json()
    assert [row["name"] for row in rows["results"]] == ["r11", "r12"]
    rows = asking.get(rows["next"]).json()
    assert [row["name"] for row in rows["results"]] == ["r1", "r2"]
    worse = asking.get(f"{pair}questions/?order=second").json()
    assert ([row["name"] for row in worse["results"]], worse["next"]) == (["r11", "r12"], None)
    assert asking.get(f"{pair}questions/?order=best").status_code == 400


def test_groups_have_every_model(api, rana, run, results):
    (table,) = api(rana).get(f"{results}groups/").json()["results"]
    assert (table["by"], [group["is_small"] for group in table["groups"]]) == (
        "category", [False, True],
    )  # fmt: skip
    assert [model["name"] for model in table["groups"][0]["models"]] == list(SCORES)


def test_pairs_can_be_corrected_otherwise(api, rana, run, results):
    pairs = api(rana).get(f"{results}comparisons/?correction=benjamini-hochberg").json()
    assert pairs["correction"] == "benjamini-hochberg"


def test_strangers_find_none_of_it(api, otto, run, results):
    asking = api(otto)
    pair = f"{results}comparisons/{model_of(run, 'Ox 2')}/{model_of(run, 'Ox 1')}/"
    of_set = f"question-sets/{run.version.question_set.public_id}/leaderboard/"
    for address in (f"{results}leaderboard/", f"{results}groups/", f"{pair}detail/", of_set):
        assert asking.get(address).status_code == 404
