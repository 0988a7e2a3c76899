"""The pages that compare language models: the set's leaderboard, and two models side by side."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import escape

from annotations.models import Question
from evaluation.core.options import SITE
from evaluation.models import LanguageModel, LLMComparison, LLMScore, Run, RunOfRecord
from evaluation.models.runs import GRADING
from tests.annotations import world as people
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.compared import compared, model_of, stays_a_draft, with_costs
from tests.evaluation.site.conftest import FOR_THE_READER
from tests.evaluation.site.handles import element_text, element_texts, numbers, states
from tests.evaluation.site.test_pages import HOSTILE, body, page, rows_of
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db


def board(run):
    return reverse("admin:compare-models", args=[run.version.question_set.public_id])


def pair_page(run, first, second):
    return page("results-pair", run, first=model_of(run, first), second=model_of(run, second))


def test_the_page_says_first_who_is_better_than_whom(site, rana):
    run = compared(rana)
    shown = site.get(board(run))
    text = body(shown)
    verdict = shown.context_data["report"].verdict
    values = verdict.values
    assert (verdict.code, values["leader"]) == ("comparison.leads_some", "Ox 2")
    assert (values["behind"], values["next"]) == ("“Elk”", "Elk")
    assert values["difference"] == pytest.approx(0.295)
    said = re.search(r'<p class="results-asked"[^>]*>([^<]+)</p>', text)[1]
    assert said == SITE.format_message(verdict)
    assert "<svg" in text
    # The leader is better than 1, and 1 cannot be distinguished from it.
    rows = re.findall(r'data-label="Against the others">([^<]+)<', text)
    assert numbers(rows[0]) == [1, 1]
    assert "Version against version" in text
    assert "By category" in text
    assert "no_time_or_cost" in states(text)


def test_the_set_leads_to_it_where_there_are_models(site, rana):
    run = compared(rana)
    of_set = reverse("admin:question-set", args=[run.version.question_set.public_id])
    assert f'href="{board(run)}"' in body(site.get(of_set))
    assert board(run) in body(site.get(page("results-models", run)))
    LanguageModel.objects.filter(owner=rana)
    other = people.version(rana, "empty")
    of_other = reverse("admin:question-set", args=[other.question_set.public_id])
    assert reverse("admin:compare-models", args=[other.question_set.public_id]) not in body(
        site.get(of_other)
    )


def test_time_and_cost_stand_where_answers_came_with_them(site, rana):
    run = compared(rana)
    with_costs(run, "Elk", seconds=1.25, cost=0.00031)
    text = body(site.get(board(run)))
    assert '<td class="cg-number" data-label="Seconds an answer">1.25</td>' in text
    assert '<td class="cg-number" data-label="Cost an answer">0.00031</td>' in text
    assert not {"no_time_or_cost", "no_cost"} & set(states(text))
    (elk,) = (
        row
        for row in rows_of(site.get(page("results-table", run, name="leaderboard")))
        if row["model"] == "Elk"
    )
    assert (elk["seconds"], elk["cost"], elk["rank"]) == ("1.25", "0.00031", "3")
    assert (elk["family"], elk["strategy"], elk["human_ceiling"]) == ("Ox", "passage", "0.81")


def test_a_set_that_was_not_graded_has_a_way_to_that(site, rana):
    version = people.version(rana)
    address = reverse("admin:compare-models", args=[version.question_set.public_id])
    text = body(site.get(address))
    assert "not_graded" in states(text)
    assert reverse("admin:grade", args=[version.question_set.public_id]) in text


def test_a_run_without_models_says_so(site, rana):
    run = world.finished(n_models=0, owner=rana)
    text = body(site.get(board(run)))
    assert "no_models" in states(text)
    assert site_sentence("comparison.no_models") in text


def test_it_opens_with_the_newest_run_that_has_models(site, rana):
    run = compared(rana)
    bare = Run.objects.create(
        owner=rana, version=run.version, state=Run.State.DONE, finished_at=run.finished_at
    )
    RunOfRecord.objects.create(
        question_set=run.version.question_set, kind=GRADING, run=bare, chosen_at=run.finished_at
    )
    assert site.get(board(run)).context_data["run"] == run
    asked = site.get(f"{board(run)}?run={bare.public_id}")
    assert asked.context_data["run"] == bare
    LLMScore.objects.all().delete()
    assert site.get(board(run)).context_data["run"] == bare


def test_one_model_stands_alone(site, rana):
    run = world.finished(n_models=1, owner=rana)
    text = body(site.get(board(run)))
    assert site_sentence("comparison.only_model", leader="model 0", score=0.6) in text
    assert 'id="two"' not in text


def test_models_that_answered_later_are_to_be_graded(site, rana):
    run = compared(rana)
    LLMScore.objects.filter(run=run, model__name="Elk").delete()
    text = body(site.get(board(run)))
    unscored = element_text(text, "models_unscored")
    assert numbers(unscored) == [1]
    assert "Elk" in unscored
    again = reverse("admin:grade", args=[run.version.question_set.public_id])
    assert f'href="{again}?like={run.public_id}"' in text


def test_a_run_and_a_correction_can_be_chosen(site, rana):
    run = compared(rana)
    assert site.get(f"{board(run)}?run={run.public_id}").status_code == 200
    text = body(site.get(f"{board(run)}?correction=benjamini-hochberg"))
    assert "Benjamini-Hochberg's correction" in text
    strange = world.finished(owner=User.objects.create(username="otto"))
    for wrong in (f"run={strange.public_id}", "run=x", "correction=none"):
        assert site.get(f"{board(run)}?{wrong}").status_code == 404


def test_who_may_not_see_the_answers_does_not_find_it(client, rana):
    run = compared(rana)
    client.force_login(User.objects.create(username="otto", is_staff=True))
    assert client.get(board(run)).status_code == 404
    assert client.get(pair_page(run, "Elk", "Ox 1")).status_code == 404


def test_two_models_stand_side_by_side(site, rana):
    run = compared(rana)
    shown = site.get(pair_page(run, "Ox 2", "Ox 1"))
    text = body(shown)
    verdict = shown.context_data["detail"].verdict
    values = verdict.values
    assert (verdict.code, values["first"], values["second"]) == (
        *("comparison.pair_alike", "Ox 2", "Ox 1"),
    )
    assert values["difference"] == pytest.approx(0.05)
    assert escape(SITE.format_message(verdict)) in text
    assert "versions_of_one_model" in states(text)
    assert "model 1 on r11" in text
    assert "model 0 on r11" in text
    assert "river r11 runs north, says w001" in text
    # 1 of them rests on fewer than 10 questions.
    assert [numbers(said) for said in element_texts(text, "small_groups")] == [[1, 10]]
    worse = body(site.get(pair_page(run, "Ox 2", "Ox 1") + "?order=second"))
    assert re.findall(r"<bdi>(r\d+)</bdi>", worse) == ["r11", "r12"]


def test_right_and_wrong_stand_where_there_is_a_key(site, rana, monkeypatch):
    stays_a_draft(monkeypatch)
    run = compared(rana)
    assert 'id="right"' not in body(site.get(pair_page(run, "Ox 2", "Ox 1")))
    Question.objects.filter(version=run.version, external_id="r1").update(
        kind="extractive", accepted_answers=["model 1 on r1"]
    )
    text = body(site.get(pair_page(run, "Ox 2", "Ox 1")))
    assert "1 of 1</strong> right by <bdi>Ox 2" in text
    assert "0 of 1</strong> right by <bdi>Ox 1" in text
    # One question, on which one of the two is right: p is 1.
    assert numbers(element_text(text, "mcnemar")) == [1]


def test_questions_come_page_by_page(site, rana, monkeypatch):
    places = "evaluation.model_comparison.views.load_differences_page.__defaults__"
    monkeypatch.setattr(places, ("largest", 0, 5))
    run = compared(rana)
    address = pair_page(run, "Ox 2", "Ox 1")
    first = body(site.get(address))
    assert "(1 to 5 of 12)" in first
    link = re.search(r'href="(\?start=5)#questions"', first)[1]
    assert "(6 to 10 of 12)" in body(site.get(address + link))
    last = body(site.get(address + "?start=10"))
    assert "last_page" in states(last)
    assert "last_page" not in states(first)
    assert numbers(element_text(last, "questions-shown")) == [11, 12, 12]
    assert "On no question" in body(site.get(address + "?start=99"))
    for wrong in ("start=-1", "start=x", "order=best", "correction=x"):
        assert site.get(f"{address}?{wrong}").status_code == 404


def test_the_form_of_any_two_leads_to_their_page(site, rana):
    run = compared(rana)
    one, other = model_of(run, "Elk"), model_of(run, "Ox 1")
    two = page("results-two", run)
    found = site.get(f"{two}?first={one}&second={other}&correction=benjamini-hochberg")
    assert found.url == pair_page(run, "Elk", "Ox 1") + "?correction=benjamini-hochberg"
    assert site.get(f"{two}?first={one}&second={one}").url.startswith(
        page("results-comparison", run)
    )
    assert site.get(f"{two}?first={one}").url.startswith(page("results-comparison", run))
    assert site.get(f"{two}?first=x").status_code == 404


def test_groups_can_be_taken_away(site, rana):
    run = compared(rana)
    rows = rows_of(site.get(page("results-table", run, name="groups")))
    assert [(row["group"], row["model"], row["n"], row["small"]) for row in rows[:2]] == [
        ("north", "Ox 2", "10", "False"),
        ("north", "Ox 1", "10", "False"),
    ]
    which = f"?first={model_of(run, 'Ox 2')}&second={model_of(run, 'Ox 1')}"
    rows = rows_of(site.get(page("results-table", run, name="pair-groups") + which))
    assert [(row["group"], round(float(row["difference"]), 9)) for row in rows] == [
        ("north", 0.1),
        ("south", -0.2),
    ]
    assert "<svg" in body(site.get(page("results-chart", run, name="by-category") + which))
    assert site.get(page("results-chart", run, name="by-passage") + which).status_code == 404


def test_texts_of_models_and_questions_stay_texts(site, rana):
    run = compared(rana)
    LanguageModel.objects.filter(name="Elk").update(name=HOSTILE, notice=HOSTILE)
    Question.objects.filter(version=run.version, external_id="r1").update(category=HOSTILE)
    model = run.llm_scores.get(model__name=HOSTILE).model.public_id
    address = page("results-pair", run, first=model, second=model_of(run, "Ox 1"))
    for text in (body(site.get(board(run))), body(site.get(address))):
        assert "<script>alert" not in text
        assert escape(HOSTILE) in text


def test_the_pages_take_a_constant_number_of_queries(site, rana, django_assert_max_num_queries):
    run = compared(rana)
    with django_assert_max_num_queries(27):
        site.get(board(run))
    with django_assert_max_num_queries(17 + FOR_THE_READER):
        site.get(pair_page(run, "Ox 2", "Ox 1"))


def test_pairs_that_were_never_recorded_are_not_compared(site, rana):
    run = compared(rana)
    LLMComparison.objects.filter(run=run).delete()
    assert site_sentence("comparison.not_recorded", models=3) in body(site.get(board(run)))
    address = page("results-pair", run, first=model_of(run, "Elk"), second=model_of(run, "Ox 1"))
    assert site.get(address).status_code == 404
