"""The page "Can I trust this?"."""

import pytest
from django.urls import reverse

from evaluation.consensus.inputs import build_truncation_warning
from evaluation.core.backends import EmbedderInfo
from evaluation.core.options import SITE
from evaluation.core.text.quality import find_language_warning, find_short_answer_warning
from evaluation.models import ExemplaryAnswer, Run
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import looked
from tests.evaluation.site.handles import element_text, states
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db
COPIES = {
    "check": "copies",
    "statistic": None,
    "threshold": 0.5,
    "rings": False,
    "reason": "no_pair_shares_10_questions",
}


def page(site, run):
    response = site.get(reverse("admin:results-trust", kwargs={"run": run.public_id}))
    assert response.status_code == 200
    return response


def facts_of(response):
    return {fact.name: fact for fact in response.context_data["report"].facts}


def test_every_check_has_a_word_beside_its_colour(site, rana):
    response = page(site, world.finished(owner=rana, n_workers=14))
    shown = response.content.decode()
    facts = facts_of(response)
    assert {"alarms", "workers", "answers", "support", "stability", "experts"} <= facts.keys()
    for fact in facts.values():
        assert f"</span>{fact.word}</p>" in shown
        assert fact.title in shown


def test_the_worst_comes_first_and_makes_the_verdict(site, rana):
    run = world.finished(owner=rana, n_workers=4)
    report = page(site, run).context_data["report"]
    levels = [fact.level for fact in report.facts]
    assert levels == sorted(levels, key=["bad", "care", "unknown", "good"].index)
    assert report.verdict.level == levels[0] == "bad"
    assert facts_of(page(site, run))["workers"].level == "bad"


def test_the_facts_are_those_of_the_run(site, rana):
    run = world.finished(owner=rana, n_workers=14, n_questions=10)
    ids = ExemplaryAnswer.objects.filter(run=run).values_list("pk", flat=True)[:2]
    ExemplaryAnswer.objects.filter(pk__in=list(ids)).update(n_answers=2)
    warnings = [
        "THE MODEL MiniLM KNOWS ENGLISH ONLY, but <b>half</b> is not: numbers mean little.",
        "Most answers are short or numeric (80%), and the comparison hardly sees one wrong fact",
        "3 answers are longer than the 256 tokens that MiniLM reads; the rest was ignored",
    ]
    summary = run.summary | {"draw_agreement": 0.85, "converged": False}
    Run.objects.filter(pk=run.pk).update(warnings=warnings, summary=summary)
    response = page(site, run)
    facts = facts_of(response)
    assert facts["workers"].level == "good"
    assert "2 of 10 questions" in SITE.format_message(facts["answers"].said)
    assert facts["convergence"].level == "care"
    assert (facts["stability"].level, "0.85" in SITE.format_message(facts["stability"].said)) == (
        "care",
        True,
    )
    assert (facts["language"].level, SITE.format_message(facts["language"].said)) == (
        "bad",
        warnings[0],
    )
    assert facts["shortness"].level == "bad"
    assert facts["truncation"].level == "care"
    assert "<b>half</b>" not in response.content.decode()


def test_a_warning_of_the_engine_is_what_the_page_says(site, rana):
    info = EmbedderInfo("minilm", "MiniLM", "", "float32", 384, 256, "en")
    warnings = [
        find_language_warning(["Где находится эта река, кто знает?"] * 9, info),
        build_truncation_warning(3, info),
        find_short_answer_warning(["1866"], "minilm"),
    ]
    run = world.finished(owner=rana, n_workers=14)
    Run.objects.filter(pk=run.pk).update(warnings=[w.as_dict() for w in warnings])
    facts = facts_of(page(site, run))
    found = [facts[name] for name in ("language", "truncation", "shortness")]
    assert [(fact.level, fact.said) for fact in found] == [
        *zip(("bad", "care", "bad"), warnings, strict=True)
    ]


def test_the_page_says_what_was_measured_and_what_cannot_be_seen(site, rana):
    shown = page(site, world.finished(owner=rana)).content.decode()
    for words in ("0.919", "-1.000", "It broke", "half of their own right content"):
        assert words in shown


def test_a_copy_check_that_did_not_run_is_not_good_on_any_page(site, rana):
    run = looked(world.finished(owner=rana, n_workers=14), [COPIES])
    fact = facts_of(page(site, run))["alarms"]
    assert (fact.result, fact.needed, fact.case) == ("not_enough_data", 10, "unchecked")
    for name in ("results-run", "results-summary"):
        response = site.get(reverse(f"admin:{name}", kwargs={"run": run.public_id}))
        report = response.context_data["report"]
        facts = getattr(report, "decision", report).not_enough_data
        assert "alarms" in [one.name for one in facts]
        assert "not_enough_data" in states(response.content.decode())
    for name in ("results-people", "results-alarms"):
        response = site.get(reverse(f"admin:{name}", kwargs={"run": run.public_id}))
        assert "alarms_unchecked" in states(response.content.decode())


def test_length_is_a_fact_of_the_page_of_the_decision_and_of_rest(site, rana):
    run = world.finished(owner=rana, n_workers=14)
    assert "length" not in facts_of(page(site, run))  # of a run from before it was measured
    summary = run.summary | {"length": {"correlation": 0.8, "n": 14, "reason": None}}
    Run.objects.filter(pk=run.pk).update(summary=summary)
    fact = facts_of(page(site, run))["length"]
    assert (fact.level, fact.case, fact.values["workers"]) == ("care", "much", 14)
    assert fact.values["share"] == pytest.approx(0.64)
    concerns = site.get(reverse("api:results-decision", args=[run.public_id])).json()["concerns"]
    assert "length" in [one["name"] for one in concerns]
    facts = site.get(reverse("api:results-trust", args=[run.public_id])).json()["facts"]
    assert {one["name"]: one["result"] for one in facts}["length"] == "problem"


def test_a_run_that_is_not_done_says_so(site, rana):
    run = world.ended("failed", error="the server answered 401", owner=rana)
    response = site.get(reverse("admin:results-trust", kwargs={"run": run.public_id}))
    assert "run_failed" in states(response.content.decode())


@pytest.mark.parametrize("place", ["trust", "people", "summary"])
def test_a_run_without_an_entailment_model_says_that_contradictions_are_not_seen(site, rana, place):
    run = world.finished(owner=rana)
    address = reverse(f"admin:results-{place}", kwargs={"run": run.public_id})

    def said():
        return element_text(site.get(address).content.decode(), "contradictions")

    assert said().startswith(site_sentence("meaning.unseen"))
    found = {"model": "small", "contradicts": 1, "contested": 2, "agrees": 3, "open": 4}
    meaning = {**found, "questions": 5}
    summary = run.summary | {"facts": {"questions": 5, "meaning": meaning}}
    Run.objects.filter(pk=run.pk).update(summary=summary)
    assert said().startswith(site_sentence("meaning.found", **meaning))
