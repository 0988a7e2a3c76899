"""The summary of a run holds, on paper, what its pages hold."""

import re

import pytest
from django.utils.html import escape

from annotations.models import QuestionSet, Response, Worker
from evaluation.consensus.parameters import REMEDIES, AqerParameters
from evaluation.core.options import SITE
from evaluation.grading.remedies.report import NAMES
from evaluation.models import LLMScore, Run, WorkerGrade
from evaluation.trust.report import build_trust_report
from evaluation.trust.report.decision import build_decision
from evaluation.trust.report.summary import (
    BEYOND,
    LIMITS,
    NO_INTERVALS,
    NOTHING_BEYOND,
    build_summary_report,
    describe_method_changes,
    list_method_changes,
)
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked
from tests.evaluation.site.handles import element_text, numbers, states
from tests.evaluation.site.test_pages import HOSTILE, body, page
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db


def test_the_summary_holds_method_signature_tables_warnings_and_limits(site, rana):
    run = world.finished(owner=rana)
    Run.objects.filter(pk=run.pk).update(warnings=["Beware of <floods>"])
    text = body(site.get(page("results-summary", run)))
    assert run.signature in text
    assert "Most iterations" in text  # a setting the run did not name
    assert "Beware of &lt;floods&gt;" in text
    assert "AQER (Yahav" in text
    for name in ("w001", "w004", "r6", "model 1"):
        assert name in text
    assert text.count("<li>") >= len(LIMITS)


def test_the_decision_stands_before_the_tables(site, rana):
    text = body(site.get(page("results-summary", world.finished(owner=rana))))
    parts = ("verdict", "best", "look", "alarms", "best-model", "made")
    parts += ("workers", "questions", "limits")
    places = [text.index(f'<h2 id="{part}"') for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("rings", [False, True])
def test_paper_first_page_and_trust_say_the_same(site, rana, rings):
    run = looked(world.finished(owner=rana, n_workers=20, n_questions=12))
    if rings:
        alarm(run, workers=["w001", "w002"])
    report = build_trust_report(run)
    headline = escape(SITE.format_message(report.verdict.headline))
    assert rings == (report.verdict.level == "bad")
    experts = next(fact for fact in report.facts if fact.name == "experts")
    for name in ("results-summary", "results-run", "results-trust"):
        text = body(site.get(page(name, run)))
        assert headline in text
        for fact in report.facts:
            if fact.level in ("bad", "care"):
                assert escape(SITE.format_message(fact.said)) in text
    text = body(site.get(page("results-summary", run)))
    assert text.count(escape(SITE.format_message(experts.said))) == 1  # told once, in one sentence
    assert [person.row.name for person in build_summary_report(run).decision.look_at] == [
        person.row.name for person in build_decision(run).look_at
    ]


def test_the_method_is_told_with_the_parameters_of_the_run(rana):
    run = world.finished(owner=rana)
    words = " ".join(build_summary_report(run).method)
    embedding = run.summary["embedding"]
    assert f"{embedding['model']} ({embedding['precision']})" in words
    assert "after 3 rounds they settled" in words
    assert (list_method_changes(run), describe_method_changes(run)) == ([], NOTHING_BEYOND)
    assert NO_INTERVALS not in words
    assert "400 bootstrap draws of questions (seed 0)" in words
    run.parameters = {
        "similarity": "euclidean",
        "leave_one_out": True,
        "bootstrap": 0,
        "init": "random",
        "seed": 7,
    }
    words = " ".join(build_summary_report(run).method)
    assert "negative Euclidean distance" in words
    assert list_method_changes(run) == ["leave_one_out"]
    assert BEYOND["leave_one_out"] in describe_method_changes(run)
    assert NO_INTERVALS in words
    assert "at random (seed 7)" in words


def test_a_run_with_remedies_is_not_called_the_published_method(site, rana):
    run = world.finished(owner=rana)
    run.parameters = {"collapse_copies": True, "weight_cap": 0.1, "unit_length": True}
    run.save()
    words = body(site.get(page("results-summary", run)))
    assert NOTHING_BEYOND not in words
    changes = ["collapse_copies", "weight_cap", "unit_length"]
    assert list_method_changes(run) == changes
    assert f": {', '.join(BEYOND[name] for name in changes)}." in words
    options = AqerParameters.get_options().values()
    gathered = {one.name for one in options if one.group == REMEDIES and one.gathered}
    assert gathered == set(NAMES)  # a new remedy has words here


@pytest.mark.long
def test_the_best_and_the_worst_are_on_paper_and_the_middle_is_counted(site, rana):
    # 230 people, of whom the last has no rank: 229 ranked, of which 40 + 20 are shown.
    run = world.finished(n_workers=230, n_questions=30, n_models=0, owner=rana)
    report = build_summary_report(run)
    assert [row.name for row in (*report.workers.first[:1], *report.workers.last[-2:])] == [
        *("w001", "w228", "w229")
    ]
    assert [len(report.workers.first), report.workers.between, len(report.workers.last)] == [
        *(40, 229 - 40 - 20, 20)
    ]
    assert ([row.name for row in report.unranked], report.unranked_left_out) == (["w230"], 0)
    # 30 questions, the last with the most disagreement: 15 from there, 5 from the other end.
    assert [row.name for row in report.questions.first[:2]] == ["r30", "r29"]
    assert [row.name for row in report.questions.last] == ["r5", "r4", "r3", "r2", "r1"]
    text = body(site.get(page("results-summary", run)))
    assert numbers(element_text(text, "workers-between")) == [169]
    assert numbers(element_text(text, "questions-between")) == [10]
    assert "w041" not in text
    assert text.index(">w040<") < text.index('id="workers-between"') < text.index(">w210<")
    assert site_sentence("comparison.no_models") in text


def test_the_worst_two_of_42_are_on_paper(site, rana):
    run = world.finished(n_workers=42, owner=rana)
    report = build_summary_report(run)
    names = [row.name for row in (*report.workers.first, *report.unranked)]
    assert names == [f"w{i:03}" for i in range(1, 43)]
    assert report.workers.between == 0
    assert 'id="workers-between"' not in body(site.get(page("results-summary", run)))


def test_more_people_without_a_rank_than_paper_holds_are_counted(site, rana):
    run = world.finished(n_workers=30, owner=rana)
    nowhere = {"rank": None, "rank_low": None, "rank_high": None, "support": False}
    WorkerGrade.objects.filter(run=run, rank__gt=10).update(**nowhere)
    report = build_summary_report(run)
    assert (len(report.workers), len(report.unranked), report.unranked_left_out) == (10, 10, 10)
    text = body(site.get(page("results-summary", run)))
    assert numbers(element_text(text, "unranked-more")) == [10]


def test_texts_stay_texts(site, rana):
    run = world.finished(owner=rana)
    Response.objects.update(text=HOSTILE)
    Worker.objects.filter(external_id="w001").update(external_id=HOSTILE)
    QuestionSet.objects.update(name=HOSTILE, notice=HOSTILE)
    LLMScore.objects.filter(run=run).update(reason="missing_answers")
    text = body(site.get(page("results-summary", run)))
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert all("src=" in tag for tag in re.findall("<script[^>]*>", text))
    assert not re.search(r"\sstyle=", text)


def test_a_run_without_results_has_no_summary(site, rana):
    text = body(site.get(page("results-summary", world.queued(rana))))
    assert "run_queued" in states(text)


@pytest.mark.parametrize("n_workers", [5, 120])
def test_the_page_takes_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = world.finished(n_workers=n_workers, owner=rana)
    with django_assert_max_num_queries(48):
        assert site.get(page("results-summary", run)).status_code == 200
