"""Settling which camp is right: the requester's page, and what experts see."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotations.models import Response, Share, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import SITE
from evaluation.models import HumanJudgement, JudgementRequest, Run
from evaluation.runs import judging
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.site.judging import PROBLEMS
from evaluation.triage.storage import decide_on_worker, take_back_verdict
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, answer
from tests.evaluation.site.handles import element_text, numbers, states

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} שלום"


@pytest.fixture(autouse=True)
def _no_bell(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def run(rana):
    run = world.finished(owner=rana, n_workers=8)
    for workers in (["w001", "w002", "w003"], ["w004", "w005", "w006"]):
        alarm(run, kind="two_camps", workers=workers)
    suggest(run, [("w001", "r1"), ("w004", "r1"), ("w001", "r2"), ("w004", "r2")])
    return world.fetched(run)


def suggest(run, answers):
    keys = [answer(run, worker, question).pk for worker, question in answers]
    remedies = {"suggested_anchors": {"count": len(keys), "reason": None, "responses": keys}}
    parameters = AqerParameters(embedder="bow", suggest_anchors=6, seed=3).as_dict()
    Run.objects.filter(pk=run.pk).update(
        summary=run.summary | {"remedies": remedies}, parameters=parameters
    )


def expert(run, name="ed"):
    user = User.objects.create(username=name)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    client = Client()
    client.force_login(user)
    return user, client


def anchors(run):
    return reverse("admin:results-anchors", kwargs={"run": run.public_id})


def start(run):
    return reverse("admin:judging", args=[run.version.question_set.public_id])


def tasks(run, user):
    asked = JudgementRequest.objects.filter(expert=user).order_by("place", "pk")
    of_set = run.version.question_set.public_id
    return [reverse("admin:judge", args=[of_set, task.public_id]) for task in asked]


def asked(site, run, name="ed"):
    user, client = expert(run, name)
    assert site.post(anchors(run), {"do": "ask", "expert": user.pk}).status_code == 302
    return user, client


def test_an_expert_is_given_the_suggested_answers_and_no_others(site, run):
    user, client = asked(site, run)
    given = set(JudgementRequest.objects.values_list("response", "expert"))
    stored = Run.objects.get(pk=run.pk).summary["remedies"]["suggested_anchors"]["responses"]
    assert given == {(key, user.pk) for key in stored}
    site.post(anchors(run), {"do": "ask", "expert": user.pk})  # twice changes nothing
    assert JudgementRequest.objects.count() == 4
    shown = client.get(start(run)).content.decode()
    assert numbers(element_text(shown, "judged-1")) == [0, 4]
    of_set = reverse("admin:question-set", args=[run.version.question_set.public_id])
    assert "to_judge" in states(client.get(of_set).content.decode())


def test_the_screen_of_an_expert_shows_question_and_answer_and_nothing_else(site, run):
    text = f"{HOSTILE} north"
    Response.objects.filter(pk=answer(run, "w001", "r1").pk).update(text=text)
    Response.objects.exclude(pk=answer(run, "w001", "r1").pk).update(text="quite another text")
    user, client = asked(site, run)
    seen = 0
    for task in tasks(run, user):
        page = client.get(task)
        assert page.status_code == 200
        said = page.content.decode()
        assert "<script>alert" not in said
        seen += "&lt;script&gt;" in said
        assert "Where is river" in said
        for hidden in ("w001", "w004", "camp", "score", str(run.public_id), "consensus", "rank"):
            assert hidden not in re.sub(r"(?s)<head>.*?</head>", "", said), hidden
        assert len(re.findall(r'name="grade" value="([0-5])"', said)) == 6
    assert seen == 1


def test_every_grade_is_saved_at_once_and_leads_to_the_next(site, run):
    user, client = asked(site, run)
    page = client.get(start(run)).context["queues"][0].progress.next
    for grade in (5, 0, 4, 1):
        task = reverse("admin:judge", args=[run.version.question_set.public_id, page])
        response = client.post(task, {"grade": str(grade)})
        assert response.status_code == 302
        assert HumanJudgement.objects.filter(expert=user, grade=grade).count() == 1
        page = response.url.rstrip("/").rpartition("/")[2]
    assert response.url == start(run)
    assert "judging_done" in states(client.get(start(run)).content.decode())


def test_sending_a_grade_twice_stores_it_once_and_it_can_be_changed(site, run):
    user, client = asked(site, run)
    first, second, *_ = tasks(run, user)
    for grade in ("3", "3", "4"):
        assert client.post(first, {"grade": grade}).status_code == 302
    assert list(HumanJudgement.objects.values_list("grade", flat=True)) == [4]
    assert 'value="4" aria-pressed="true"' in client.get(first).content.decode()
    assert first in client.get(second).content.decode()  # the way back


@pytest.mark.parametrize("grade", ["", "6", "-1", "4.25", "4,5", "5.5", "5; DROP", "²"])
def test_anything_but_a_grade_is_asked_again(site, run, grade):
    user, client = asked(site, run)
    response = client.post(tasks(run, user)[0], {"grade": grade})
    assert response.status_code == 400
    assert response.context["problem"] == PROBLEMS["grade"]
    assert PROBLEMS["grade"] in response.content.decode()
    assert not HumanJudgement.objects.exists()


def test_only_the_one_who_was_asked_may_judge(site, run):
    user, _ = asked(site, run)
    _, other = expert(run, "eve")
    for task in tasks(run, user):
        for somebody in (other, site):
            assert somebody.get(task).status_code == 404
            assert somebody.post(task, {"grade": "5"}).status_code == 404
    assert states(other.get(start(run)).content.decode()) == ["nothing_to_judge"]
    assert not HumanJudgement.objects.exists()


def test_who_is_no_longer_an_expert_of_the_set_sees_nothing(site, run):
    user, client = asked(site, run)
    [task, *_] = tasks(run, user)
    Share.objects.all().delete()
    assert client.get(task).status_code in (302, 404)
    assert client.post(task, {"grade": "5"}).status_code in (302, 404)
    assert not HumanJudgement.objects.exists()


def test_the_order_does_not_follow_the_suggestion(run, rana):
    stored = Run.objects.get(pk=run.pk).summary["remedies"]["suggested_anchors"]["responses"]
    orders = set()
    for at in range(8):
        user = User.objects.create(username=f"expert {at}")
        judging.request_answer_judgements(run, Response.objects.in_bulk(stored).values(), user.pk)
        places = JudgementRequest.objects.filter(expert=user).order_by("place", "pk")
        orders.add(tuple(places.values_list("response", flat=True)))
    assert len(orders) > 1  # by chance alike once in 24 ** 7


def test_only_experts_of_the_set_can_be_asked(site, run):
    stranger = User.objects.create(username="stranger")
    for who in (stranger.pk, "x", ""):
        site.post(anchors(run), {"do": "ask", "expert": who})
    assert not JudgementRequest.objects.exists()


def test_a_requester_may_grade_them_too(site, rana, run):
    response = site.post(anchors(run), {"do": "ask", "expert": rana.pk})
    assert response.url == start(run)
    assert site.get(tasks(run, rana)[0]).status_code == 200


def test_answers_are_suggested_by_a_run_like_this_one(site, run):
    Run.objects.filter(pk=run.pk).update(summary={**run.summary, "remedies": {}})
    assert "Find 6 answers" in site.get(anchors(run)).content.decode()
    site.post(anchors(run), {"do": "suggest"})
    started = Run.objects.latest("pk")
    assert started.pk != run.pk
    assert (started.parameters["suggest_anchors"], started.parameters["seed"]) == (6, 3)


def test_the_run_with_anchors_can_be_started_once_grades_differ(site, run):
    user, client = asked(site, run)
    first, second, *_ = tasks(run, user)
    client.post(first, {"grade": "5"})
    client.post(second, {"grade": "5"})
    assert 'name="do" value="grade"' not in site.get(anchors(run)).content.decode()
    client.post(second, {"grade": "0"})
    assert 'name="do" value="grade"' in site.get(anchors(run)).content.decode()
    site.post(anchors(run), {"do": "grade"})
    started = Run.objects.latest("pk").parameters
    assert (started["anchors"], started["suggest_anchors"], started["seed"]) == (True, 0, 3)


def excluded(run, rana, name="w004"):
    about = Worker.objects.get(owner=rana, external_id=name)
    return about, decide_on_worker(world.another(run), about, rana, "exclude", "copied")


def shown(page):
    voters = page.context_data["voters"]
    return [(one.name, one.decision and one.decision.by) for one in voters.left_out]


@pytest.mark.parametrize("do", ["suggest", "grade"])
def test_who_is_left_out_is_named_before_and_with_the_reason_afterwards(site, run, rana, do):
    w004, made = excluded(run, rana)
    named = run.parameters | {"exclude_workers": ["w008"]}
    Run.objects.filter(pk=run.pk).update(parameters=named)
    page = site.get(anchors(run))
    assert shown(page) == [("w004", "rana"), ("w008", None)]
    said = page.content.decode()
    assert 'data-left-out="2" data-people="8"' in said
    way_back = reverse("admin:results-triage-worker", args=[made.run.public_id, w004.public_id])
    assert way_back in said
    site.post(anchors(run), {"do": do, "left_out": page.context_data["voters"].ids})
    started = Run.objects.latest("pk")
    assert started.parameters["exclude_workers"] == ["w008", "w004"]
    (why,) = build_applied_context(started)["made_by"]
    assert (why.name, why.why, why.by) == ("w004", "copied from others", "rana")
    assert way_back in site.get(reverse("admin:run", args=[started.public_id])).content.decode()


def test_a_decision_of_a_deleted_run_is_taken_back_in_the_run_that_shows_it(site, run, rana):
    w004, made = excluded(run, rana)
    made.run.delete()
    way_back = reverse("admin:results-triage-worker", args=[run.public_id, w004.public_id])
    assert way_back in site.get(anchors(run)).content.decode()
    site.post(way_back, {"do": "undo", "seen": str(made.public_id)})
    assert shown(site.get(anchors(run))) == []


@pytest.mark.parametrize("do", ["suggest", "grade"])
def test_nothing_starts_where_others_are_left_out_than_were_shown(site, run, rana, do):
    seen = site.get(anchors(run)).context_data["voters"].ids
    w004, made = excluded(run, rana)
    n_runs = Run.objects.count()
    refused = site.post(anchors(run), {"do": do, "left_out": seen})
    assert (refused.status_code, Run.objects.count()) == (409, n_runs)
    assert shown(refused) == [("w004", "rana")]
    take_back_verdict(made.run, w004, rana)
    assert site.post(anchors(run), {"do": do, "left_out": seen}).status_code == 302


def test_the_sizes_of_the_camps_are_shown_before_one_of_them_may_vote_alone(site, run):
    remedies = run.summary["remedies"] | {"candidates": {"camps": [5, 3]}}
    Run.objects.filter(pk=run.pk).update(summary=run.summary | {"remedies": remedies})
    said = site.get(anchors(run)).content.decode()
    assert numbers(element_text(said, "camp_sizes"))[:2] == [5, 3]


def test_two_experts_are_compared_where_both_graded(site, run):
    for name, grades in (("ed", "5010"), ("eve", "4010")):
        user, _ = asked(site, run, name)
        keys = Run.objects.get(pk=run.pk).summary["remedies"]["suggested_anchors"]["responses"]
        for key, grade in zip(keys, grades, strict=True):
            HumanJudgement.objects.create(response_id=key, expert=user, grade=int(grade))
    said = site.get(anchors(run)).content.decode()
    # 5 and 4, and the same three times.
    assert numbers(element_text(said, "pair_agreement"))[:3] == [4, 0.25, 5]


def test_a_viewer_reads_the_page_and_can_start_nothing(run):
    vera = User.objects.create(username="vera")
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    client = Client()
    client.force_login(vera)
    said = client.get(anchors(run)).content.decode()
    assert 'name="do"' not in said
    for do in ("suggest", "ask", "grade"):
        assert client.post(anchors(run), {"do": do, "expert": vera.pk}).status_code == 403
    assert Run.objects.count() == 1


def test_without_camps_there_is_nothing_to_settle(site, rana):
    run = world.finished(owner=rana)
    alarm(run, kind="leverage")
    assert "no_camps" in states(site.get(anchors(run)).content.decode())


def test_judgements_count_for_trust_unless_they_chose_the_ranking(site, run, rana):
    for at, response in enumerate(Response.objects.order_by("pk")[:24]):
        HumanJudgement.objects.create(response=response, expert=rana, grade=5 - at / 5)
    trust = reverse("admin:results-trust", kwargs={"run": run.public_id})

    def fact():
        facts = site.get(trust).context_data["report"].facts
        return next(fact for fact in facts if fact.name == "experts")

    # Scores fall by .001 from answer to answer, and so do the grades: they correlate fully.
    assert (fact().level, "correlate 1.00" in SITE.format_message(fact().said)) == ("good", True)
    Run.objects.filter(pk=run.pk).update(parameters=AqerParameters(anchors=True).as_dict())
    assert fact().level == "unknown"


def test_a_run_whose_ranking_was_chosen_says_by_what(site, run):
    found = [
        {"name": name, "correlation_with_expert": r, "spearman_with_default": s}
        for name, r, s in (("default", -0.9, 1.0), ("only_camp_1", 0.97, -0.3))
    ]
    remedies = {
        "anchors": {"graded": 6, "chosen": "only_camp_1", "reason": None},
        "candidates": {"found": found},
    }
    Run.objects.filter(pk=run.pk).update(summary=run.summary | {"remedies": remedies})
    said = site.get(anchors(run)).content.decode()
    assert numbers(element_text(said, "chosen_by_grades")) == [6]
    assert 'only camp 1 votes <span class="cg-badge cg-good">chosen' in said
    assert "0.97" in said
    assert 'id="suggest"' not in said
